import VestaRules

/// A scalar of the Realtime Database as the oracle has it.
enum NaiveScalar: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)

  var packaged: DatabaseScalar {
    switch self {
    case .null: .null
    case .bool(let bool): .bool(bool)
    case .number(let number): .number(number)
    case .string(let text): .string(text)
    }
  }
}

/// A tree of data as the oracle has it.
indirect enum NaiveTree {
  case missing
  case leaf(NaiveScalar, priority: NaiveScalar)
  case node([String: NaiveTree])

  func at(_ path: [String]) -> NaiveTree {
    guard let first = path.first else { return self }
    guard case .node(let children) = self else { return .missing }
    return (children[first] ?? .missing).at(Array(path.dropFirst()))
  }

  func setting(_ value: NaiveTree, _ path: [String]) -> NaiveTree {
    guard let first = path.first else { return value }
    var children: [String: NaiveTree] = [:]
    if case .node(let own) = self { children = own }
    let child = (children[first] ?? .missing).setting(value, Array(path.dropFirst()))
    if case .missing = child { children[first] = nil } else { children[first] = child }
    return children.isEmpty ? .missing : .node(children)
  }

  var exists: Bool { if case .missing = self { false } else { true } }

  var packaged: DatabaseTree {
    switch self {
    case .missing: .missing
    case .leaf(let value, let priority): .leaf(value.packaged, priority: priority.packaged)
    case .node(let children): .parent(children.mapValues(\.packaged), priority: .null)
    }
  }
}

/// An expression of the Realtime Database's rules as the oracle has it.
indirect enum NaiveRule {
  case literal(NaiveScalar)
  /// `now`, `auth`, `data`, `newData`, `root`, or a capture.
  case name(String)
  case member(NaiveRule, String)
  case call(NaiveRule, String, [NaiveRule])
  /// `hasChildren` with a list.
  case hasChildren(NaiveRule, [NaiveRule])
  case not(NaiveRule)
  case negate(NaiveRule)
  case binary(String, NaiveRule, NaiveRule)
  case conditional(NaiveRule, NaiveRule, NaiveRule)

  private static let levels = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]]

  private var level: Int {
    switch self {
    case .conditional: 0
    case .binary(let sign, _, _): 1 + (Self.levels.firstIndex { $0.contains(sign) } ?? 0)
    case .not, .negate: 7
    case .literal(.number(let number)): number < 0 ? 7 : 8
    default: 8
    }
  }

  /// The expression with as few parentheses as its operators need.
  var text: String {
    func inside(_ rule: NaiveRule, _ least: Int) -> String { rule.level >= least ? rule.text : "(\(rule.text))" }
    switch self {
    case .literal(.null): return "null"
    case .literal(.bool(let bool)): return "\(bool)"
    case .literal(.number(let number)): return number == number.rounded() ? "\(Int(number))" : "\(number)"
    case .literal(.string(let text)): return "'\(text)'"
    case .name(let name): return name
    case .member(let target, let name): return "\(inside(target, 8)).\(name)"
    case .call(let target, let name, let arguments):
      return "\(inside(target, 8)).\(name)(\(arguments.map(\.text).joined(separator: ", ")))"
    case .hasChildren(let target, let names):
      return "\(inside(target, 8)).hasChildren([\(names.map(\.text).joined(separator: ", "))])"
    case .not(let inner): return "!" + inside(inner, 7)
    case .negate(let inner): return "-(\(inner.text))"
    case .binary(let sign, let left, let right): return "\(inside(left, level)) \(sign) \(inside(right, level + 1))"
    case .conditional(let a, let b, let c): return "\(inside(a, 1)) ? \(inside(b, 0)) : \(inside(c, 0))"
    }
  }
}

/// A place in the rules, with its rules and those below it.
struct NaiveRuleNode {
  var rules: [String: NaiveRule] = [:]
  var children: [String: NaiveRuleNode] = [:]
  var wildcard: (name: String, node: [NaiveRuleNode])?

  func child(_ name: String) -> NaiveRuleNode? { children[name] ?? wildcard?.node.first }

  /// The rules as JSON.
  var text: String {
    let own = rules.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \"\($0.value.text)\"" }
    var below = children.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value.text)" }
    if let wildcard, let node = wildcard.node.first { below.insert("\"\(wildcard.name)\": \(node.text)", at: 0) }
    return "{\((own + below).joined(separator: ", "))}"
  }
}
