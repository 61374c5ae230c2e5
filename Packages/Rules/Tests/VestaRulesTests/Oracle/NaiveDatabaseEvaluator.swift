/// Evaluates rules of the Realtime Database one expression inside of the other; an error ends the rule.
struct NaiveDatabaseEvaluator {
  /// An error of an expression.
  struct Failure: Error {}

  enum Value {
    case scalar(NaiveScalar)
    case snapshot(isAfter: Bool, [String])
    /// A node with children.
    case object
    case claims([String: Claim])
  }

  /// A value of `auth`.
  indirect enum Claim: Sendable {
    case scalar(NaiveScalar)
    case map([String: Claim])

    var value: Value {
      switch self {
      case .scalar(let scalar): .scalar(scalar)
      case .map(let map): .claims(map)
      }
    }
  }

  let before: NaiveTree
  let after: NaiveTree
  let auth: Claim
  let now: Double
  var path: [String] = []
  var captures: [String: String] = [:]

  func value(_ rule: NaiveRule) throws(Failure) -> Value {
    switch rule {
    case .literal(let scalar): return .scalar(scalar)
    case .name("now"): return .scalar(.number(now))
    case .name("auth"): return auth.value
    case .name("data"): return .snapshot(isAfter: false, path)
    case .name("newData"): return .snapshot(isAfter: true, path)
    case .name("root"): return .snapshot(isAfter: false, [])
    case .name(let name): return .scalar(.string(captures[name] ?? ""))
    case .member(let target, let name): return try member(value(target), name)
    case .call(let target, let name, let arguments): return try call(value(target), name, arguments)
    case .hasChildren(let target, let names):
      guard case .snapshot(let isAfter, let path) = try value(target) else { throw Failure() }
      var all: [[String]] = []
      for name in names { all.append(try segments(text(name))) }
      return .scalar(.bool(all.allSatisfy { (isAfter ? after : before).at(path + $0).exists }))
    case .not(let inner): return .scalar(.bool(!(try bool(inner))))
    case .negate(let inner): return .scalar(.number(-(try number(value(inner)))))
    case .binary("&&", let left, let right): return .scalar(.bool(try bool(left) ? try bool(right) : false))
    case .binary("||", let left, let right): return .scalar(.bool(try bool(left) ? true : try bool(right)))
    case .binary(let sign, let left, let right): return .scalar(try apply(sign, value(left), value(right)))
    case .conditional(let condition, let yes, let no): return try value(bool(condition) ? yes : no)
    }
  }

  func bool(_ rule: NaiveRule) throws(Failure) -> Bool {
    guard case .scalar(.bool(let bool)) = try value(rule) else { throw Failure() }
    return bool
  }

  private func text(_ rule: NaiveRule) throws(Failure) -> String {
    guard case .scalar(.string(let text)) = try value(rule) else { throw Failure() }
    return text
  }

  private func number(_ value: Value) throws(Failure) -> Double {
    guard case .scalar(.number(let number)) = value else { throw Failure() }
    return number
  }

  private func segments(_ text: String) -> [String] { text.split(separator: "/").map(String.init) }

  private func apply(_ sign: String, _ left: Value, _ right: Value) throws(Failure) -> NaiveScalar {
    switch sign {
    case "==", "!=":
      var isEqual = false
      if case .scalar(let l) = left, case .scalar(let r) = right { isEqual = l == r }
      return .bool(isEqual == (sign == "=="))
    case "<", "<=", ">", ">=":
      if case .scalar(.string(let l)) = left, case .scalar(.string(let r)) = right {
        return .bool(sign.hasPrefix("<") ? l < r || sign == "<=" && l == r : l > r || sign == ">=" && l == r)
      }
      let (l, r) = (try number(left), try number(right))
      return .bool(sign == "<" ? l < r : sign == "<=" ? l <= r : sign == ">" ? l > r : l >= r)
    case "+":
      switch (left, right) {
      case (.scalar(.string(let l)), .scalar(.string(let r))): return .string(l + r)
      case (.scalar(.string(let l)), .scalar(.number(let r))): return .string(l + javaScriptText(r))
      case (.scalar(.number(let l)), .scalar(.string(let r))): return .string(javaScriptText(l) + r)
      default: return .number(try number(left) + number(right))
      }
    default:
      let (l, r) = (try number(left), try number(right))
      switch sign {
      case "-": return .number(l - r)
      case "*": return .number(l * r)
      case "/": return .number(r == 0 ? .nan : l / r)
      default: return .number(r == 0 ? .nan : l.truncatingRemainder(dividingBy: r))
      }
    }
  }

  /// The text of a number that random rules make: plain, as they are neither very large nor very small.
  private func javaScriptText(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    return number == number.rounded() ? String(Int64(number)) : "\(number)"
  }

