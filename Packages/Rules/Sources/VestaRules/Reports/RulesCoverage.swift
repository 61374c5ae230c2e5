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

  let ruleset: Ruleset
  private let outcomes = Locked<[Int: [Outcome: Int]]>([:])

  /// The coverage of a ruleset, empty at first.
  public init(of ruleset: Ruleset) { self.ruleset = ruleset }

  /// Decides about a request, and counts the outcomes.
  public func decide(
    _ request: RulesRequest, documents: any RulesDocuments = NoRulesDocuments()
  ) -> RulesDecision {
    counted { budget, recorder in
      ruleset.decide(
        request, request.path.segments.map(PathSegment.known), nil, documents, &budget, recorder: recorder)
    }
  }

  /// Decides about a query, and counts the outcomes.
  public func decide(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue? = nil, documents: any RulesDocuments = NoRulesDocuments()
  ) -> RulesDecision {
    counted { budget, recorder in
      ruleset.decide(query, auth: auth, time: time, documents: documents, budget: &budget, recorder: recorder)
    }
  }

  private func counted(_ decide: (inout RulesBudget, any EvaluationRecorder) -> RulesDecision) -> RulesDecision {
    var budget = ruleset.budget
    let recorder = CoverageRecorder()
    let decision = decide(&budget, recorder)
    add(recorder.outcomes)
    return decision
  }

  func add(_ recorded: [(step: Int, outcome: RecordedOutcome)]) {
    let counted = recorded.map { step, outcome -> (Int, Outcome) in
      switch outcome {
      case .value(let value): (step, Outcome(text: value.description, isFailure: false, position: nil))
      case .failure(let failure, let at):
        (step, Outcome(text: failure.description, isFailure: true, position: ruleset.source.position(at)))
      case .unknown: (step, Outcome(text: RulesFailure.unknown.description, isFailure: true, position: nil))
      }
    }
    outcomes.withLock { table in
      for (step, outcome) in counted { table[step, default: [:]][outcome, default: 0] += 1 }
    }
  }

  /// The outcomes of an expression with their counts, in the order of their texts.
  func outcomes(of step: Int) -> [(outcome: Outcome, count: Int)] {
    outcomes.withLock { $0[step] ?? [:] }.sorted { $0.key.text < $1.key.text }.map { ($0.key, $0.value) }
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

/// Collects the outcomes of one decision.
final class CoverageRecorder: EvaluationRecorder {
  private(set) var outcomes: [(step: Int, outcome: RecordedOutcome)] = []

  func asked(_ allow: CompiledAllow, captures: [(name: String, value: String)]) {}
  func began(_ step: Int) {}
  func ended(_ step: Int, _ outcome: RecordedOutcome) { outcomes.append((step, outcome)) }
  func debugged(_ value: RulesValue, at step: Int) {}
  func lookedUp(_ function: RulesLookupFunction, _ path: RulesPath) {}
}
