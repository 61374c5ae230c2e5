public import VestaBytes
public import VestaConcurrency
public import VestaDatabaseBackend
public import VestaServiceInterop
public import VestaTesting

/// A guard that answers as the test says, and remembers every question.
///
/// ```swift
/// let guard = ManualDatabaseGuard(looksAt: ["rooms"]) { question in question.uid == "ada" }
/// ```
public final class ManualDatabaseGuard: DatabaseGuard {
  /// A question of an engine.
  public struct Question: Sendable, Hashable {
    /// The subject of a question.
    public enum Subject: Sendable, Hashable {
      /// A read.
      case read(DatabaseGuardedRead)
      /// A write.
      case write(DatabaseGuardedWrite)
    }

    /// The subject.
    public let subject: Subject
    /// The user that is signed in.
    public let uid: String?
    /// The claims of the user; `nil` for no user.
    public let claims: JSONObject?
    /// The nodes that the guard looks at, before the request.
    public let before: [DatabaseGlance]
    /// The nodes that the guard looks at, after the request.
    public let after: [DatabaseGlance]
  }

  /// The questions so far, in order.
  public let asked = Log<Question>()
  private let places: [DatabasePath]
  private let answer: Locked<Answer>
  private let listeners = Locked<[Int: Listener]>([:])
  private let last = Locked(0)

  private struct Answer: Sendable {
    var decide: @Sendable (Question) -> Bool
  }

  private struct Listener: Sendable {
    let changed: @Sendable () -> Void
  }

  /// A guard.
  ///
  /// - Parameters:
  ///   - places: The paths that it looks at for every question.
  ///   - answer: Whether a request is allowed.
  public init(looksAt places: [DatabasePath] = [], _ answer: @escaping @Sendable (Question) -> Bool = { _ in true }) {
    self.places = places
    self.answer = Locked(Answer(decide: answer))
  }

  /// Returns other answers from here on, and notifies the engine.
  public func change(_ answer: @escaping @Sendable (Question) -> Bool) {
    self.answer.withLock { $0 = Answer(decide: answer) }
    for listener in listeners.withLock({ Array($0.values) }) { listener.changed() }
  }

  /// Whether an engine is notified of changes.
  public var isObserved: Bool { listeners.withLock { !$0.isEmpty } }

  /// Answers as the test says.
  public nonisolated(nonsending) func mayRead(
    _ read: DatabaseGuardedRead, state: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool {
    let glances = try await look(state)
    let user = context.user
    return decide(
      Question(subject: .read(read), uid: user?.uid, claims: user?.claims, before: glances, after: glances))
  }

  /// Answers as the test says.
  public nonisolated(nonsending) func mayWrite(
    _ write: DatabaseGuardedWrite, before: any DatabaseGuardState, after: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool {
    let user = context.user
    let question = Question(
      subject: .write(write), uid: user?.uid, claims: user?.claims, before: try await look(before),
      after: try await look(after))
    return decide(question)
  }

  /// Calls back after each ``change(_:)``.
  public func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration {
    let id = last.withLock { last in
      last += 1
      return last
    }
    listeners.withLock { $0[id] = Listener(changed: changed) }
    return ListenerRegistration { [weak self] in _ = self?.listeners.withLock { $0.removeValue(forKey: id) } }
  }

  private nonisolated(nonsending) func look(_ state: any DatabaseGuardState) async throws -> [DatabaseGlance] {
    var glances: [DatabaseGlance] = []
    for place in places { glances.append(try await state.glance(at: place)) }
    return glances
  }

  private func decide(_ question: Question) -> Bool {
    asked.add(question)
    return answer.withLock { $0 }.decide(question)
  }
}
