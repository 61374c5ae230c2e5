import VestaConcurrency
public import VestaFirestoreBackend
public import VestaRules
import VestaRulesGuards
import VestaServiceInterop

/// Checks rules of Firestore with the documents of a running service, which it reads as an owner and never changes.
///
/// ```swift
/// let backend = try app.container.require((any FirestoreBackend).self)
/// let rules = try RunningRulesTester(firestore: source, backend: backend, project: "notes")
/// try await rules.allows(get: "notes/n1", as: .user("ada"))
/// ```
///
/// Each check sees the default database at one point of time. The service may have other rules or none: they play no
/// part.
public struct RunningRulesTester: Sendable {
  /// The tester that makes the decisions: its time, its rules and its coverage.
  public var rules: RulesTester
  private let lookups: FirestoreLookups

  /// A tester.
  ///
  /// - Parameters:
  ///   - source: The rules.
  ///   - backend: The service that has the documents.
  ///   - project: The project that they are of.
  ///   - dialect: The implementation that decisions follow.
  /// - Throws: `RulesetError` with the errors of the rules file.
  public init(
    firestore source: String, backend: any FirestoreBackend, project: String, dialect: RulesDialect = .production
  ) throws(RulesetError) {
    rules = try RulesTester(firestore: source, dialect: dialect)
    lookups = FirestoreLookups(source: BackendReading(backend: backend, context: .owner), project: project)
  }

  // MARK: Checks

  /// Checks that a user may get a document.
  ///
  /// - Throws: ``RulesTestFailure``, as all checks do, or the error of the service.
  public func allows(get path: String, as user: RulesUser) async throws {
    try await check([path]) { try $0.allows(get: path, as: user) }
  }

  /// Checks that a user may not get a document.
  public func denies(get path: String, as user: RulesUser) async throws {
    try await check([path]) { try $0.denies(get: path, as: user) }
  }

  /// Checks that a user may set a document: create it, or replace one that exists.
  public func allows(set path: String, to fields: RulesValue, as user: RulesUser) async throws {
    try await allows(commit: [.set(path, fields)], as: user)
  }

  /// Checks that a user may not set a document.
  public func denies(set path: String, to fields: RulesValue, as user: RulesUser) async throws {
    try await denies(commit: [.set(path, fields)], as: user)
  }

  /// Checks that a user may update fields of a document.
  public func allows(update path: String, with fields: RulesValue, as user: RulesUser) async throws {
    try await allows(commit: [.update(path, fields)], as: user)
  }

  /// Checks that a user may not update fields of a document.
  public func denies(update path: String, with fields: RulesValue, as user: RulesUser) async throws {
    try await denies(commit: [.update(path, fields)], as: user)
  }

  /// Checks that a user may delete a document.
  public func allows(delete path: String, as user: RulesUser) async throws {
    try await allows(commit: [.delete(path)], as: user)
  }

  /// Checks that a user may not delete a document.
  public func denies(delete path: String, as user: RulesUser) async throws {
    try await denies(commit: [.delete(path)], as: user)
  }

  /// Checks that a user may commit several writes at once.
  public func allows(commit writes: [RulesWrite], as user: RulesUser) async throws {
    try await check(writes.map(\.path)) { try $0.allows(commit: writes, as: user) }
  }

  /// Checks that a user may not commit several writes at once.
  public func denies(commit writes: [RulesWrite], as user: RulesUser) async throws {
    try await check(writes.map(\.path)) { try $0.denies(commit: writes, as: user) }
  }

  /// Checks that a user may make a query.
  public func allows(
    query collection: String, where filter: RulesQuery.Filter? = nil, limit: Int64? = nil, as user: RulesUser
  ) async throws {
    try await check([]) { try $0.allows(query: collection, where: filter, limit: limit, as: user) }
  }

  /// Checks that a user may not make a query.
  public func denies(
    query collection: String, where filter: RulesQuery.Filter? = nil, limit: Int64? = nil, as user: RulesUser
  ) async throws {
    try await check([]) { try $0.denies(query: collection, where: filter, limit: limit, as: user) }
  }

  // MARK: Documents

  /// Makes a check with the documents that it looks at: it is tried, what it has missed is read, until it misses none.
  private nonisolated(nonsending) func check(
    _ paths: [String], _ check: (RulesTester) throws -> Void
  ) async throws {
    let version = lookups.oneVersion()
    let reading = DocumentsToRead()
    var documents = rules.documents
    for path in paths { reading.note(path) }
    repeat {
      for path in reading.takeMissed() {
        if case .found(let found) = try await version.document(at: .document(path)) { documents[path] = found["data"] }
      }
      // Whatever it says: without all documents it means nothing.
      try? check(RulesTester(rules, documents, reading))
    } while reading.hasMissed
    var complete = rules
    complete.documents = documents
    try check(complete)
  }
}

/// The documents that a check has looked at, each noted once.
final class DocumentsToRead: Sendable {
  private struct State {
    var known: Set<String> = []
    var missed: [String] = []
  }

  private let state = Locked(State())

  func note(_ path: String) {
    state.withLock { if $0.known.insert(path).inserted { $0.missed.append(path) } }
  }

  var hasMissed: Bool { state.withLock { !$0.missed.isEmpty } }

  /// The documents that were noted since the last time.
  func takeMissed() -> [String] {
    state.withLock { state in
      defer { state.missed = [] }
      return state.missed
    }
  }
}
