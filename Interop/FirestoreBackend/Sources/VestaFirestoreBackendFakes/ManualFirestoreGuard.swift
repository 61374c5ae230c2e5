public import VestaBytes
public import VestaConcurrency
public import VestaFirestoreBackend
public import VestaServiceInterop
public import VestaTesting

/// A guard that answers as the test says, and remembers every question.
///
/// ```swift
/// let gatekeeper = ManualFirestoreGuard(looksUp: ["…/documents/users/ada"]) { $0.uid == "ada" }
/// ```
public final class ManualFirestoreGuard: FirestoreGuard {
  /// A question of an engine.
  public struct Question: Sendable, Hashable {
    /// The subject of a question.
    public enum Subject: Sendable, Hashable {
      /// A get: the full name, and the document.
      case get(String, Document?)
      /// A query.
      case list(FirestoreGuardedQuery)
      /// A commit.
      case commit([FirestoreGuardedWrite])
    }

    /// The subject.
    public let subject: Subject
    /// The user of the call.
    public let uid: String?
    /// The claims of the user; `nil` for no user.
    public let claims: JSONObject?
    /// The time of the call or of the commit.
    public let time: Timestamp
    /// The documents that the guard looks up for every question.
    public let found: [Document?]
  }

  /// A closure in a structure: a lock would wrap the bare closure again with each question.
  private struct Answer: Sendable {
    let of: @Sendable (Question) throws -> Bool
  }

  /// The questions so far, in order.
  public let asked = Log<Question>()
  private let names: [String]
  private let answer: Locked<Answer>
  private let changes = ListenerRegistry<Void>()

  /// A guard.
  ///
  /// - Parameters:
  ///   - names: The full names of documents that it looks up for every question.
  ///   - answer: Whether a call is allowed.
  public init(looksUp names: [String] = [], _ answer: @escaping @Sendable (Question) throws -> Bool = { _ in true }) {
    self.names = names
    self.answer = Locked(Answer(of: answer))
  }

  /// Returns other answers from here on, and notifies the engine.
  public func change(_ answer: @escaping @Sendable (Question) throws -> Bool) {
    self.answer.withLock { $0 = Answer(of: answer) }
    changes.emit(())
  }

  /// Answers as the test says.
  public nonisolated(nonsending) func mayGet(
    _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    try await decide(.get(name, document), state, time, context)
  }

  /// Answers as the test says.
  public nonisolated(nonsending) func mayList(
    _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    try await decide(.list(query), state, time, context)
  }

  /// Answers as the test says.
  public nonisolated(nonsending) func mayCommit(
    _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    try await decide(.commit(writes), state, time, context)
  }

  /// Calls back at each ``change(_:)``.
  public func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration {
    changes.add { _ in changed() }
  }

  private nonisolated(nonsending) func decide(
    _ subject: Question.Subject, _ state: any FirestoreGuardState, _ time: Timestamp, _ context: CallContext
  ) async throws -> Bool {
    var found: [Document?] = []
    for name in names { found.append(try await state.document(name)) }
    let user = context.user
    let question = Question(subject: subject, uid: user?.uid, claims: user?.claims, time: time, found: found)
    asked.add(question)
    return try answer.withLock { $0 }.of(question)
  }
}
