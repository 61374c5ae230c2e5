import VestaTesting

/// Times, bytes, places, paths and collections.
extension RandomExpressions {
  mutating func time(_ kind: Kind, _ depth: Int) -> NaiveExpression {
    if kind == .timestamp {
      switch random.below(4) {
      case 0: return .binary(random.pick(["+", "-"]), of(.timestamp, depth), of(.duration, depth))
      case 1: return .binary("+", of(.duration, depth), of(.timestamp, depth))
      case 2: return .method(of(.timestamp, depth), "date", [])
      default:
        let numbers: [Int64] = [
          random.pick([1969, 1970, 2000, 2024, 2100]), Int64(1 + random.below(12)), Int64(random.below(32)),
        ]
        return random.oneIn(2)
          ? .call("timestamp.date", numbers.map { .literal(.int($0)) }) : .call("timestamp.value", [of(.int, depth)])
      }
    }
    switch random.below(5) {
    case 0: return .binary(random.pick(["+", "-"]), of(.duration, depth), of(.duration, depth))
    case 1: return .binary("-", of(.timestamp, depth), of(.timestamp, depth))
    case 2: return .call("duration.abs", [of(.duration, depth)])
    case 3: return .call("duration.time", (0..<4).map { _ in of(.int, 0) })
    default: return .method(of(.timestamp, depth), "time", [])
    }
  }

  mutating func other(_ kind: Kind, _ depth: Int) -> NaiveExpression {
    switch kind {
    case .bytes:
      return random.oneIn(2)
        ? .method(of(.string, depth), "toUtf8", [])
        : .call(random.pick(["hashing.crc32", "hashing.crc32c"]), [of(random.pick([.string, .bytes]), depth)])
    case .latlng: return .call("latlng.value", [of(random.pick([.int, .float]), depth), of(.float, depth)])
    default:
      switch random.below(4) {
      case 0: return .call("path", [of(.string, depth)])
      case 1: return .slice(of(.path, depth), leaf(.int), of(.int, 0))
      case 2: return .path([.literal("a"), .expression(of(random.pick([.string, .path, .int]), depth))])
      default: return documentPath(depth)
      }
    }
  }

  mutating func collection(_ kind: Kind, _ depth: Int) -> NaiveExpression {
    switch (kind, random.below(6)) {
    case (.list, 0): return .method(of(.list, depth), random.pick(["concat", "removeAll"]), [of(.list, depth)])
    case (.list, 1): return .method(of(.map, depth), random.pick(["keys", "values"]), [])
    case (.list, 2): return .slice(of(.list, depth), leaf(.int), of(.int, 0))
    case (.list, 3):
      var patterns = RandomPatterns(random: random)
      let pattern = patterns.pattern(1, mayBeEmpty: false)
      random = patterns.random
      return .matching(of(.string, depth), "split", pattern, [])
    case (.list, _): return .list((0..<random.below(4)).map { _ in any(depth) })
    case (.map, 0): return .member(.call(free("get", "exists"), [documentPath(depth)]), random.oneIn(8) ? "id" : "data")
    case (.map, 1): return .method(of(.map, depth), "get", [.list([of(.string, 0), of(.string, 0)]), of(.map, depth)])
    case (.map, 2): return .member(.name("resource"), "data")
    case (.map, 3): return .member(.member(.name("request"), "resource"), "data")
    case (.map, _):
      return .map(
        (0..<random.below(3)).map { _ in
          (random.oneIn(3) ? of(.string, depth) : .literal(.text(random.pick(["a", "b", "i"]))), any(depth))
        })
    case (.set, 0), (.set, 1):
      return .method(of(.set, depth), random.pick(["union", "intersection", "difference"]), [of(.set, depth)])
    case (.set, 2), (.set, 3):
      let part = random.pick(["addedKeys", "removedKeys", "changedKeys", "affectedKeys", "unchangedKeys"])
      return .method(of(.mapDiff, depth), part, [])
    case (.set, _): return .method(of(.list, depth), "toSet", [])
    default: return .method(of(.map, depth), "diff", [of(.map, depth)])
    }
  }
}
