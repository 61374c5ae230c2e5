public import Foundation
internal import VestaFirestoreSync

extension Firestore {
  /// Loads a bundle into the cache; the task continues by itself.
  @discardableResult
  public func loadBundle(_ bundleData: Data) -> LoadBundleTask { loadBundle(bundleData, completion: nil) }

  /// Loads a bundle into the cache; the task continues by itself.
  ///
  /// - Parameters:
  ///   - bundleData: The bundle.
  ///   - completion: Called on the queue of the settings with the final progress or an error.
  /// - Returns: The task.
  @preconcurrency
  @discardableResult
  public func loadBundle(
    _ bundleData: Data, completion: (@Sendable (LoadBundleTaskProgress?, (any Error)?) -> Void)? = nil
  ) -> LoadBundleTask {
    load({ [UInt8](bundleData) }, completion)
  }

  /// Loads a bundle from a stream, which is read to its end.
  @discardableResult
  public func loadBundle(_ bundleStream: InputStream) -> LoadBundleTask { loadBundle(bundleStream, completion: nil) }

  /// Loads a bundle from a stream, which is read to its end.
  ///
  /// - Parameters:
  ///   - bundleStream: The bundle.
  ///   - completion: Called on the queue of the settings with the final progress or an error.
  /// - Returns: The task.
  @preconcurrency
  @discardableResult
  public func loadBundle(
    _ bundleStream: InputStream, completion: (@Sendable (LoadBundleTaskProgress?, (any Error)?) -> Void)? = nil
  ) -> LoadBundleTask {
    let bytes = Result { try bundleStream.readToEnd() }
    return load({ try bytes.get() }, completion)
  }

  /// Loads a bundle into the cache.
  ///
  /// - Returns: The final progress.
  /// - Throws: ``FirestoreErrorCode/Code/invalidArgument`` for a bundle that cannot be read; nothing of it is kept.
  public func loadBundle(_ bundleData: Data) async throws -> LoadBundleTaskProgress {
    try await load([UInt8](bundleData)) { _ in }
  }

  /// Loads a bundle from a stream, which is read to its end.
  ///
  /// - Returns: The final progress.
  public func loadBundle(_ bundleStream: InputStream) async throws -> LoadBundleTaskProgress {
    try await load(try bundleStream.readToEnd()) { _ in }
  }

  /// The query that a loaded bundle has under a name; `nil` if there is none.
  public func getQuery(named name: String) async -> Query? {
    guard let client = try? client(), let query = try? await client.namedQuery(name) else { return nil }
    return Query(QueryDescription(query), firestore: self)
  }

  private func load(
    _ bytes: @escaping @Sendable () throws -> [UInt8],
    _ completion: (@Sendable (LoadBundleTaskProgress?, (any Error)?) -> Void)?
  ) -> LoadBundleTask {
    let (task, queue) = (LoadBundleTask(firestore: self), callbackQueue)
    Task.detached {
      do {
        let final = try await self.load(try bytes(), task.advance(to:))
        task.advance(to: final)
        task.finish(nil)
        queue.async { completion?(final, nil) }
      } catch {
        if let last = task.lastProgress { task.advance(to: last.failed) }
        task.finish(error)
        queue.async { completion?(nil, error) }
      }
    }
    return task
  }

  private func load(
    _ bytes: [UInt8], _ progress: @escaping @Sendable (LoadBundleTaskProgress) -> Void
  ) async throws -> LoadBundleTaskProgress {
    do {
      let client = try client()
      if bytes.isEmpty { throw FirestoreErrorCode(.unknown, "The bundle is empty.") }
      let final = try await client.loadBundle(bytes) { progress(LoadBundleTaskProgress($0, state: .inProgress)) }
      return LoadBundleTaskProgress(final, state: .success)
    } catch {
      throw FirestoreErrorCode.publicError(error)
    }
  }
}

extension InputStream {
  /// All bytes from here on; the stream is opened and closed.
  fileprivate func readToEnd() throws -> [UInt8] {
    open()
    defer { close() }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = chunk.withUnsafeMutableBufferPointer { buffer in
        // Unsafe pointer, used inside the closure only: a stream reads into memory.
        buffer.baseAddress.map { read($0, maxLength: buffer.count) } ?? 0
      }
      if count < 0 { throw streamError ?? FirestoreErrorCode(.dataLoss, "The bundle's stream cannot be read.") }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }
}
