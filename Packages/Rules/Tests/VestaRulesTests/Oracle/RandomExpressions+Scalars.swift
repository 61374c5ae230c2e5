import VestaTesting

/// Booleans, numbers and strings.
extension RandomExpressions {
  mutating func bool(_ depth: Int) -> NaiveExpression {
    switch random.below(14) {
    case 0, 1: return .binary("&&", of(.bool, depth), of(.bool, depth))
    case 2, 3: return .binary("||", of(.bool, depth), of(.bool, depth))
    case 4: return .not(of(.bool, depth))
    case 5, 6:
      let kind = random.pick(Kind.allCases)
      let isMixed = random.oneIn(4) && [.int, .float].contains(kind)
      return .binary(random.pick(["==", "!="]), of(kind, depth), of(isMixed ? .float : kind, depth))
    case 7, 8:
      let kind = random.pick([Kind.int, .float, .string, .bytes, .timestamp, .duration])
      let other = kind == .int && random.oneIn(3) ? Kind.float : kind
      return .binary(random.pick(["<", "<=", ">", ">="]), of(kind, depth), of(other, depth))
    case 9: return .binary("in", any(depth), of(random.pick([.list, .set, .map]), depth))
    case 10:
      let types = [
        "bool", "int", "float", "number", "string", "bytes", "timestamp", "duration", "latlng", "path", "list", "map",
      ]
      return .isType(any(depth), random.pick(types))
    case 11:
      let own = of(random.pick([.list, .set]), depth)
      return .method(own, random.pick(["hasAll", "hasAny", "hasOnly"]), [of(random.pick([.list, .set]), depth)])
    case 12:
      var patterns = RandomPatterns(random: random)
      let pattern = patterns.pattern(3, mayBeEmpty: true)
      random = patterns.random
      return .matching(of(.string, depth), "matches", pattern, [])
    default:
      return random.oneIn(3)
        ? .call("math.isNaN", [of(random.pick([.int, .float]), depth)])
        : .call("exists", [random.oneIn(8) ? any(depth) : documentPath(depth)])
    }
  }

  mutating func int(_ depth: Int) -> NaiveExpression {
    switch random.below(9) {
    case 0, 1: return .binary(random.pick(["+", "-", "*", "/", "%"]), of(.int, depth), of(.int, depth))
    case 2: return .negate(of(.int, depth))
    case 3: return .method(of(random.pick([.string, .list, .map, .set, .bytes]), depth), "size", [])
    case 4: return .call(free("int", "float"), [of(random.pick([.int, .float, .string]), depth)])
    case 5:
      let part = random.pick([
        "day", "dayOfWeek", "dayOfYear", "hours", "minutes", "seconds", "nanos", "month", "year", "toMillis",
      ])
      return .method(of(.timestamp, depth), part, [])
    case 6: return .method(of(.duration, depth), random.pick(["seconds", "nanos"]), [])
    case 7: return .index(.list([of(.int, depth), of(.int, depth)]), of(.int, 0))
    default: return .call(random.pick(["math.abs", "math.round"]), [of(random.pick([.int, .float]), depth)])
    }
  }

  mutating func float(_ depth: Int) -> NaiveExpression {
    switch random.below(5) {
    case 0:
      return .binary(
        random.pick(["+", "-", "*", "/", "%"]), of(.float, depth), of(random.pick([.int, .float]), depth))
    case 1: return .negate(of(.float, depth))
    case 2: return .call("float", [of(random.pick([.int, .float, .string]), depth)])
    case 3: return .method(of(.latlng, depth), random.pick(["latitude", "longitude"]), [])
    default:
      let name = random.pick(["math.ceil", "math.floor", "math.sqrt", "math.pow", "math.abs"])
      return .call(name, (0..<(name == "math.pow" ? 2 : 1)).map { _ in of(.float, depth) })
    }
  }

  mutating func string(_ depth: Int) -> NaiveExpression {
    switch random.below(8) {
    case 0: return .binary("+", of(.string, depth), of(.string, depth))
    case 1: return .method(of(.string, depth), random.pick(["lower", "upper", "trim"]), [])
    case 2: return .call("string", [of(random.pick([.int, .float, .bool, .string, .path, .map]), depth)])
    case 3: return .method(of(.list, depth), "join", [of(.string, 0)])
    case 4: return .index(of(random.pick([.string, .path]), depth), of(.int, 0))
    case 5: return .slice(of(.string, depth), leaf(.int), of(.int, 0))
    case 6: return .method(of(.bytes, depth), random.pick(["toBase64", "toHexString"]), [])
    default:
      var patterns = RandomPatterns(random: random)
      let pattern = patterns.pattern(2, mayBeEmpty: false)
      random = patterns.random
      return .matching(of(.string, depth), "replace", pattern, [of(.string, 0)])
    }
  }
}
