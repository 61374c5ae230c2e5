import VestaConcurrency
package import VestaFirestoreBackend

/// A write of the application on its way: first into the cache, then to the backend.
///
/// Cancelling a task that waits for either ends the waiting, never the write.
package final class SyncWrite: Sendable {
  let local = Completion()
  let remote = Completion()

  init() {}

  /// Waits until the write would survive the end of the process, as far as the cache is durable.
  ///
  /// - Throws: The store's error; the write is still pending in this process then. `CancellationError`.
  package func localCommit() async throws { try await local.wait() }

  /// Waits until the backend has acknowledged the write.
  ///
  /// - Throws: `FirestoreServiceError` when the backend refused it. `CancellationError`.
  package func acknowledged() async throws { try await remote.wait() }

  /// Calls an action when the backend has answered, at once if it has already.
  package func whenAcknowledged(_ action: @escaping @Sendable (FirestoreServiceError?) -> Void) {
    remote.whenDone { action($0.map { $0 as? FirestoreServiceError ?? FirestoreServiceError(.unknown, "\($0)") }) }
  }
}

/// Something that happens once, well or with an error, and that many may wait for.
package final class Completion: Sendable {
  private enum State {
    case waiting([Int: @Sendable ((any Error)?) -> Void], next: Int)
    case done((any Error)?)
  }

  private let state = Locked(State.waiting([:], next: 0))

  /// Calls an action when it has happened, at once if it has already.
  func whenDone(_ action: @escaping @Sendable ((any Error)?) -> Void) { _ = add(action) }

  /// It has happened; only the first call counts.
  func finish(_ error: (any Error)?) {
    let waiters = state.withLock { state -> [@Sendable ((any Error)?) -> Void] in
      guard case .waiting(let waiters, _) = state else { return [] }
      state = .done(error)
      return waiters.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiter in waiters { waiter(error) }
  }

  /// Waits until it has happened.
  package func wait() async throws {
    let id = Locked<Int?>(nil)
    try await Turn<Void>().wait { turn in
      let added = add { error in
        guard let continuation = turn.begin() else { return }
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
      id.withLock { $0 = added }
    } onCancel: { [self] _ in
      if let id = id.withLock({ $0 }) { remove(id) }
    }
  }

  private func add(_ action: @escaping @Sendable ((any Error)?) -> Void) -> Int? {
    enum Added { case id(Int), done((any Error)?) }
    let added = state.withLock { state -> Added in
      switch state {
      case .done(let error): return .done(error)
      case .waiting(var waiters, let next):
        waiters[next] = action
        state = .waiting(waiters, next: next + 1)
        return .id(next)
      }
    }
    switch added {
    case .id(let id): return id
    case .done(let error):
      action(error)
      return nil
    }
  }

  private func remove(_ id: Int) {
    state.withLock { state in
      guard case .waiting(var waiters, let next) = state else { return }
      waiters[id] = nil
      state = .waiting(waiters, next: next)
    }
  }
}
