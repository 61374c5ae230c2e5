public import VestaRules

/// Checks rules of Firestore in tests, without a server: a user's permissions on the documents of the test.
///
/// A check that does not hold throws ``RulesTestFailure``, whose description is the trace of the decision, so that it
/// works in Swift Testing and in XCTest alike.
///
/// ```swift
/// var rules = try RulesTester(firestore: source)
/// rules.documents["notes/n1"] = ["owner": "ada"]
/// try rules.allows(get: "notes/n1", as: .user("ada"))
/// try rules.denies(get: "notes/n1", as: .nobody)
/// ```
public struct RulesTester: Sendable {
  /// The rules.
  public let ruleset: Ruleset
  /// The fields of the documents that exist, by their paths below the root, such as `notes/n1`.
  public var documents: [String: RulesValue] = [:]
  /// The time of the requests: the beginning of 2026 in UTC, unless a test sets another.
  public var time = RulesTimestamp(seconds: 1_767_225_600)
  /// The outcomes of all checks.
  public let coverage: RulesCoverage

  /// With documents of a running service: the ones that it knows, and the ones that a check has missed.
  var reading: DocumentsToRead?

  static let root = RulesPath.document("")

  /// A tester of rules for Firestore.
  ///
  /// - Parameters:
  ///   - source: The rules.
  ///   - dialect: The implementation that decisions follow; `debug()` is an error in any but the emulator's.
  /// - Throws: `RulesetError` with the errors of the rules file.
  public init(firestore source: String, dialect: RulesDialect = .production) throws(RulesetError) {
    ruleset = try Ruleset(source, for: .firestore, dialect: dialect)
    coverage = RulesCoverage(of: ruleset)
  }

  /// The same tester with documents of a running service, whose checks count in no coverage.
  init(_ rules: RulesTester, _ documents: [String: RulesValue], _ reading: DocumentsToRead) {
    ruleset = rules.ruleset
    time = rules.time
    coverage = RulesCoverage(of: rules.ruleset)
    self.documents = documents
    self.reading = reading
  }

  // MARK: Checks

  /// Checks that a user may get a document.
  public func allows(get path: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, .get, path, user)
  }

  /// Checks that a user may not get a document.
  public func denies(get path: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, .get, path, user)
  }

  /// Checks that a user may set a document: create it, or replace one that exists.
  public func allows(set path: String, to fields: RulesValue, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, [.set(path, fields)], user)
  }

  /// Checks that a user may not set a document.
  public func denies(set path: String, to fields: RulesValue, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, [.set(path, fields)], user)
  }

  /// Checks that a user may update fields of a document.
  public func allows(update path: String, with fields: RulesValue, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, [.update(path, fields)], user)
  }

  /// Checks that a user may not update fields of a document.
  public func denies(update path: String, with fields: RulesValue, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, [.update(path, fields)], user)
  }

  /// Checks that a user may delete a document.
  public func allows(delete path: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, [.delete(path)], user)
  }

  /// Checks that a user may not delete a document.
  public func denies(delete path: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, [.delete(path)], user)
  }

  /// Checks that a user may commit several writes at once.
  public func allows(commit writes: [RulesWrite], as user: RulesUser) throws(RulesTestFailure) {
    try check(true, writes, user)
  }

  /// Checks that a user may not commit several writes at once.
  public func denies(commit writes: [RulesWrite], as user: RulesUser) throws(RulesTestFailure) {
    try check(false, writes, user)
  }

  /// Checks that a user may make a query.
  public func allows(
    query collection: String, where filter: RulesQuery.Filter? = nil, limit: Int64? = nil, as user: RulesUser
  ) throws(RulesTestFailure) {
    try check(true, query(collection, filter, limit), user)
  }

  /// Checks that a user may not make a query.
  public func denies(
    query collection: String, where filter: RulesQuery.Filter? = nil, limit: Int64? = nil, as user: RulesUser
  ) throws(RulesTestFailure) {
    try check(false, query(collection, filter, limit), user)
  }

  private func query(_ collection: String, _ filter: RulesQuery.Filter?, _ limit: Int64?) -> RulesQuery {
    var segments = RulesPath(collection).segments
    let name = segments.popLast() ?? ""
    return RulesQuery(name, below: RulesPath(RulesTester.root.segments + segments), filter: filter, limit: limit)
  }
}
