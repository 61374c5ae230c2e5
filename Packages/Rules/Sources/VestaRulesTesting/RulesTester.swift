public import VestaRules

/// Checks rules in tests, without a server: what a user may do with the documents that the test gives.
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
  /// The time of the requests.
  public var time = RulesTimestamp(seconds: 1_767_225_600)
  /// The outcomes of all checks.
  public let coverage: RulesCoverage

  static let root = RulesPath("/databases/(default)/documents")

  /// A tester of rules for Firestore.
  ///
  /// - Throws: `RulesetError` with the errors of the rules file.
  public init(firestore source: String, dialect: RulesDialect = .production) throws(RulesetError) {
    ruleset = try Ruleset(source, for: .firestore, dialect: dialect)
    coverage = RulesCoverage(of: ruleset)
  }

  // MARK: Checks

  /// Checks that a user may get a document.
  public func allows(get path: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, request(.get, path, user))
  }

  /// Checks that a user may not get a document.
  public func denies(get path: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, request(.get, path, user))
  }

  /// Checks that a user may set a document: create it, or replace one that exists.
  public func allows(set path: String, to fields: RulesValue, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, written(path, fields, user))
  }

  /// Checks that a user may not set a document.
  public func denies(set path: String, to fields: RulesValue, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, written(path, fields, user))
  }

  /// Checks that a user may update fields of a document.
  public func allows(update path: String, with fields: RulesValue, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, written(path, merged(path, fields), user))
  }

  /// Checks that a user may not update fields of a document.
  public func denies(update path: String, with fields: RulesValue, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, written(path, merged(path, fields), user))
  }

  /// Checks that a user may delete a document.
  public func allows(delete path: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, request(.delete, path, user))
  }

  /// Checks that a user may not delete a document.
  public func denies(delete path: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, request(.delete, path, user))
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

  // MARK: Requests

  private func resource(_ path: RulesPath, _ fields: RulesValue) -> RulesValue {
    ["__name__": .path(path), "data": fields, "id": .string(path.segments.last ?? "")]
  }

  private func request(_ method: RulesMethod, _ path: String, _ user: RulesUser) -> RulesRequest {
    let whole = RulesPath(RulesTester.root.segments + RulesPath(path).segments)
    return RulesRequest(
      method, whole, auth: user.value, time: .timestamp(time),
      existing: documents[path].map { resource(whole, $0) } ?? .null)
  }

  private func written(_ path: String, _ fields: RulesValue, _ user: RulesUser) -> RulesRequest {
    var request = request(documents[path] == nil ? .create : .update, path, user)
    request.resource = resource(request.path, fields)
    return request
  }

  private func merged(_ path: String, _ fields: RulesValue) -> RulesValue {
    guard case .map(let new) = fields, case .map(let old)? = documents[path] else { return fields }
    return .map(RulesMap(old.members + new.members))
  }

  private func query(_ collection: String, _ filter: RulesQuery.Filter?, _ limit: Int64?) -> RulesQuery {
    var segments = RulesPath(collection).segments
    let name = segments.popLast() ?? ""
    return RulesQuery(name, below: RulesPath(RulesTester.root.segments + segments), filter: filter, limit: limit)
  }

  private func check(_ isExpected: Bool, _ request: RulesRequest) throws(RulesTestFailure) {
    let answers = TestDocuments(documents: documents, written: request)
    guard coverage.decide(request, documents: answers).isAllowed != isExpected else { return }
    throw RulesTestFailure(isExpected, ruleset.trace(request, documents: answers))
  }

  private func check(_ isExpected: Bool, _ query: RulesQuery, _ user: RulesUser) throws(RulesTestFailure) {
    let answers = TestDocuments(documents: documents, written: nil)
    let now = RulesValue.timestamp(time)
    let decision = coverage.decide(query, auth: user.value, time: now, documents: answers)
    guard decision.isAllowed != isExpected else { return }
    throw RulesTestFailure(isExpected, ruleset.trace(query, auth: user.value, time: now, documents: answers))
  }
}

/// The documents of a tester, with the one that is written in its new state for `getAfter`.
private struct TestDocuments: RulesDocuments {
  let documents: [String: RulesValue]
  let written: RulesRequest?

  func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
    if function.isAfter, let written, path == written.path, written.method != .get {
      guard case .map(let resource)? = written.resource else { return .missing }
      return .found(resource)
    }
    let root = RulesTester.root.segments
    guard path.segments.starts(with: root),
      let fields = documents[path.segments.dropFirst(root.count).joined(separator: "/")]
    else { return .missing }
    return .found(["__name__": .path(path), "data": fields, "id": .string(path.segments.last ?? "")])
  }
}
