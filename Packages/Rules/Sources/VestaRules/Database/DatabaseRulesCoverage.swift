import VestaConcurrency

/// The outcomes of every expression of the rules of a Realtime Database, over any number of decisions.
///
/// A coverage may be filled by any number of threads at once.
public final class DatabaseRulesCoverage: Sendable {
  /// An expression of a rule.
  private struct Place: Hashable {
    let rule: Int
    let node: Int
  }

  /// The rules.
  public let ruleset: DatabaseRuleset
  private let counts = Locked<[Place: [RulesCoverage.Outcome: Int]]>([:])

  /// The coverage of rules, empty at first.
  public init(of ruleset: DatabaseRuleset) { self.ruleset = ruleset }

  // MARK: Decisions

  /// Decides whether a path may be read, and counts the outcomes.
  ///
  /// - Parameters:
  ///   - path: The path that is read.
  ///   - auth: The caller as rules see it: null, or a map with `uid` and `token`.
  ///   - query: The order, bounds and limit of the read.
  ///   - now: The time, in milliseconds since 1970.
  ///   - data: The state of the tree; nothing of it has yet to be read.
  @discardableResult
  public func decideRead(
    _ path: [String], auth: RulesValue = .null, query: DatabaseRulesQuery = DatabaseRulesQuery(), now: Double = 0,
    data: any DatabaseRulesData
  ) -> DatabaseDecision {
    counted(ruleset.traceRead(path, auth: auth, query: query, now: now, data: data))
  }

  /// Decides whether a write is allowed, and counts the outcomes.
  ///
  /// - Parameters:
  ///   - paths: The paths that are written.
  ///   - auth: The caller as rules see it: null, or a map with `uid` and `token`.
  ///   - now: The time, in milliseconds since 1970.
  ///   - before: The state before the write.
  ///   - after: The state after it.
  @discardableResult
  public func decideWrite(
    _ paths: [[String]], auth: RulesValue = .null, now: Double = 0, before: any DatabaseRulesData,
    after: any DatabaseRulesData
  ) -> DatabaseDecision {
    counted(ruleset.traceWrite(paths, auth: auth, now: now, before: before, after: after))
  }

  /// Counts the outcomes of a trace of the same rules.
  public func count(_ trace: DatabaseRulesTrace) { _ = counted(trace) }

  private func counted(_ trace: DatabaseRulesTrace) -> DatabaseDecision {
    counts.withLock { counts in
      for (index, asked) in trace.asked.enumerated() {
        let end = index + 1 < trace.asked.count ? trace.asked[index + 1].record : trace.records.count
        for record in trace.records[asked.record..<end] {
          let place = Place(rule: asked.expression.number, node: Int(record.step))
          Self.count(record.outcome, in: &counts[place, default: [:]], kinds: ruleset.code.tuning.coverageValues)
        }
      }
    }
    return trace.decision
  }

  private static func count(
    _ outcome: DatabaseRulesTrace.Expression.Outcome, in counts: inout [RulesCoverage.Outcome: Int], kinds: Int
  ) {
    var counted = RulesCoverage.Outcome(text: outcome.text, isFailure: false, position: nil)
    if case .failure(let failure) = outcome {
      counted = RulesCoverage.Outcome(text: failure.description, isFailure: true, position: nil)
    }
    if counts[counted] == nil, counts.count >= kinds {
      counted = RulesCoverage.Outcome(text: "other values", isFailure: false, position: nil)
    }
    counts[counted, default: 0] += 1
  }

  // MARK: Forms

  /// The report in the form that the emulator of Firestore has.
  public func json(fileName: String = "database.rules.json") -> String { report.json(fileName: fileName) }

  /// The report in the form of LCOV: how often each line was evaluated, and how often each rule was true or not.
  public func lcov(fileName: String = "database.rules.json") -> String { report.lcov(fileName: fileName) }

  /// The report as a page: the source, each line coloured by whether it was evaluated, with the outcomes of its rules.
  public func html(title: String = "Rules coverage") -> String { report.html(title: title) }

  private var report: CoverageReport {
    let counts = counts.withLock { $0 }
    return CoverageReport(
      content: ruleset.code.document.bytes,
      entries: ruleset.code.rules.compactMap { rule in
        guard let origin = rule.origin, !rule.nodes[rule.root].isLiteral else { return nil }
        return entry(rule, rule.root, origin, counts)
      })
  }

  private func entry(
    _ rule: DatabaseExpression, _ node: NodeID, _ origin: DatabaseRuleOrigin,
    _ counts: [Place: [RulesCoverage.Outcome: Int]]
  ) -> CoverageReport.Entry {
    let own = counts[Place(rule: rule.number, node: node)] ?? [:]
    return CoverageReport.Entry(
      number: node == rule.root ? rule.number : node, position: ruleset.code.document.position(origin.places[node]),
      outcomes: own.sorted { $0.key.text < $1.key.text }.map { ($0.key, $0.value) },
      children: rule.nodes[node].children.filter { !rule.nodes[$0].isLiteral }.map {
        entry(rule, $0, origin, counts)
      })
  }
}

extension DatabaseSyntax {
  /// Whether it is a constant, which has no entry in a report.
  fileprivate var isLiteral: Bool {
    switch self {
    case .null, .bool, .number, .string, .pattern, .array: true
    default: false
    }
  }
}
