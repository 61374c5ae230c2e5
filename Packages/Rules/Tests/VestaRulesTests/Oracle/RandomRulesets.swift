import VestaTesting

/// Makes rulesets with nested matches, statements and functions in every scope, and requests for them.
struct RandomRulesets {
  var random: SplitMix
  private var functionCount = 0

  init(seed: UInt64) { random = SplitMix(seed: seed) }

  mutating func ruleset() -> NaiveRuleset {
    functionCount = 0
    let file = NaiveScope(nil)
    let service = NaiveScope(file)
    let root = NaiveScope(service, [.literal("databases"), .capture("database"), .literal("documents")])
    service.members = [.match(root)]
    for scope in [file, service, root] { declare(in: scope) }
    for _ in 0..<(1 + random.below(2)) { root.members.append(.match(match(in: root, 2))) }
    if random.oneIn(3) { root.members.append(.match(match(in: root, 0, [.glob("rest")]))) }
    for scope in [file, service] + all(below: root) { fill(scope) }
    return NaiveRuleset(version: random.oneIn(4) ? 1 : 2, file: file, service: service)
  }

  private func all(below scope: NaiveScope) -> [NaiveScope] {
    scope.members.reduce(into: [scope]) { all, member in
      if case .match(let inner) = member { all += self.all(below: inner) }
    }
  }

  private mutating func match(
    in parent: NaiveScope, _ depth: Int, _ path: [NaiveMatchSegment]? = nil
  ) -> NaiveScope {
    let scope = NaiveScope(parent, path ?? segments())
    declare(in: scope)
    // Statements stand in front of, between and behind the inner matches.
    for _ in 0..<(1 + random.below(3)) {
      if depth > 0, random.oneIn(3) {
        scope.members.append(.match(match(in: scope, depth - 1)))
      } else {
        let words = ["get", "list", "create", "update", "delete", "read", "write", "get", "read"]
        let methods = (0..<(1 + random.below(2))).map { _ in random.pick(words) }
        scope.members.append(.allow(methods: methods, condition: nil))
      }
    }
    return scope
  }

  private mutating func segments() -> [NaiveMatchSegment] {
    let name = random.pick(["x", "y", "id", "resource"])
    switch random.below(6) {
    case 0: return [.literal("c"), .literal("n1")]
    case 1: return [.glob(name)]
    case 2: return [.literal("c"), .glob(name)]
    case 3: return [.capture("collection"), .capture(name)]
    default: return [.literal("c"), .capture(name)]
    }
  }

  private mutating func declare(in scope: NaiveScope) {
    let names = ["f", "g", "h", "int", "get"]
    let parameters = ["p", "q", "database", "request", "value"]
    for _ in 0..<random.below(3) {
      let name = random.pick(names)
      guard functionCount < 5, !scope.functions.contains(where: { $0.name == name }) else { continue }
      let start = random.below(3)
      scope.functions.append(
        NaiveFunction(
          name: name, parameters: Array(parameters[start..<start + random.below(3)]), rank: functionCount))
      functionCount += 1
    }
  }

  // MARK: Bodies

  private mutating func fill(_ scope: NaiveScope) {
    let captures = scope.segments.compactMap { segment, _ -> String? in
      switch segment {
      case .literal: nil
      case .capture(let name), .glob(let name): name
      }
    }
    for index in scope.functions.indices {
      let function = scope.functions[index]
      var names = captures + function.parameters
      for name in ["u", "v", "w", "x"].prefix(random.below(4)) where !function.parameters.contains(name) {
        scope.functions[index].variables.append((name, expression(.any, 2, names, scope, above: function.rank)))
        names.append(name)
      }
      scope.functions[index].result = expression(random.oneIn(2) ? .bool : .any, 3, names, scope, above: function.rank)
    }
    for (index, member) in scope.members.enumerated() {
      guard case .allow(let methods, _) = member, !random.oneIn(12) else { continue }
      scope.members[index] = .allow(methods: methods, condition: expression(.bool, 4, captures, scope, above: -1))
    }
  }

  private enum Wanted { case bool, any }

  private mutating func expression(
    _ wanted: Wanted, _ depth: Int, _ names: [String], _ scope: NaiveScope, above rank: Int
  ) -> NaiveExpression {
    var visible: [NaiveFunction] = []
    for scope in sequence(first: scope, next: \.parent) {
      visible += scope.functions.filter { function in !visible.contains { $0.name == function.name } }
    }
    // A name that means a function of a lower rank must not be called: the program might run forever.
    let functions = visible.filter { $0.rank > rank }.map { ($0.name, $0.parameters.count) }
    let hidden = visible.filter { $0.rank <= rank }.map(\.name)
    var made = RandomExpressions(random: random, names: names, functions: functions, hidden: hidden)
    defer { random = made.random }
    return wanted == .bool ? made.of(.bool, depth) : made.any(depth)
  }

  // MARK: Requests

  mutating func request() -> NaiveRequest {
    var request = NaiveRequest()
    request.method = random.pick(["get", "get", "list", "create", "update", "delete"])
    let tails = [
      ["c", "n1"], ["c", "n2"], ["c", "n1", "c", "n2"], ["d", "n1"], ["c"], ["c", "n1", "d", "x", "c", "y"],
    ]
    request.path = (["databases", "(default)", "documents"] + random.pick(tails)).map(\.naive)
    switch random.below(4) {
    case 0: request.fields["auth".naive] = .some(.null)
    case 1: break
    default:
      request.fields["auth".naive] = .map(
        NaiveMap([("uid", .text(random.pick(["n1", "ada"]))), ("token", .map(document()))]))
    }
    if !random.oneIn(8) { request.fields["time".naive] = .timestamp(1_700_000_000_000_000_005) }
    if random.oneIn(2) { request.fields["resource".naive] = .map(NaiveMap([("data", .map(document()))])) }
    if !random.oneIn(8) {
      request.existing =
        random.oneIn(6) ? .some(.null) : .map(NaiveMap([("data", .map(document())), ("id", .text("n1"))]))
    }
    for name in ["n1", "n2", "a"] where random.oneIn(2) {
      let path = ["databases", "(default)", "documents", "c", name].map(\.naive)
      request.documents.append((path, NaiveMap([("data", .map(document()))])))
    }
    return request
  }

  private mutating func document() -> NaiveMap {
    var map = NaiveMap()
    let values: [(String, [NaiveValue])] = [
      ("b", [.bool(true), .bool(false)]), ("i", [.int(0), .int(1), .int(7), .int(-3)]),
      ("f", [.float(1), .float(2.5), .float(-0.0), .float(.nan)]),
      ("s", [.text("a"), .text("a,b"), .text("é😀"), .text("")]),
      ("y", [.bytes([]), .bytes([1, 255])]), ("t", [.timestamp(-1), .timestamp(1_700_000_000_000_000_000)]),
      ("l", [.list([.int(1), .float(1)]), .list([]), .list([.list([.float(1)]), .text("a")])]),
      (
        "m",
        [
          .map(NaiveMap([("a", .int(1)), ("b", .map(NaiveMap([("c", .int(1))])))])),
          .map(NaiveMap([("a", .float(1)), ("b", .map(NaiveMap([("c", .float(1))])))])), .map(NaiveMap()),
        ]
      ),
      ("none", [.null]),
    ]
    for (name, choices) in values where !random.oneIn(7) {
      map[name.naive] = random.oneIn(12) ? random.pick(random.pick(values).1) : random.pick(choices)
    }
    return map
  }
}