  private func member(_ target: Value, _ name: String) throws(Failure) -> Value {
    if name == "length" {
      guard case .scalar(.string(let text)) = target else { throw Failure() }
      return .scalar(.number(Double(text.utf16.count)))
    }
    // A member of null, and of what has none, is null.
    guard case .claims(let map) = target else { return .scalar(.null) }
    return map[name]?.value ?? .scalar(.null)
  }

  private func call(_ target: Value, _ name: String, _ arguments: [NaiveRule]) throws(Failure) -> Value {
    switch target {
    case .scalar(.string(let own)): return .scalar(try string(own, name, arguments))
    case .snapshot(let isAfter, let path): return try snapshot(isAfter, path, name, arguments)
    default: throw Failure()
    }
  }

  private func string(_ own: String, _ name: String, _ arguments: [NaiveRule]) throws(Failure) -> NaiveScalar {
    switch name {
    case "toLowerCase": return .string(own.lowercased())
    case "toUpperCase": return .string(own.uppercased())
    case "contains": return .bool(own.contains(try text(arguments[0])))
    case "beginsWith": return .bool(own.hasPrefix(try text(arguments[0])))
    case "endsWith": return .bool(own.hasSuffix(try text(arguments[0])))
    default:
      let (old, new) = (try text(arguments[0]), try text(arguments[1]))
      return .string(own.split(separator: old, omittingEmptySubsequences: false).joined(separator: new))
    }
  }

  private func snapshot(
    _ isAfter: Bool, _ path: [String], _ name: String, _ arguments: [NaiveRule]
  ) throws(Failure) -> Value {
    let tree = isAfter ? after : before
    switch name {
    case "child": return .snapshot(isAfter: isAfter, path + segments(try text(arguments[0])))
    case "hasChild": return .scalar(.bool(tree.at(path + segments(try text(arguments[0]))).exists))
    case "parent":
      if path.isEmpty { throw Failure() }
      return .snapshot(isAfter: isAfter, Array(path.dropLast()))
    default: break
    }
    switch (name, tree.at(path)) {
    case ("exists", let found): return .scalar(.bool(found.exists))
    case ("hasChildren", .node): return .scalar(.bool(true))
    case ("val", .leaf(let value, _)): return .scalar(value)
    case ("val", .node): return .object
    case ("val", .missing): return .scalar(.null)
    case ("getPriority", .leaf(_, let priority)): return .scalar(priority)
    case ("getPriority", _): return .scalar(.null)
    case ("isString", .leaf(.string, _)), ("isNumber", .leaf(.number, _)), ("isBoolean", .leaf(.bool, _)):
      return .scalar(.bool(true))
    default: return .scalar(.bool(false))
    }
  }

  // MARK: Decisions

  /// The outcome of a rule at a place; an error is nil.
  private func outcome(_ rule: NaiveRule, _ path: [String], _ captures: [String: String]) -> Bool? {
    var own = self
    (own.path, own.captures) = (path, captures)
    do throws(Failure) { return try own.bool(rule) } catch { return nil }
  }

  /// The places on the way to a path, with the captures there.
  private func way(
    _ root: NaiveRuleNode, _ path: [String]
  ) -> [(node: NaiveRuleNode, path: [String], captures: [String: String])] {
    var (all, node, captures) = ([(root, [String](), [String: String]())], Optional(root), [String: String]())
    for (index, name) in path.enumerated() {
      if node?.children[name] == nil, let wildcard = node?.wildcard { captures[wildcard.name] = name }
      node = node?.child(name)
      guard let node else { break }
      all.append((node, Array(path.prefix(index + 1)), captures))
    }
    return all
  }

  /// The outcomes of the rules of a kind on the way to a path, up to the first one that grants it.
  func grants(_ kind: String, _ root: NaiveRuleNode, _ path: [String]) -> [Bool?] {
    var outcomes: [Bool?] = []
    for place in way(root, path) {
      guard let rule = place.node.rules[kind] else { continue }
      outcomes.append(outcome(rule, place.path, place.captures))
      if outcomes.last == .some(true) { break }
    }
    return outcomes
  }

  /// Whether the rules of validation hold: at the existing places on the way to a path, and below it.
  func isValid(_ root: NaiveRuleNode, _ path: [String]) -> Bool {
    let way = way(root, path)
    for place in way where after.at(place.path).exists {
      if let rule = place.node.rules[".validate"], outcome(rule, place.path, place.captures) != true { return false }
    }
    guard let last = way.last, last.path.count == path.count else { return true }
    return isValid(below: last.node, path, last.captures)
  }

  private func isValid(below node: NaiveRuleNode, _ path: [String], _ captures: [String: String]) -> Bool {
    guard case .node(let children) = after.at(path) else { return true }
    return children.keys.allSatisfy { name in
      guard let child = node.child(name) else { return true }
      var captures = captures
      if node.children[name] == nil, let wildcard = node.wildcard { captures[wildcard.name] = name }
      if let rule = child.rules[".validate"], outcome(rule, path + [name], captures) != true { return false }
      return isValid(below: child, path + [name], captures)
    }
  }
}
