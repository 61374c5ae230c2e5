// Finding shortcuts, when rules are compiled, and asking them.

extension Step {
  /// Whether the step reads a member of `request`.
  func reads(_ field: RequestField) -> Bool { code == .request || code == .requestField && a == field.rawValue }
}

extension Program {
  /// The shortcut of a statement; nil where its condition has to be evaluated.
  ///
  /// - Parameter depth: How deep the condition is looked into.
  func shortcut(of condition: Int?, depth: Int) -> Shortcut? {
    guard let condition else { return Shortcut(outcome: .always, cost: 0) }
    return fold(condition, left: depth).map { Shortcut(outcome: $0.outcome, cost: $0.cost + 1) }
  }

  private func fold(_ id: Int, left: Int) -> Shortcut? {
    let step = steps[id]
    // The checker bounds how deep calls are; this bounds the work for each statement.
    guard left > 0 else { return nil }
    switch step.code {
    case .constant:
      guard case .bool(let bool) = constants[Int(step.a)] else { return nil }
      return Shortcut(outcome: bool ? .always : .never, cost: 1)
    case .not:
      return fold(Int(step.a), left: left - 1).map { Shortcut(outcome: $0.outcome.negated, cost: $0.cost + 1) }
    case .binary: return comparison(step)
    case .call:
      let function = functions[Int(step.a)]
      guard function.parameterCount == 0, lists[Int(step.b)].isEmpty else { return nil }
      // The call and its body are an expression each.
      return fold(function.result, left: left - 1).map { Shortcut(outcome: $0.outcome, cost: $0.cost + 2) }
    default: return nil
    }
  }

  /// A comparison of `request.auth` with null.
  private func comparison(_ step: Step) -> Shortcut? {
    let sides = [steps[Int(step.a)], steps[Int(step.b)]]
    let hasAuth = sides.contains { $0.code == .requestField && $0.a == RequestField.auth.rawValue }
    let hasNull = sides.contains { side in
      if side.code == .constant, case .null = constants[Int(side.a)] { true } else { false }
    }
    guard hasAuth, hasNull else { return nil }
    // The comparison, null, and `request.auth` with its `request`.
    switch BinaryOperator.all[Int(step.c)] {
    case .equal: return Shortcut(outcome: .signedOut, cost: 4)
    case .notEqual: return Shortcut(outcome: .signedIn, cost: 4)
    default: return nil
    }
  }
}

extension MatchTable {
  /// The shortcut that decides about a method for every document, whatever its path.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - limit: The expressions that a request may evaluate.
  /// - Returns: `nil` where there is none: some statement before it has to be evaluated.
  func shortcut(everywhereFor method: RulesMethod, below limit: Int) -> Shortcut? {
    var cost = 0
    for match in matches {
      for allow in match.allows where allow.names(method) {
        guard let shortcut = allow.shortcut else { return nil }
        cost += shortcut.cost
        guard cost <= limit else { return nil }
        if match.coversAllDocuments, shortcut.outcome != .never { return shortcut }
      }
    }
    return nil
  }
}

extension CompiledMatch {
  /// Whether every path of a document matches.
  fileprivate var coversAllDocuments: Bool {
    guard segments.last == .glob, globCount == 1, segments.count <= 4 else { return false }
    return zip(segments.dropLast(), ["databases", nil, "documents"]).allSatisfy { segment, name in
      if case .literal(let text) = segment { text == name } else { true }
    }
  }
}

extension Ruleset {
  /// Whether a method is allowed for every document of Firestore, whatever its path and its content.
  ///
  /// - Parameters:
  ///   - method: The method of a request about one document.
  ///   - isSignedIn: Whether `request.auth` is not null.
  /// - Returns: `false` also where that is not known.
  public func allowsEverywhere(_ method: RulesMethod, isSignedIn: Bool) -> Bool {
    guard service == .firestore, let shortcut = code.everywhere[method.index] else { return false }
    switch shortcut.outcome {
    case .always: return true
    case .signedIn: return isSignedIn
    case .signedOut: return !isSignedIn
    case .never: return false
    }
  }

  /// Whether some condition reads `request.time`; decisions need no time otherwise.
  public var readsTime: Bool { code.program.readsTime }
}

extension RulesMethod {
  /// The position among all cases.
  fileprivate var index: Int { bit.trailingZeroBitCount }
}
