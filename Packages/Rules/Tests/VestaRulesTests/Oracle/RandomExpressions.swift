import VestaTesting

/// Makes expressions that mostly have values: each is made for a type, and now and then one of another type is put in
/// its place.
struct RandomExpressions {
  enum Kind: CaseIterable {
    case bool, int, float, string, bytes, timestamp, duration, latlng, path, list, map, set, mapDiff
  }

  var random: SplitMix
  /// The names of parameters, variables and captures that may be used.
  var names: [String] = []
  /// The functions that may be called, with the numbers of their parameters.
  var functions: [(name: String, parameters: Int)] = []
  /// The names that must not be called.
  var hidden: [String] = []

  private static let strings = [
    "", "a", "b", "a,b", "B a", " 7 ", "é😀", "1.5", "1e3", ".5", "5.", "1.5f", "2d", "0x1p3", "NaN", "Infinity", "inf",
    "12", "-7", "+7", "007", "1_000", "0x10", "null", "true", "d'\\\n\t", "n1",
  ]

  mutating func any(_ depth: Int) -> NaiveExpression { of(random.pick(Kind.allCases), depth) }

  mutating func of(_ kind: Kind, _ depth: Int) -> NaiveExpression {
    // A type that does not fit, a name of whatever type, or the call of a function.
    if random.oneIn(24) { return depth > 0 ? any(depth - 1) : .literal(.null) }
    if !names.isEmpty, random.oneIn(7) { return .name(random.pick(names)) }
    if depth > 0, !functions.isEmpty, random.oneIn(9) { return call(depth) }
    if depth > 0, random.oneIn(12) {
      return .conditional(of(.bool, depth - 1), of(kind, depth - 1), of(kind, depth - 1))
    }
    if depth <= 0 || random.oneIn(5) { return leaf(kind) }
    switch kind {
    case .bool: return bool(depth - 1)
    case .int: return int(depth - 1)
    case .float: return float(depth - 1)
    case .string: return string(depth - 1)
    case .timestamp, .duration: return time(kind, depth - 1)
    case .bytes, .latlng, .path: return other(kind, depth - 1)
    case .list, .map, .set, .mapDiff: return collection(kind, depth - 1)
    }
  }

  /// A built-in function, or another one where a function of its name must not be called.
  func free(_ name: String, _ other: String) -> String { hidden.contains(name) ? other : name }

  private mutating func call(_ depth: Int) -> NaiveExpression {
    let function = random.pick(functions)
    let count = random.oneIn(12) ? random.below(3) : function.parameters
    return .call(function.name, (0..<count).map { _ in any(min(depth - 1, 1)) })
  }

  /// A member of the document before or after, or of the caller.
  private mutating func field(_ name: String) -> NaiveExpression {
    if random.oneIn(8) { return .member(.member(.member(.name("request"), "auth"), "token"), name) }
    let root: NaiveExpression = random.oneIn(3) ? .member(.name("request"), "resource") : .name("resource")
    if random.oneIn(10) { return .index(.member(root, "data"), .literal(.text(name))) }
    if random.oneIn(16) { return .method(.member(root, "data"), "get", [.literal(.text(name)), leaf(.int)]) }
    return .member(.member(root, "data"), random.oneIn(30) ? "none" : name)
  }

  mutating func leaf(_ kind: Kind) -> NaiveExpression {
    switch kind {
    case .bool: return random.oneIn(2) ? field("b") : .literal(.bool(random.oneIn(2)))
    case .int: return random.oneIn(3) ? field("i") : .literal(.int(random.pick([0, 1, 2, 3, 7, -1, -7, .max, .min])))
    case .float:
      return random.oneIn(3) ? field("f") : .literal(.float(random.pick([0, 0.5, 1, 1.5, 2, -2.5, 1e7, 1e-4])))
    case .string:
      if random.oneIn(8) { return .member(.member(.name("request"), "auth"), "uid") }
      return random.oneIn(3) ? field("s") : .literal(.text(random.pick(Self.strings)))
    case .bytes: return random.oneIn(3) ? field("y") : .literal(.bytes(random.bytes(random.below(4))))
    case .timestamp: return random.oneIn(3) ? field("t") : .member(.name("request"), "time")
    case .duration:
      return .call("duration.value", [.literal(.int(Int64(random.below(9)) - 3)), .literal(.text(unit()))])
    case .latlng: return .call("latlng.value", [leaf(.int), leaf(.float)])
    case .path: return random.oneIn(3) ? .member(.name("request"), "path") : documentPath(0)
    case .list: return random.oneIn(2) ? field("l") : .list((0..<random.below(4)).map { _ in leaf(.int) })
    case .map: return random.oneIn(2) ? field("m") : .map([(.literal(.text("a")), leaf(.int))])
    case .set:
      guard random.oneIn(3) else { return .method(leaf(.list), "toSet", []) }
      // Numbers inside of elements, which sets compare by value.
      let number: NaiveExpression = .literal(random.oneIn(2) ? .int(1) : .float(1))
      return .method(.list([random.oneIn(2) ? .list([number]) : .map([(.literal(.text("a")), number)])]), "toSet", [])
    case .mapDiff:
      guard random.oneIn(2) else { return .method(leaf(.map), "diff", [leaf(.map)]) }
      let roots: [NaiveExpression] = [.member(.name("request"), "resource"), .name("resource")]
      let maps = roots.map { NaiveExpression.member($0, "data") }
      return .method(maps[0], "diff", [maps[1]])
    }
  }

  private mutating func unit() -> String {
    random.pick(["w", "d", "h", "m", "s", "ms", "ns", random.oneIn(9) ? "y" : "s"])
  }

  mutating func documentPath(_ depth: Int) -> NaiveExpression {
    let name: NaiveSegment =
      random.oneIn(2) ? .literal(random.pick(["n1", "n2", "n3"])) : .expression(of(.string, depth))
    let database: NaiveSegment = random.oneIn(2) ? .literal("(default)") : .expression(.name("database"))
    return .path([.literal("databases"), database, .literal("documents"), .literal("c"), name])
  }
}
