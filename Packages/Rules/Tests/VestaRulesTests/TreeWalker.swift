@testable import VestaRules

/// The other opinion: walks the tree of a condition by the names in it, without the compiled form and without the
/// evaluator's code.
///
/// It knows a part of the language.
struct TreeWalker {
  indirect enum Outcome {
    case value(RulesValue)
    case error(String)
  }

  let tree: SyntaxTree
  let request: RulesRequest
  /// The names of functions by their declaration.
  let functions: [String: FunctionSyntax]

  init(_ ruleset: Ruleset, _ request: RulesRequest) {
    tree = ruleset.tree
    self.request = request
    functions = Dictionary(uniqueKeysWithValues: tree.functions.map { ($0.name.name, $0) })
  }

  /// A name's expression with the names around it: evaluated whenever it is used.
  final class Scope {
    var names: [String: (NodeID, Scope)] = [:]
    var values: [String: Outcome] = [:]
  }

  func verdict(_ condition: NodeID) -> Verdict {
    switch value(condition, Scope()) {
    case .value(.bool(let bool)): bool ? .yes : .no
    case .value(let value): .error(wrongType(value))
    case .error(let message): .error(message)
    }
  }

  private func wrongType(_ value: RulesValue) -> String {
    "Type error. Received: [\(value.typeName)] Expected: [bool]."
  }

  private func value(_ node: NodeID, _ scope: Scope) -> Outcome {
    switch tree.nodes[node].kind {
    case .literal(let value): return .value(value)
    case .name(let name): return self.name(name, scope)
    case .all(let operands): return chain(operands, false, scope)
    case .any(let operands): return chain(operands, true, scope)
    case .not(let inner): return with(inner, scope) { self.bool($0) { .value(.bool(!$0)) } }
    case .conditional(let condition, let yes, let no):
      return with(condition, scope) { self.bool($0) { value($0 ? yes : no, scope) } }
    case .binary(let found, let left, let right):
      let (first, second) = found == .contained ? (right, left) : (left, right)
      return with(first, scope) { a in
        with(second, scope) { b in found == .contained ? apply(found, b, a) : apply(found, a, b) }
      }
    case .list(let items): return all(items, scope) { .value(.list($0)) }
    case .member(let target, let name): return with(target, scope) { member($0, name) }
    case .call(let name, let arguments): return call(name, arguments, scope)
    case .method(let target, "size", _):
      return with(target, scope) { value in
        if case .list(let list) = value { return .value(.int(Int64(list.count))) }
        if case .string(let text) = value { return .value(.int(Int64(text.utf16.count))) }
        return .error(value == .null ? "Null value error." : "Function not found error: Name: [size].")
      }
    case .isType(let inner, let type): return with(inner, scope) { .value(.bool($0.typeName == type)) }
    default: return .error("unknown to the tree walker")
    }
  }

  private func with(_ node: NodeID, _ scope: Scope, _ body: (RulesValue) -> Outcome) -> Outcome {
    if case .value(let value) = value(node, scope) { return body(value) }
    return value(node, scope)
  }

  private func bool(_ value: RulesValue, _ body: (Bool) -> Outcome) -> Outcome {
    if case .bool(let bool) = value { return body(bool) }
    return .error(wrongType(value))
  }

  private func all(_ nodes: [NodeID], _ scope: Scope, _ body: ([RulesValue]) -> Outcome) -> Outcome {
    var values: [RulesValue] = []
    for node in nodes {
      guard case .value(let value) = value(node, scope) else { return self.value(node, scope) }
      values.append(value)
    }
    return body(values)
  }

  private func name(_ name: String, _ scope: Scope) -> Outcome {
    if let known = scope.values[name] { return known }
    if let (node, outer) = scope.names[name] { return value(node, outer) }
    if name == "resource", let existing = request.existing { return .value(existing) }
    return .error("Null value error.")
  }

  private func chain(_ operands: [NodeID], _ decisive: Bool, _ scope: Scope) -> Outcome {
    let outcomes = operands.map { value($0, scope) }
    if outcomes.contains(where: { if case .value(.bool(decisive)) = $0 { true } else { false } }) {
      return .value(.bool(decisive))
    }
    for outcome in outcomes {
      if case .value(.bool) = outcome { continue }
      if case .value(let value) = outcome { return .error(wrongType(value)) }
      return outcome
    }
    return .value(.bool(!decisive))
  }

  private func member(_ value: RulesValue, _ name: String) -> Outcome {
    if value == .null { return .error("Null value error.") }
    if case .map(let map) = value, let found = map[name] { return .value(found) }
    return .error("Property \(name) is undefined on object.")
  }

  private func call(_ name: String, _ arguments: [NodeID], _ scope: Scope) -> Outcome {
    guard let function = functions[name] else { return .error("Function not found error: Name: [\(name)].") }
    let outcomes = arguments.map { value($0, scope) }
    guard outcomes.count == function.parameters.count else {
      for outcome in outcomes { if case .error = outcome { return outcome } }
      return .error("Incorrect number of arguments supplied to function: \(name).")
    }
    let inner = Scope()
    // The error of an argument counts where its parameter is used.
    for (parameter, outcome) in zip(function.parameters, outcomes) { inner.values[parameter.name] = outcome }
    for variable in function.lets { inner.names[variable.name.name] = (variable.value, inner) }
    return value(function.result, inner)
  }

  private func apply(_ found: BinaryOperator, _ left: RulesValue, _ right: RulesValue) -> Outcome {
    switch (found, left, right) {
    case (.equal, _, _): return .value(.bool(left == right))
    case (.notEqual, _, _): return .value(.bool(left != right))
    case (.contained, _, .list(let list)): return .value(.bool(list.contains(left)))
    case (.add, .int(let l), .int(let r)): return .value(.int(l + r))
    case (.subtract, .int(let l), .int(let r)): return .value(.int(l - r))
    case (.multiply, .int(let l), .int(let r)): return .value(.int(l * r))
    case (.divide, .int, .int(0)), (.remainder, .int, .int(0)): return .error("Divide by zero error.")
    case (.divide, .int(let l), .int(let r)): return .value(.int(l / r))
    case (.add, .string(let l), .string(let r)): return .value(.string(l + r))
    case (.less, .int(let l), .int(let r)): return .value(.bool(l < r))
    case (.less, .string(let l), .string(let r)): return .value(.bool(l < r))
    default: return .error("unsupported")
    }
  }
}
