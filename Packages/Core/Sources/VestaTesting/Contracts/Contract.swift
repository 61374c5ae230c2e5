/// One named promise of a seam, written so that any implementation can be held to it.
///
/// Every interop package ships a list of these in its `<Name>InteropContracts` library. They use no test framework, so
/// the author of a plug-in can run them from a test, from a command-line tool or at start-up:
///
/// ```swift
/// for outcome in await StoreContracts.all.run(against: { try await makeStore() }) where outcome.violation != nil {
///   print(outcome)
/// }
/// ```
public struct Contract<Subject>: Sendable, CustomStringConvertible {
  /// The promise as a sentence, such as "a failed write leaves nothing behind".
  public let name: String

  private let check: @Sendable (Subject) async throws -> Void

  /// States a promise and how to check it.
  ///
  /// - Parameters:
  ///   - name: The promise as a sentence; unique within its list.
  ///   - check: Uses a fresh subject and throws `ContractViolation` (see `expect`) where the promise is broken. Any
  ///     other error it throws counts as a violation too.
  public init(_ name: String, check: @escaping @Sendable (Subject) async throws -> Void) {
    self.name = name
    self.check = check
  }

  /// Holds one subject to this promise.
  ///
  /// - Parameter subject: A fresh implementation that no other check has used.
  /// - Throws: `ContractViolation`, or whatever the implementation threw where it should not have.
  public func verify(_ subject: Subject) async throws { try await check(subject) }

  /// The name of the promise.
  public var description: String { name }
}

/// The outcome of one promise.
public struct ContractOutcome: Sendable, CustomStringConvertible {
  /// The promise that was checked.
  public let name: String

  /// The violation; `nil` when the promise was kept.
  public let violation: (any Error)?

  /// Whether the promise was kept.
  public var isKept: Bool { violation == nil }

  /// One line: `kept: …` or `BROKEN: …: why`.
  public var description: String {
    guard let violation else { return "kept: \(name)" }
    return "BROKEN: \(name): \(violation)"
  }
}

extension Array {
  /// Holds an implementation to every promise of the list, in order, a fresh subject for each.
  ///
  /// - Parameter makeSubject: Makes a new implementation with nothing in it; a throw counts against the promise.
  /// - Returns: One outcome for each promise, in the order of the list.
  public func run<Subject>(
    against makeSubject: () async throws -> Subject
  ) async -> [ContractOutcome] where Element == Contract<Subject> {
    await run { _ in try await makeSubject() }
  }

  /// Holds an implementation to every promise of the list, in order, a subject made for each promise.
  ///
  /// A test of a wrong implementation uses it to lose patience soon with the promise that is known to be broken, and
  /// late with all others, so that a busy machine breaks none of them:
  ///
  /// ```swift
  /// let outcomes = await AuthInteropContracts.all.run { contract in
  ///   makeSubject(patience: contract.name == broken ? .seconds(1) : .seconds(60))
  /// }
  /// ```
  ///
  /// - Parameter makeSubject: Makes a new implementation for the promise; a throw counts against the promise.
  /// - Returns: One outcome for each promise, in the order of the list.
  public func run<Subject>(
    against makeSubject: (Contract<Subject>) async throws -> Subject
  ) async -> [ContractOutcome] where Element == Contract<Subject> {
    var outcomes: [ContractOutcome] = []
    for contract in self {
      do {
        try await contract.verify(try await makeSubject(contract))
        outcomes.append(ContractOutcome(name: contract.name, violation: nil))
      } catch {
        outcomes.append(ContractOutcome(name: contract.name, violation: error))
      }
    }
    return outcomes
  }
}
