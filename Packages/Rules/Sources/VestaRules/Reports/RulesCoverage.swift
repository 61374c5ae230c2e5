import VestaBytes
import VestaConcurrency

/// The outcomes of every expression of a ruleset, over any number of decisions.
///
/// A coverage may be filled by any number of threads at once.
public final class RulesCoverage: Sendable {
  /// An outcome of an expression.
  public struct Outcome: Sendable, Hashable {
    /// The text of the value, or the message of the error.
    public let text: String
    /// Whether it is an error.
    public let isFailure: Bool
    /// The place of the error.
    public let position: RulesPosition?
  }

  /// The rules.
  public let ruleset: Ruleset
  /// The counts that no decision is writing to.
  private let idle = Locked<[CoverageCounts]>([])

  /// The coverage of a ruleset, empty at first.
  public init(of ruleset: Ruleset) { self.ruleset = ruleset }

  /// Decides about a request, and counts the outcomes.
  public func decide(
    _ request: RulesRequest, documents: any RulesDocuments = NoRulesDocuments()
  ) -> RulesDecision {
    var budget = ruleset.budget
    return decide(request, documents: documents, budget: &budget)
  }

  /// Decides about a request with the budget of a caller, and counts the outcomes.
  public func decide(
    _ request: RulesRequest, documents: any RulesDocuments, budget: inout RulesBudget
  ) -> RulesDecision {
    counted { recorder in
      ruleset.decide(request, request.path.matched, nil, documents, &budget, recorder: recorder)
    }
  }

  /// Decides about a query, and counts the outcomes.
  public func decide(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue? = nil, documents: any RulesDocuments = NoRulesDocuments()
  ) -> RulesDecision {
    var budget = ruleset.budget
    return counted { recorder in
      ruleset.decide(query, auth: auth, time: time, documents: documents, budget: &budget, recorder: recorder)
    }
  }

  private func counted(_ decide: (EvaluationRecorder) -> RulesDecision) -> RulesDecision {
    let counts =
      idle.withLock { $0.popLast() }
      ?? CoverageCounts(ruleset.program.steps.count, kinds: ruleset.limits.tuning.coverageValues)
    let decision = withExtendedLifetime(counts) { decide(.coverage(counts.table)) }
    idle.withLock { $0.append(counts) }
    return decision
  }

  /// The outcomes of an expression with their counts, in the order of their texts.
  ///
  /// Decisions that are being made are not counted yet.
  func outcomes(of step: Int) -> [(outcome: Outcome, count: Int)] {
    var table: [Outcome: Int] = [:]
    idle.withLock { counts in
      for own in counts {
        for counted in own.outcomes(of: step) {
          let position = counted.failure.map { ruleset.source.position($0) }
          let outcome = Outcome(text: counted.text, isFailure: position != nil, position: position)
          table[outcome, default: 0] += counted.count
        }
      }
    }
    return table.sorted { $0.key.text < $1.key.text }.map { ($0.key, $0.value) }
  }

  /// The expressions that stand for themselves: the results of functions and the conditions of statements, functions
  /// before matches and statements, from the file inwards.
  var roots: [NodeID] {
    var roots: [NodeID] = []
    var waiting = Array(ruleset.tree.scopes.indices.filter { ruleset.tree.scopes[$0].parent == nil })
    while let scope = waiting.popLast() {
      let syntax = ruleset.tree.scopes[scope]
      for function in syntax.functions.map({ ruleset.tree.functions[$0] }) {
        roots += function.lets.map(\.value) + [function.result]
      }
      roots += syntax.allows.compactMap(\.condition)
      waiting += ruleset.tree.scopes.indices.filter { ruleset.tree.scopes[$0].parent == scope }.reversed()
    }
    return roots.filter { !isLiteral($0) }
  }

  func isLiteral(_ node: NodeID) -> Bool {
    if case .literal = ruleset.tree.nodes[node].kind { return true }
    return false
  }

  /// The expressions below an expression, literals left out; of `x in y` y is the first.
  func children(of node: NodeID) -> [NodeID] {
    let children = ruleset.tree.children(of: node).filter { !isLiteral($0) }
    if case .binary(.contained, _, _) = ruleset.tree.nodes[node].kind { return children.reversed() }
    return children
  }
}
