internal import Dispatch
internal import VestaCore
internal import VestaFirestoreSync

extension Firestore {
  /// Completion form of ``enableNetwork()``.
  @preconcurrency
  public func enableNetwork(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    start(completion) { $0.startSettingNetworkEnabled(true) }
  }

  /// Completion form of ``disableNetwork()``.
  @preconcurrency
  public func disableNetwork(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    start(completion) { $0.startSettingNetworkEnabled(false) }
  }

  /// Completion form of ``clearPersistence()``.
  @preconcurrency
  public func clearPersistence(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    finish(completion) { try await self.clearPersistence() }
  }

  /// Completion form of ``waitForPendingWrites()``.
  @preconcurrency
  public func waitForPendingWrites(completion: @escaping @Sendable ((any Error)?) -> Void) {
    start(completion) { $0.startWaitingForPendingWrites() }
  }

  /// Completion form of ``terminate()``.
  @preconcurrency
  public func terminate(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    // Before this returns: the next call of `Firestore.firestore()` gets a new instance.
    let end = beginEnd()
    finish(completion) { await end() }
  }

  /// Calls a handler with the result or the error of a read, on the queue of the settings.
  ///
  /// A read that is answered without a network begins now: an end that is called for later waits for it.
  ///
  /// - Parameter isCached: Whether only the cache is read.
  func complete<Value: Sendable>(
    isCached: Bool, _ completion: @escaping @Sendable (Value?, (any Error)?) -> Void,
    _ operation: @escaping @Sendable () async throws -> Value
  ) {
    let queue = callbackQueue
    let isLocal = isCached || (try? client())?.link == .embedded
    let hasBegun = isLocal && reads.begin()
    Task.detached {
      do {
        let value = try await Firestore.$hasBegun.withValue(hasBegun) { try await operation() }
        queue.async { completion(value, nil) }
      } catch {
        queue.async { completion(nil, error) }
      }
      if hasBegun { self.reads.end() }
    }
  }

  /// Starts a write now, and calls a handler when the backend has answered.
  ///
  /// Without a handler a refusal of the data is written to the log.
  func complete(_ completion: (@Sendable ((any Error)?) -> Void)?, _ start: () throws -> PendingWrite) {
    let queue = callbackQueue
    do {
      let write = try start()
      guard let completion else { return }
      Task.detached {
        do {
          try await write.acknowledgement()
          queue.async { completion(nil) }
        } catch {
          queue.async { completion(error) }
        }
      }
    } catch {
      guard let completion else { return Self.logger.error("I-FST000001", "A write was refused: \(error)") }
      queue.async { completion(error) }
    }
  }

  /// Starts an operation of the client before the caller continues, and calls a handler when it is over.
  ///
  /// So it has its place between the calls before and the calls after this one, as in the Firebase SDK.
  private func start(
    _ completion: (@Sendable ((any Error)?) -> Void)?, _ operation: (SyncClient) -> Completion
  ) {
    let begun = Result { try operation(client()) }
    finish(completion) {
      do { try await begun.get().wait() } catch { throw FirestoreErrorCode.publicError(error) }
    }
  }

  private func finish(
    _ completion: (@Sendable ((any Error)?) -> Void)?, _ operation: @escaping @Sendable () async throws -> Void
  ) {
    let queue = callbackQueue
    Task.detached {
      do {
        try await operation()
        queue.async { completion?(nil) }
      } catch {
        queue.async { completion?(error) }
      }
    }
  }

  private static let logger = Logger(service: "VestaFirestore")

  /// Completion form of ``getQuery(named:)``.
  @preconcurrency
  public func getQuery(named name: String, completion: @escaping @Sendable (Query?) -> Void) {
    let queue = callbackQueue
    Task.detached {
      let query = await self.getQuery(named: name)
      queue.async { completion(query) }
    }
  }
}
