public import VestaBytes
public import VestaServiceInterop
public import VestaStorageBackend
public import VestaTesting

/// A guard that answers as the test says, and remembers every question.
public final class ManualStorageGuard: StorageGuard {
  /// A question of an engine.
  public struct Question: Sendable, Hashable {
    /// The object before and after.
    public let operation: StorageGuardedOperation
    /// The user of the call.
    public let uid: String?
    /// The claims of the user; `nil` for no user.
    public let claims: JSONObject?
    /// The time of the call.
    public let time: Int64
  }

  /// The questions so far, in order.
  public let asked = Log<Question>()
  private let answer: @Sendable (Question) throws -> Bool

  /// A guard.
  ///
  /// - Parameter answer: Whether a call is allowed.
  public init(_ answer: @escaping @Sendable (Question) throws -> Bool = { _ in true }) { self.answer = answer }

  /// Answers as the test says.
  public nonisolated(nonsending) func allows(
    _ operation: StorageGuardedOperation, at time: Int64, context: CallContext
  ) async throws -> Bool {
    let question = Question(operation: operation, uid: context.user?.uid, claims: context.user?.claims, time: time)
    asked.add(question)
    return try answer(question)
  }
}
