public import VestaAuthBackend
import VestaConcurrency

/// Blocking functions that answer as the test says, and record all questions.
///
/// ```swift
/// let functions = ScriptedBlockingFunctions()
/// functions.replies { _ throws(AuthServiceError) in BlockingAnswer(displayName: "Ada") }
/// ```
public final class ScriptedBlockingFunctions: AuthBlockingFunctions {
  /// Answers a question.
  public typealias Reply = @Sendable (BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer

  private struct State {
    var asked: [BlockingQuestion] = []
    var reply: Reply = { _ in BlockingAnswer() }
  }

  private let state = Locked(State())

  /// Functions that change nothing.
  public init() {}

  /// The questions so far, in order.
  public var asked: [BlockingQuestion] { state.withLock { $0.asked } }

  /// Sets the reply to later questions.
  public func replies(_ reply: @escaping Reply) { state.withLock { $0.reply = reply } }

  /// Answers a question; claims of a session are left out of answers before an account is created.
  public func answer(to question: BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer {
    let reply = state.withLock { state in
      state.asked.append(question)
      return state.reply
    }
    var answer = try await reply(question)
    if question.event == .beforeCreate { answer.sessionClaims = nil }
    return answer
  }
}
