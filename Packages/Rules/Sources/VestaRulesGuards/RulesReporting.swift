import VestaConcurrency
import VestaRules

/// Whether the rules of a project explain themselves, as in development: a denial names the statements that did not
/// allow the call, the outcomes of all expressions are counted, and `debug()` returns its argument and logs it.
///
/// Never enable in production: callers that are denied learn how the rules are written, and decisions cost twice as
/// much.
///
/// ```swift
/// Component(RulesReporting.self, caching: .shared) { _ in RulesReporting(isOn: true) }
/// ```
public struct RulesReporting: Sendable, Hashable {
  /// Whether they do.
  public var isOn: Bool

  /// A choice.
  public init(isOn: Bool = false) { self.isOn = isOn }
}

/// The outcomes of the rules in force, counted from their first decision on.
final class RulesReports<Rules: Sendable, Coverage: Sendable>: Sendable {
  private let current = Locked<(number: Int, coverage: Coverage)?>(nil)
  private let make: @Sendable (Rules) -> Coverage

  /// - Parameter make: Makes the empty coverage of rules.
  init(_ make: @escaping @Sendable (Rules) -> Coverage) { self.make = make }

  /// The coverage of the rules in force; a new one for new rules.
  ///
  /// - Returns: `nil` where there are no rules, and for a decision that later rules have overtaken.
  func coverage(of rules: RulesInForce<Rules>) -> Coverage? {
    guard let (ruleset, number) = rules.numbered else { return nil }
    return current.withLock { current in
      if let current, current.number >= number { return current.number == number ? current.coverage : nil }
      let coverage = make(ruleset)
      current = (number, coverage)
      return coverage
    }
  }
}

/// The outcomes of rules of Firestore or Storage.
typealias SourceReports = RulesReports<Ruleset, RulesCoverage>
/// The outcomes of rules of the Realtime Database.
typealias DatabaseReports = RulesReports<DatabaseRuleset, DatabaseRulesCoverage>

/// The rules of one decision, which counts in their coverage where there is one.
struct RulesOfDecision {
  let ruleset: Ruleset
  private let coverage: RulesCoverage?

  /// Whether a denial says which statements did not allow the call.
  var explains: Bool { coverage != nil }

  init?(_ rules: RulesInForce<Ruleset>, _ reports: SourceReports?) {
    if let reports, let coverage = reports.coverage(of: rules) {
      (ruleset, self.coverage) = (coverage.ruleset, coverage)
    } else {
      guard let current = rules.current else { return nil }
      (ruleset, coverage) = (current, nil)
    }
  }

  nonisolated(nonsending) func decide(
    _ request: RulesRequest, _ budget: inout RulesBudget,
    read: (RulesLookupFunction, RulesPath) async throws -> RulesLookup
  ) async throws -> RulesDecision {
    guard let coverage else { return try await ruleset.decide(request, budget: &budget, read: read) }
    return try await coverage.decide(request, budget: &budget, read: read)
  }

  nonisolated(nonsending) func decide(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue?, _ budget: inout RulesBudget,
    read: (RulesLookupFunction, RulesPath) async throws -> RulesLookup
  ) async throws -> RulesDecision {
    guard let coverage else {
      return try await ruleset.decide(query, auth: auth, time: time, budget: &budget, read: read)
    }
    return try await coverage.decide(query, auth: auth, time: time, budget: &budget, read: read)
  }
}
