public import VestaRules

/// Checks rules of the Realtime Database in tests: a user's permissions on the data of the test.
///
/// ```swift
/// var rules = try DatabaseRulesTester(source)
/// rules.data = ["rooms": ["hall": ["owner": "ada"]]]
/// try rules.allows(read: "rooms/hall", as: .user("ada"))
/// try rules.denies(set: "rooms/hall/owner", to: "eve", as: .user("eve"))
/// ```
public struct DatabaseRulesTester: Sendable {
  /// The rules.
  public let ruleset: DatabaseRuleset
  /// The outcomes of all checks.
  public let coverage: DatabaseRulesCoverage
  /// The data before each request.
  public var data = DatabaseTree.missing
  /// The variable `now`, in milliseconds: the beginning of 2026 in UTC, unless a test sets another.
  public var now = 1_767_225_600_000.0

  /// A tester of rules for the Realtime Database.
  ///
  /// - Throws: `RulesetError` with the messages of the check at upload.
  public init(_ source: String) throws(RulesetError) {
    ruleset = try DatabaseRuleset(source)
    coverage = DatabaseRulesCoverage(of: ruleset)
  }

  // MARK: Checks

  /// Checks that a user may read a path, by a plain read or a query.
  public func allows(
    read path: String, query: DatabaseRulesQuery = DatabaseRulesQuery(), as user: RulesUser
  ) throws(RulesTestFailure) {
    try check(true, "read of /\(path)", read(path, query, user))
  }

  /// Checks that a user may not read a path.
  public func denies(
    read path: String, query: DatabaseRulesQuery = DatabaseRulesQuery(), as user: RulesUser
  ) throws(RulesTestFailure) {
    try check(false, "read of /\(path)", read(path, query, user))
  }

  /// Checks that a user may set a path; nil deletes it.
  public func allows(set path: String, to value: DatabaseTree, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, "write to /\(path)", write([(path, value)], user))
  }

  /// Checks that a user may not set a path.
  public func denies(set path: String, to value: DatabaseTree, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, "write to /\(path)", write([(path, value)], user))
  }

  /// Checks that a user may update several paths at once.
  public func allows(
    update path: String, with values: [String: DatabaseTree], as user: RulesUser
  ) throws(RulesTestFailure) {
    try check(true, "update of /\(path)", write(places(path, values), user))
  }

  /// Checks that a user may not update several paths at once.
  public func denies(
    update path: String, with values: [String: DatabaseTree], as user: RulesUser
  ) throws(RulesTestFailure) {
    try check(false, "update of /\(path)", write(places(path, values), user))
  }

  // MARK: Decisions

  private func places(_ path: String, _ values: [String: DatabaseTree]) -> [(String, DatabaseTree)] {
    values.sorted { $0.key < $1.key }.map { ("\(path)/\($0.key)", $0.value) }
  }

  private func read(_ path: String, _ query: DatabaseRulesQuery, _ user: RulesUser) -> DatabaseRulesTrace {
    ruleset.traceRead(RulesPath(path).segments, auth: user.value, query: query, now: now, data: data)
  }

  private func write(_ values: [(path: String, value: DatabaseTree)], _ user: RulesUser) -> DatabaseRulesTrace {
    let paths = values.map { RulesPath($0.path).segments }
    let after = zip(paths, values).reduce(data) { $0.setting($1.1.value, at: $1.0) }
    return ruleset.traceWrite(paths, auth: user.value, now: now, before: data, after: after)
  }

  private func check(_ isExpected: Bool, _ what: String, _ trace: DatabaseRulesTrace) throws(RulesTestFailure) {
    coverage.count(trace)
    guard trace.decision.isAllowed != isExpected else { return }
    throw RulesTestFailure(isExpected, what, trace)
  }
}
