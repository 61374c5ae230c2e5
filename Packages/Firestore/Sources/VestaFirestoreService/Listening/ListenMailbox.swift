import VestaConcurrency
import VestaFirestoreBackend

/// The responses of a listen call that its caller has not taken yet, up to a number of bytes.
///
/// The caller takes all of them at once. Beyond the limit they are merged. Where that is not enough, the call ends with
/// `RESOURCE_EXHAUSTED` and is to be opened again with its resume tokens, which are good: what the caller has not read
/// is what it has not seen.
final class ListenMailbox: Sendable {
  /// The task that waits for responses.
  private struct Waiter: Sendable {
    let continuation: CheckedContinuation<[ListenResponse]?, any Error>
    /// Takes responses in its place; `nil` where each of them wakes the task.
    let take: ListenCall.Receiver?
  }

  private struct State: Sendable {
    var unread: UnreadResponses
    var waiter: Waiter?
    /// Called once the caller has taken what is unread.
    var read: (@Sendable () -> Void)?
    var ending: Result<Void, FirestoreServiceError>?
  }

  private let state: Locked<State>

  /// - Parameter limit: How many bytes may wait.
  init(limit: Int) { state = Locked(State(unread: UnreadResponses(limit: limit))) }

  /// Adds responses, or ends the call when they are too many.
  ///
  /// There is one caller at a time.
  func send(_ responses: [ListenResponse]) {
    let (waiter, taken) = state.withLock { state -> (Waiter?, Bool) in
      guard state.ending == nil else { return (nil, true) }
      guard let waiter = state.waiter else { return (nil, state.unread.add(responses) == .kept) }
      if waiter.take == nil { state.waiter = nil }
      return (waiter, true)
    }
    if let take = waiter?.take {
      if take(responses) { return }
      // The end may have woken the task meanwhile, and then it drops them as others that wait.
      state.withLock { $0.waiter.take() }?.continuation.resume(returning: responses)
    } else {
      waiter?.continuation.resume(returning: responses)
    }
    if !taken { end(.failure(.tooMuchUnread)) }
  }

  /// Whether the first results of a target may be sent, however many they are.
  ///
  /// - Parameter read: Called once the caller has taken what is unread, where there is no room now.
  func hasRoom(orAfterReading read: (@Sendable () -> Void)? = nil) -> Bool {
    state.withLock { state in
      let hasRoom = state.unread.hasRoom
      if !hasRoom, let read { state.read = read }
      return hasRoom
    }
  }

  /// Ends the call.
  ///
  /// A failure drops waiting responses, a normal end follows them.
  func end(_ ending: Result<Void, FirestoreServiceError>) {
    let waiter = state.withLock { state in
      guard state.ending == nil else { return nil as Waiter? }
      state.ending = ending
      if case .failure = ending { _ = state.unread.take() }
      defer { state.waiter = nil }
      return state.waiter
    }
    switch ending {
    case .success: waiter?.continuation.resume(returning: nil)
    case .failure(let error): waiter?.continuation.resume(throwing: error)
    }
  }

  /// Waits for responses; `nil` at the end.
  ///
  /// There is one caller.
  ///
  /// - Parameter take: Takes responses in its place where it returns `true`.
  func next(besides take: ListenCall.Receiver? = nil) async throws -> [ListenResponse]? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        var read: (@Sendable () -> Void)?
        let outcome = state.withLock { state -> Result<[ListenResponse]?, FirestoreServiceError>? in
          if !state.unread.isEmpty {
            read = state.read.take()
            return .success(state.unread.take())
          }
          if let ending = state.ending { return ending.map { nil } }
          state.waiter = Waiter(continuation: continuation, take: take)
          return nil
        }
        read?()
        if let outcome { continuation.resume(with: outcome.mapError { $0 as any Error }) }
      }
    } onCancel: {
      end(.success(()))
    }
  }
}

extension FirestoreServiceError {
  /// The end of a listen call that has more unread than it may.
  static let tooMuchUnread = FirestoreServiceError(
    .resourceExhausted, "The listener does not read; listen again with its resume tokens.")
}
