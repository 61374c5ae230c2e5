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
  ///   - claims: The claims of the token besides `sub`.
  public static func user(_ id: String, claims: RulesMap = .empty) -> RulesUser {
    let token = RulesMap([RulesMap.Member("sub", .string(id))] + claims.members)
    return RulesUser(value: ["uid": .string(id), "token": .map(token)])
  }
}

/// A check that did not hold, with the trace of the decision.
public struct RulesTestFailure: Error, Sendable, CustomStringConvertible {
  /// The decision and how it was made.
  public let trace: RulesTrace
  /// Whether the request should have been allowed.
  public let expectsAllowed: Bool

  init(_ expectsAllowed: Bool, _ trace: RulesTrace) {
    self.expectsAllowed = expectsAllowed
    self.trace = trace
  }

  /// The expectation and the trace.
  public var description: String { "expected \(expectsAllowed ? "allowed" : "denied"), but \(trace)" }
}
