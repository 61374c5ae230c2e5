import VestaTesting

/// Makes rules of the Realtime Database that its check at upload accepts, and data for them.
struct RandomDatabaseRules {
  /// The types of the check that expressions are made for.
  enum Kind: CaseIterable {
    case boolean, number, string, value, snapshot, auth
  }

  var random: SplitMix
  private var captures: [String] = []

  init(seed: UInt64) { random = SplitMix(seed: seed) }

  static let keys = ["a", "b", "c"]

  /// The rules of a place and those below it; captures of the places around it are visible.
  mutating func node(_ depth: Int = 0) -> NaiveRuleNode {
    var node = NaiveRuleNode()
    for kind in [".read", ".write", ".validate"] where random.oneIn(2) {
      node.rules[kind] = rule(.boolean, 3, allowsNewData: kind != ".read")
    }
    guard depth < 3 else { return node }
    for key in Self.keys where random.oneIn(3) { node.children[key] = self.node(depth + 1) }
    if random.oneIn(2) {
      let name = "$v\(depth)"
      captures.append(name)
      node.wildcard = (name, [self.node(depth + 1)])
      captures.removeLast()
    }
    return node
  }

  private mutating func rule(_ kind: Kind, _ depth: Int, allowsNewData: Bool) -> NaiveRule {
    func of(_ kind: Kind) -> NaiveRule { rule(kind, depth - 1, allowsNewData: allowsNewData) }
    func any(_ kinds: [Kind]) -> NaiveRule { of(random.pick(kinds)) }
    if depth > 0, kind != .snapshot, random.oneIn(14) { return .conditional(of(.boolean), of(kind), of(kind)) }
    switch kind {
    case .boolean:
      if depth <= 0 { return .call(leafSnapshot(allowsNewData), "exists", []) }
      switch random.below(11) {
      case 0, 1: return .binary("&&", of(.boolean), of(.boolean))
      case 2, 3: return .binary("||", of(.boolean), of(.boolean))
      case 4: return .not(of(.boolean))
      case 5:
        let sides = [any([.boolean, .number, .string, .value, .auth]), any([.number, .string, .value, .auth])]
        return .binary(random.pick(["==", "!="]), sides[0], random.oneIn(4) ? .literal(.null) : sides[1])
      case 6:
        let kind = random.pick([Kind.number, .string])
        return .binary(random.pick(["<", "<=", ">", ">="]), any([kind, kind, .value]), any([kind, kind, .value]))
      case 7:
        return .call(of(.snapshot), random.pick(["exists", "isString", "isNumber", "isBoolean", "hasChildren"]), [])
      case 8: return .call(of(.snapshot), "hasChild", [any([.string, .string, .value])])
      case 9: return .hasChildren(of(.snapshot), (0..<random.below(3)).map { _ in any([.string, .string, .value]) })
      default:
        let name = random.pick(["contains", "beginsWith", "endsWith"])
        return .call(any([.string, .string, .value, .auth]), name, [any([.string, .string, .value])])
      }
    case .number:
      if depth <= 0 || random.oneIn(3) { return .literal(.number(random.pick([0, 1, 2, 7, 0.5, -3]))) }
      switch random.below(5) {
      case 0: return .negate(any([.number, .value]))
      case 1: return .member(any([.string, .value]), "length")
      case 2: return .name("now")
      default:
        return .binary(
          random.pick(["-", "*", "/", "%"]), any([.number, .number, .value]), any([.number, .number, .value]))
      }
    case .string:
      if depth <= 0 || random.oneIn(3) {
        if !captures.isEmpty, random.oneIn(2) { return .name(random.pick(captures)) }
        return .literal(.string(random.pick(["a", "b", "c", "a/b", "b1", "Ab"])))
      }
      switch random.below(3) {
      case 0: return .call(any([.string, .value]), random.pick(["toLowerCase", "toUpperCase"]), [])
      case 1: return .call(any([.string, .value]), "replace", [of(.string), of(.string)])
      default:
        return random.oneIn(2)
          ? .binary("+", of(.string), any([.string, .number, .value]))
          : .binary("+", any([.string, .number, .value]), of(.string))
      }
    case .value: return .call(of(.snapshot), random.oneIn(6) ? "getPriority" : "val", [])
    case .snapshot:
      if depth <= 0 || random.oneIn(3) { return leafSnapshot(allowsNewData) }
      return random.oneIn(4)
        ? .call(of(.snapshot), "parent", []) : .call(of(.snapshot), "child", [any([.string, .string, .value])])
    case .auth:
      let token = NaiveRule.member(.name("auth"), "token")
      return random.pick([
        .name("auth"), .member(.name("auth"), "uid"), .member(token, "admin"), .member(token, "level"),
        .member(.member(token, "inner"), "name"), .member(.member(token, "none"), "name"),
      ])
    }
  }

  private mutating func leafSnapshot(_ allowsNewData: Bool) -> NaiveRule {
    .name(random.pick(allowsNewData ? ["data", "newData", "newData", "root"] : ["data", "root"]))
  }

  // MARK: Data

  mutating func tree(_ depth: Int = 3) -> NaiveTree {
    if depth == 0 || random.oneIn(4) {
      if random.oneIn(4) { return .missing }
      let value = random.pick([
        NaiveScalar.bool(true), .bool(false), .number(0), .number(2), .number(-1.5), .string("a"), .string("b1"),
        .string("aXa"),
      ])
      return .leaf(value, priority: random.oneIn(4) ? .number(1) : .null)
    }
    var tree = NaiveTree.missing
    for key in Self.keys where !random.oneIn(3) { tree = tree.setting(self.tree(depth - 1), [key]) }
    return tree
  }

  mutating func path() -> [String] { (0..<random.below(4)).map { _ in random.pick(Self.keys) } }
}
