import VestaBytes

/// The answer of rules to a request to the Realtime Database.
public struct DatabaseDecision: Sendable {
  /// A rule that was asked.
  public struct Step: Sendable {
    /// The path of the rule in the data.
    public let path: [String]
    /// `.read`, `.write` or `.validate`.
    public let rule: String
    /// Whether it is true; nil after an error.
    public let outcome: Bool?
    /// The error.
    public let failure: DatabaseRulesFailure?
  }

  /// Whether the request is allowed.
  public let isAllowed: Bool
  /// The rules that were asked, in their order.
  public let steps: [Step]
}

extension DatabaseRuleset {
  /// Decides whether a path may be read, by a plain read or a query.
  public func decideRead(
    _ path: [String], auth: RulesValue = .null, query: DatabaseRulesQuery = DatabaseRulesQuery(), now: Double = 0,
    data: any DatabaseRulesData
  ) -> DatabaseDecision {
    decideRead(path, DatabaseContext(auth: auth, now: now, query: query, before: data, after: data))
  }

  func decideRead(_ path: [String], _ context: DatabaseContext) -> DatabaseDecision {
    var steps: [DatabaseDecision.Step] = []
    let isAllowed = isGranted(.read, path, walk(path), context, &steps)
    return DatabaseDecision(isAllowed: isAllowed, steps: steps)
  }

  /// Decides whether a write is allowed: a set, an update of several paths, a delete, the end of a transaction.
  ///
  /// - Parameters:
  ///   - paths: The paths that are written; all of them are judged by the state after the whole write.
  ///   - auth: The value of `auth`; null where no user is signed in.
  ///   - now: The value of `now`, in milliseconds since 1970.
  ///   - before: The state before the write.
  ///   - after: The state after it.
  public func decideWrite(
    _ paths: [[String]], auth: RulesValue = .null, now: Double = 0, before: any DatabaseRulesData,
    after: any DatabaseRulesData
  ) -> DatabaseDecision {
    decideWrite(paths, DatabaseContext(auth: auth, now: now, before: before, after: after))
  }

  func decideWrite(_ paths: [[String]], _ context: DatabaseContext) -> DatabaseDecision {
    var steps: [DatabaseDecision.Step] = []
    // Most decisions ask no more rules than this.
    steps.reserveCapacity(4)
    for path in paths {
      let way = walk(path)
      guard isGranted(.write, path, way, context, &steps), isValid(path, way, context, &steps) else {
        return DatabaseDecision(isAllowed: false, steps: steps)
      }
    }
    return DatabaseDecision(isAllowed: true, steps: steps)
  }

  /// Whether a path may be read.
  public func allowsRead(_ path: [String], auth: RulesValue = .null, data: any DatabaseRulesData) -> Bool {
    decideRead(path, auth: auth, data: data).isAllowed
  }

  /// Whether a rule of a node on the way to a path holds; nil where the node has no such rule.
  private func holds(
    _ kind: DatabaseRuleKind, _ way: DatabaseWay, _ depth: Int, _ path: [String], _ context: DatabaseContext,
    _ steps: inout [DatabaseDecision.Step]
  ) -> Bool? {
    guard let expression = way.nodes[depth]?.rules[kind] else { return nil }
    let isWhole = depth == path.count
    return holds(
      kind, expression, isWhole ? path : Array(path.prefix(depth)),
      isWhole ? way.captures : Array(way.captures.prefix(way.counts[depth])), context, &steps)
  }

  private func holds(
    _ kind: DatabaseRuleKind, _ expression: DatabaseExpression, _ path: [String], _ captures: [String],
    _ context: DatabaseContext, _ steps: inout [DatabaseDecision.Step]
  ) -> Bool {
    if context.recorder == nil, let outcome = expression.constant {
      steps.append(DatabaseDecision.Step(path: path, rule: kind.rawValue, outcome: outcome, failure: nil))
      return outcome
    }
    context.recorder?.asked(expression, path, captures)
    var evaluation = DatabaseEvaluation(
      expression, context, path: path, captures: captures, code.tuning, recorder: context.recorder)
    let missed = context.missed
    do throws(DatabaseRulesFailure) {
      let outcome = try evaluation.holds()
      guard context.missed == missed else { return true }
      steps.append(DatabaseDecision.Step(path: path, rule: kind.rawValue, outcome: outcome, failure: nil))
      return outcome
    } catch {
      guard context.missed == missed else { return true }
      steps.append(DatabaseDecision.Step(path: path, rule: kind.rawValue, outcome: nil, failure: error))
      return false
    }
  }

  private func isGranted(
    _ kind: DatabaseRuleKind, _ path: [String], _ way: DatabaseWay, _ context: DatabaseContext,
    _ steps: inout [DatabaseDecision.Step]
  ) -> Bool {
    for depth in way.nodes.indices where holds(kind, way, depth, path, context, &steps) == true { return true }
    return false
  }

  private func isValid(
    _ path: [String], _ way: DatabaseWay, _ context: DatabaseContext, _ steps: inout [DatabaseDecision.Step]
  ) -> Bool {
    for depth in way.nodes.indices where way.nodes[depth]?.rules[.validate] != nil {
      guard context.after.node(at: depth == path.count ? path : Array(path.prefix(depth))).exists else { continue }
      guard holds(.validate, way, depth, path, context, &steps) != false else { return false }
    }
    // Depth first, by a list: what is written may be deep.
    guard let node = way.nodes.last ?? nil else { return true }
    var waiting = children(of: (node, path, way.captures), context)
    while let next = waiting.popLast() {
      if let rule = next.node.rules[.validate] {
        guard holds(.validate, rule, next.path, next.captures, context, &steps) else { return false }
      }
      waiting += children(of: next, context)
    }
    return true
  }

  private typealias PlacedNode = (node: Node, path: [String], captures: [String])

  /// The rules of the children that data has after the write, the last child first.
  private func children(of parent: PlacedNode, _ context: DatabaseContext) -> [PlacedNode] {
    guard !parent.node.children.isEmpty || parent.node.wildcard != nil else { return [] }
    return context.after.childNames(at: parent.path).reversed().compactMap { name in
      let path = parent.path + [name]
      if let child = parent.node.children[UTF8String(name)] { return (child, path, parent.captures) }
      return parent.node.wildcard.map { ($0, path, parent.captures + [name]) }
    }
  }
}
