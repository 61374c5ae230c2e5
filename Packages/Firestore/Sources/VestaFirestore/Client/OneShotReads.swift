internal import VestaConcurrency
internal import VestaFirestoreBackend
internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// Reads that are a listener for one event.
extension SyncClient {
  /// A document, from the backend where it can be reached.
  ///
  /// - Throws: `unavailable` when the source cannot answer.
  func document(_ query: LocalQuery, source: FirestoreSource) async throws -> ViewSnapshot {
    let snapshot = try await firstEvent(query)
    let exists = snapshot.documents[query.path] != nil
    if !exists, snapshot.isFromCache {
      throw FirestoreErrorCode(.unavailable, "Failed to get document because the client is offline.")
    }
    if exists, snapshot.isFromCache, source == .server {
      throw FirestoreErrorCode(.unavailable, OfflineText.document)
    }
    return snapshot
  }

  /// The results of a query, from the backend where it can be reached.
  ///
  /// - Throws: `unavailable` when the results must be read from the backend and it cannot be reached.
  func results(_ query: LocalQuery, source: FirestoreSource) async throws -> ViewSnapshot {
    if let fresh = try await freshResults(query) { return fresh }
    let snapshot = try await firstEvent(query)
    if snapshot.isFromCache, source == .server { throw FirestoreErrorCode(.unavailable, OfflineText.documents) }
    return snapshot
  }

  /// The first event of a listener, which is removed then.
  ///
  /// A cancelled task stops waiting at once.
  private func firstEvent(_ query: LocalQuery) async throws -> ViewSnapshot {
    let wait = OneEvent()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard wait.begin(continuation) else { return }
        let options = ListenOptions(includesMetadata: true, waitsForSync: true)
        let ended = FirestoreErrorCode(.failedPrecondition, "The client has already been terminated.")
        let registration = listen(query, options: options, onEnd: { wait.finish(.failure(ended)) }) { result in
          wait.finish(result.mapError { FirestoreErrorCode($0) as any Error })
        }
        wait.attach(registration)
      }
    } onCancel: {
      wait.finish(.failure(CancellationError()))
    }
  }
}

/// One waiting task, its listener and its first event, whichever is earlier.
private final class OneEvent: Sendable {
  private struct State {
    var continuation: CheckedContinuation<ViewSnapshot, any Error>?
    var registration: VestaConcurrency.ListenerRegistration?
    var isOver = false
  }

  private let state = Locked(State())

  /// Whether the task is to be served; otherwise it was cancelled before and has been resumed.
  func begin(_ continuation: CheckedContinuation<ViewSnapshot, any Error>) -> Bool {
    let isOver = state.withLock { state in
      if !state.isOver { state.continuation = continuation }
      return state.isOver
    }
    if isOver { continuation.resume(throwing: CancellationError()) }
    return !isOver
  }

  /// Keeps the listener until the event; removes it at once when the event was quicker.
  func attach(_ registration: VestaConcurrency.ListenerRegistration) {
    let isOver = state.withLock { state in
      if !state.isOver { state.registration = registration }
      return state.isOver
    }
    if isOver { registration.remove() }
  }

  func finish(_ result: Result<ViewSnapshot, any Error>) {
    let (continuation, registration) = state.withLock { state in
      defer {
        state.continuation = nil
        state.registration = nil
        state.isOver = true
      }
      return (state.continuation, state.registration)
    }
    registration?.remove()
    continuation?.resume(with: result)
  }
}

private enum OfflineText {
  static let document =
    "Failed to get document from server. (However, this document does exist in the local cache. Run again without "
    + "setting source to FirestoreSourceServer to retrieve the cached document.)"
  static let documents =
    "Failed to get documents from server. (However, these documents may exist in the local cache. Run again without "
    + "setting source to FirestoreSourceServer to retrieve the cached documents.)"
}
