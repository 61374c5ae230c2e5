import VestaFirestoreBackend
import VestaTesting

/// Values that are made to be nearly alike: few distinct ones of each type, at the edges of their ranges.
enum Generate {
  static let integers: [Int64] = [
    0, 1, -1, 2, .min, .max, .min + 1, .max - 1, 1 << 53, 1 << 53 + 1, 1 << 53 - 1, -(1 << 53), -(1 << 53) - 1,
    1 << 62, 1 << 62 + 1, 1 << 62 - 1, 1 << 62 + 511, 1 << 62 + 512, 1 << 62 + 513, -(1 << 62) - 1, 255, 256,
  ]
  static let doubles: [Double] = [
    0, -0.0, 1, -1, 1.5, -1.5, .nan, .infinity, -.infinity, 0x1p53, 0x1p53 + 2, -0x1p53, 0x1p62, 0x1p63, -0x1p63,
    0x1p63.nextDown, (-0x1p63).nextDown, 0x1p64, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 0.1, 2, 255.5,
    .greatestFiniteMagnitude, 0x1p62.nextUp,
  ]
  static let texts = [
    "", "a", "aa", "ab", "b", "\0", "\0\0", "a\0", "a\0b", "\u{1}", "\u{FF}", "a\u{FF}", "\u{FFFF}", "\u{10000}",
    "\u{E9}", "e\u{301}", "__id1__", "__id10__", "__id9__", "__id-1__", "__id01__", "__id__", "é", "z", "~",
  ]

  static func value(_ random: inout SplitMix, depth: Int = 0) -> Value {
    switch random.below(depth > 2 ? 9 : 12) {
    case 0: return random.pick([.null, .boolean(false), .boolean(true)])
    case 1: return .integer(random.below(4) == 0 ? Int64(bitPattern: random.next()) : random.pick(integers))
    case 2: return .double(random.below(4) == 0 ? Double(bitPattern: random.next()) : random.pick(doubles))
    case 3: return near(&random)
    case 4: return .timestamp(Timestamp(seconds: random.pick([-1, 0, 1, 1 << 32]), nanos: random.pick([0, 1, 999])))
    case 5: return .string(text(&random))
    case 6: return .bytes(Array(text(&random).utf8) + random.pick([[], [0], [0xFF], [0, 0xFF], [0, 1]]))
    case 7: return .reference(name(&random))
    case 8: return .geoPoint(GeoPoint(latitude: random.pick(doubles), longitude: random.pick(doubles)))
    case 9: return .array((0..<random.below(4)).map { _ in value(&random, depth: depth + 1) })
    case 10: return .vector((0..<random.below(4)).map { _ in random.pick(doubles) })
    default: return .map(map(&random, depth: depth + 1))
    }
  }

  static func map(_ random: inout SplitMix, depth: Int = 0) -> MapValue {
    MapValue((0..<random.below(4)).map { _ in (random.pick(texts), value(&random, depth: depth)) })
  }

  /// A number next to one at an edge, as an integer or a double.
  private static func near(_ random: inout SplitMix) -> Value {
    let base = random.pick(integers) &+ Int64(random.below(5) - 2)
    return random.below(2) == 0 ? .integer(base) : .double(Double(base))
  }

  private static func text(_ random: inout SplitMix) -> String {
    random.below(3) == 0 ? random.pick(texts) + random.pick(texts) : random.pick(texts)
  }

  static func name(_ random: inout SplitMix) -> String {
    let ids = ["a", "b", "__id1__", "__id10__", "__id9__", "__id-3__", "a\0", "é", "zz"]
    let pairs = (0...random.below(2)).map { _ in "\(random.pick(["c", "d"]))/\(random.pick(ids))" }
    return "projects/p/databases/(default)/documents/" + pairs.joined(separator: "/")
  }
}

/// The sign of a comparison.
func sign(_ order: Int) -> Int { order.signum() }
