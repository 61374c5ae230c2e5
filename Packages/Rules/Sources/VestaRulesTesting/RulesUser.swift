public import VestaRules

/// The caller of a request in a test.
public struct RulesUser: Sendable {
  /// The variable `request.auth`.
  public let value: RulesValue

  /// A caller that is not signed in.
  public static let nobody = RulesUser(value: .null)

  /// A user who is signed in.
  ///
  /// - Parameters:
  ///   - id: The user's id.
  ///   - claims: The claims of the token in addition to `sub`.
  public static func user(_ id: String, claims: RulesMap = .empty) -> RulesUser {
    let token = RulesMap([RulesMap.Member("sub", .string(id))] + claims.members)
    return RulesUser(value: ["uid": .string(id), "token": .map(token)])
  }
}

/// A check that did not hold, with the reasons of the decision.
public struct RulesTestFailure: Error, Sendable, CustomStringConvertible {
  /// The decision and how it was made; nil for the Realtime Database.
  public let trace: RulesTrace?
  /// The decision about the Realtime Database and how it was made; nil for the other services.
  public let databaseTrace: DatabaseRulesTrace?
  /// Whether the request should have been allowed.
  public let expectsAllowed: Bool
  /// The expectation and the reasons.
  public let description: String

  init(_ expectsAllowed: Bool, _ trace: RulesTrace?) {
    self.expectsAllowed = expectsAllowed
    self.trace = trace
    databaseTrace = nil
    let course = trace?.description ?? "a commit without writes is allowed"
    description = "expected \(expectsAllowed ? "allowed" : "denied"), but \(course)"
  }

  init(_ expectsAllowed: Bool, _ what: String, _ trace: DatabaseRulesTrace) {
    self.expectsAllowed = expectsAllowed
    self.trace = nil
    databaseTrace = trace
    description = "expected \(expectsAllowed ? "allowed" : "denied"), but the \(what) is \(trace)"
  }
}
