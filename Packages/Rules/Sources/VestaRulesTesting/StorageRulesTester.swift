public import VestaRules

/// Checks rules of Storage in tests: a user's permissions on the objects of the test.
///
/// ```swift
/// var rules = try StorageRulesTester(source)
/// rules.add(RulesStorageObject("users/ada/a.png", bucket: "bucket", size: 10, contentType: "image/png"))
/// try rules.allows(get: "users/ada/a.png", as: .user("ada"))
/// try rules.denies(upload: "users/ada/b.png", size: 20 << 20, contentType: "image/png", as: .user("ada"))
/// ```
public struct StorageRulesTester: Sendable {
  /// The rules.
  public let ruleset: Ruleset
  /// The bucket of all paths.
  public let bucket: String
  /// The objects that exist, by their names.
  public private(set) var objects: [String: RulesStorageObject] = [:]
  /// The fields of the documents of Firestore that rules look up, by their paths below the root.
  public var documents: [String: RulesValue] = [:]
  /// The time of the requests: the beginning of 2026 in UTC, unless a test sets another.
  public var time = RulesTimestamp(seconds: 1_767_225_600)
  /// The outcomes of all checks.
  public let coverage: RulesCoverage

  /// A tester of rules for Storage.
  ///
  /// - Parameters:
  ///   - source: The rules.
  ///   - bucket: The bucket of all paths.
  ///   - dialect: The implementation that decisions follow; `debug()` is an error in any but the emulator's.
  /// - Throws: `RulesetError` with the errors of the rules file.
  public init(
    _ source: String, bucket: String = "bucket", dialect: RulesDialect = .production
  ) throws(RulesetError) {
    ruleset = try Ruleset(source, for: .storage, dialect: dialect)
    self.bucket = bucket
    coverage = RulesCoverage(of: ruleset)
  }

  /// Adds an object that exists, in the bucket of the tester.
  ///
  /// Fields that the service fills are filled where they are nil: generation and metageneration are 1, both times are
  /// ``time``, and the content type is `application/octet-stream`.
  public mutating func add(_ object: RulesStorageObject) {
    var object = object
    object.bucket = bucket
    object.generation = object.generation ?? 1
    object.metageneration = object.metageneration ?? 1
    object.timeCreated = object.timeCreated ?? time
    object.updated = object.updated ?? time
    object.contentType = object.contentType ?? "application/octet-stream"
    objects[object.name] = object
  }

  // MARK: Checks

  /// Checks that a user may download an object and read its metadata.
  public func allows(get name: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, request(.get, name, user))
  }

  /// Checks that a user may not download an object.
  public func denies(get name: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, request(.get, name, user))
  }

  /// Checks that a user may list the objects below a prefix.
  public func allows(list prefix: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, request(.list, prefix, user, existing: .null))
  }

  /// Checks that a user may not list the objects below a prefix.
  public func denies(list prefix: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, request(.list, prefix, user, existing: .null))
  }

  /// Checks that a user may upload an object, also in place of one that exists.
  public func allows(
    upload name: String, size: Int64, contentType: String = "application/octet-stream",
    metadata: [String: String] = [:], as user: RulesUser
  ) throws(RulesTestFailure) {
    try check(true, uploaded(name, size, contentType, metadata, user))
  }

  /// Checks that a user may not upload an object.
  public func denies(
    upload name: String, size: Int64, contentType: String = "application/octet-stream",
    metadata: [String: String] = [:], as user: RulesUser
  ) throws(RulesTestFailure) {
    try check(false, uploaded(name, size, contentType, metadata, user))
  }

  /// Checks that a user may change the metadata of an object.
  public func allows(
    update name: String, as user: RulesUser, change: (inout RulesStorageObject) -> Void
  ) throws(RulesTestFailure) {
    try check(true, updated(name, user, change))
  }

  /// Checks that a user may not change the metadata of an object.
  public func denies(
    update name: String, as user: RulesUser, change: (inout RulesStorageObject) -> Void
  ) throws(RulesTestFailure) {
    try check(false, updated(name, user, change))
  }

  /// Checks that a user may delete an object.
  public func allows(delete name: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(true, request(.delete, name, user))
  }

  /// Checks that a user may not delete an object.
  public func denies(delete name: String, as user: RulesUser) throws(RulesTestFailure) {
    try check(false, request(.delete, name, user))
  }

  // MARK: Requests

  private func request(
    _ method: RulesMethod, _ name: String, _ user: RulesUser, resource: RulesValue? = nil, existing: RulesValue? = nil
  ) -> RulesRequest {
    RulesRequest(
      method, .object(name, bucket: bucket), auth: user.value, resource: resource ?? .null, time: .timestamp(time),
      existing: existing ?? objects[name]?.value ?? .null)
  }

  private func uploaded(
    _ name: String, _ size: Int64, _ contentType: String, _ metadata: [String: String], _ user: RulesUser
  ) -> RulesRequest {
    var object = RulesStorageObject(name, bucket: bucket, size: size, contentType: contentType)
    object.metadata = metadata
    return request(.create, name, user, resource: object.value)
  }

  private func updated(
    _ name: String, _ user: RulesUser, _ change: (inout RulesStorageObject) -> Void
  ) -> RulesRequest {
    guard var object = objects[name] else { return request(.update, name, user) }
    change(&object)
    object.metageneration = (object.metageneration ?? 0) + 1
    return request(.update, name, user, resource: object.value)
  }

  private func check(_ isExpected: Bool, _ request: RulesRequest) throws(RulesTestFailure) {
    let answers = TestDocuments(before: documents, after: documents)
    guard coverage.decide(request, documents: answers).isAllowed != isExpected else { return }
    throw RulesTestFailure(isExpected, ruleset.trace(request, documents: answers))
  }
}
