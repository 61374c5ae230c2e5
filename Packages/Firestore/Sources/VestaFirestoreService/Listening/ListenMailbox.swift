import VestaFirestoreBackend
import VestaFirestoreModel
import VestaConcurrency

/// The responses of a listen call that its caller has not taken yet, up to a number of bytes.
///
/// The caller takes all of them at once. Who lets too much pile up is told to listen again with its resume tokens,
/// which are good: what it has not read is what it has not seen.
final class ListenMailbox: Sendable {
  private struct State: Sendable {
    var responses: [ListenResponse] = []
    var bytes = 0
    var waiter: CheckedContinuation<[ListenResponse]?, any Error>?
    var ending: Result<Void, FirestoreServiceError>?
  }

  private let state = Locked(State())
  private let limit: Int

  /// - Parameter limit: How many bytes may wait.
  init(limit: Int) { self.limit = limit }

  /// Adds responses, or ends the call when they are too many.
  func send(_ responses: [ListenResponse]) {
    let size = responses.reduce(0) { $0 + $1.size }
    let limit = limit
    let (waiter, taken) = state.withLock { state -> (CheckedContinuation<[ListenResponse]?, any Error>?, Bool) in
      guard state.ending == nil else { return (nil, true) }
      if let waiter = state.waiter {
        state.waiter = nil
        return (waiter, true)
      }
      guard state.responses.isEmpty || state.bytes + size <= limit else { return (nil, false) }
      state.responses += responses
      state.bytes += size
      return (nil, true)
    }
    waiter?.resume(returning: responses)
    if !taken {
      end(
        .failure(
          FirestoreServiceError(.resourceExhausted, "The listener does not read; listen again with its resume tokens."))
      )
    }
  }

  /// Ends the call.
  ///
  /// A failure takes what waits with it, a normal end comes after it.
  func end(_ ending: Result<Void, FirestoreServiceError>) {
    let waiter = state.withLock { state in
      guard state.ending == nil else { return nil as CheckedContinuation<[ListenResponse]?, any Error>? }
      state.ending = ending
      if case .failure = ending { (state.responses, state.bytes) = ([], 0) }
      defer { state.waiter = nil }
      return state.waiter
    }
    switch ending {
    case .success: waiter?.resume(returning: nil)
    case .failure(let error): waiter?.resume(throwing: error)
    }
  }

  /// Waits for responses; `nil` at the end.
  ///
  /// There is one caller.
  func next() async throws -> [ListenResponse]? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<[ListenResponse]?, FirestoreServiceError>? in
          if !state.responses.isEmpty {
            defer { (state.responses, state.bytes) = ([], 0) }
            return .success(state.responses)
          }
          if let ending = state.ending { return ending.map { nil } }
          state.waiter = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome.mapError { $0 as any Error }) }
      }
    } onCancel: {
      end(.success(()))
    }
  }
}

extension ListenResponse {
  /// About how many bytes it takes up while it waits.
  fileprivate var size: Int {
    switch self {
    case .documentChange(let change): 128 + DocumentSize.size(of: change.document)
    case .documentDelete(let delete): 128 + delete.document.utf8.count
    case .documentRemove, .targetChange, .filter: 128
    }
  }
}
