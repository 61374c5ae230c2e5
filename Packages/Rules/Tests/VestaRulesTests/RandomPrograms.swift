import VestaTesting

/// Makes conditions and functions of the part of the language that the tree walker knows.
struct RandomPrograms {
  var random: SplitMix
  /// The number of functions; each calls later ones only.
  let count = 4

  init(seed: UInt64) { random = SplitMix(seed: seed) }

  /// The declarations `p0` to `p3`, each with two parameters.
  mutating func functions(prefix: String = "p") -> String {
    (0..<count).map { index in
      let first = expression(3, names: ["a", "b"], from: index + 1, prefix)
      let second = expression(2, names: ["a", "b", "v"], from: index + 1, prefix)
      let result = expression(3, names: ["a", "b", "v", "w"], from: index + 1, prefix)
      return "function \(prefix)\(index)(a, b) { let v = \(first); let w = \(second); return \(result); }"
    }.joined(separator: "\n")
  }

  mutating func condition(prefix: String = "p") -> String { expression(4, names: [], from: 0, prefix) }

  mutating func expression(_ depth: Int, names: [String], from function: Int, _ prefix: String) -> String {
    func inner() -> String { expression(depth - 1, names: names, from: function, prefix) }
    if depth == 0 || random.oneIn(5) {
      let leaves = [
        "true", "false", "null", "0", "1", "7", "'a'", "'b'", "resource.data.n", "resource.data.s", "resource.data.x",
        "resource.data.t", "[1, 'a']", "unbound", "resource.data.list",
      ]
      return random.pick(leaves + names + names)
    }
    switch random.below(12) {
    case 0, 1: return "(\(inner()) && \(inner())\(random.oneIn(3) ? " && \(inner())" : ""))"
    case 2, 3: return "(\(inner()) || \(inner())\(random.oneIn(3) ? " || \(inner())" : ""))"
    case 4: return "!\(inner())"
    case 5: return "(\(inner()) ? \(inner()) : \(inner()))"
    case 6: return "(\(inner()) \(random.pick(["==", "!="])) \(inner()))"
    case 7: return "(\(inner()) in [\(inner()), \(inner())])"
    case 8: return "(resource.data.n \(random.pick(["+", "-", "*", "/"])) \(random.pick(["0", "1", "2"])))"
    case 9: return "\(inner()).size()"
    case 10: return "(\(inner()) is \(random.pick(["int", "bool", "string", "list", "null"])))"
    default:
      guard function < count else { return inner() }
      let callee = function + random.below(count - function)
      let arguments = random.oneIn(10) ? inner() : "\(inner()), \(inner())"
      return "\(prefix)\(callee)(\(arguments))"
    }
  }
}
