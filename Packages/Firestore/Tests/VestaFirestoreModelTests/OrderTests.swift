import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreModel

@Suite struct OrderTests {
  static let seed: UInt64 = 20_261_121

  #if DEBUG
    static let pairs = 150_000
  #else
    static let pairs = 3_000_000
  #endif

  @Test func `the order of bytes is the order of values`() {
    var random = SplitMix(seed: Self.seed)
    for round in 0..<Self.pairs {
      let (left, right) = (Generate.value(&random), Generate.value(&random))
      let expected = sign(ValueOrder.compare(left, right))
      let ascending = sign(UTF8Order.compare(bytes: IndexEncoder.encode(left), IndexEncoder.encode(right)))
      guard ascending == expected else {
        Issue.record("seed \(Self.seed), round \(round): \(left) and \(right) give \(ascending), not \(expected)")
        return
      }
    }
  }

  @Test func `descending and followed values keep their order`() {
    var random = SplitMix(seed: Self.seed + 1)
    for round in 0..<Self.pairs / 4 {
      let values = (0..<4).map { _ in Generate.value(&random) }
      let first = ValueOrder.compare(values[0], values[2])
      let expected = first != 0 ? -first : ValueOrder.compare(values[1], values[3])
      let (left, right) = (Self.key(values[0], values[1]), Self.key(values[2], values[3]))
      guard sign(UTF8Order.compare(bytes: left, right)) == sign(expected) else {
        Issue.record("seed \(Self.seed + 1), round \(round): \(values)")
        return
      }
    }
  }

  private static func key(_ first: Value, _ second: Value) -> [UInt8] {
    var encoder = IndexEncoder()
    encoder.append(first, descending: true)
    encoder.append(second)
    return encoder.bytes
  }

  @Test func `no encoding begins another`() {
    var random = SplitMix(seed: Self.seed + 2)
    for round in 0..<Self.pairs / 4 {
      let left = IndexEncoder.encode(Generate.value(&random))
      let right = IndexEncoder.encode(Generate.value(&random))
      guard left == right || !(left.starts(with: right) || right.starts(with: left)) else {
        Issue.record("seed \(Self.seed + 2), round \(round): \(left) and \(right)")
        return
      }
    }
  }

  @Test func `names are ordered by their segments`() {
    var random = SplitMix(seed: Self.seed + 5)
    let parts = ["a", "b", "/", "/", "__id", "7", "07", "__", "_", "-", ".", "é", "aa", "/a/"]
    func name() -> String {
      (0..<Int.random(in: 0...6, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
    }
    for _ in 0..<Self.pairs / 2 {
      let shared = name()
      let (left, right) = (shared + name(), shared + name())
      let expected = ResourcePath(splitting: left).compare(ResourcePath(splitting: right))
      guard sign(ValueOrder.compare(references: left, right)) == sign(expected) else {
        Issue.record("\(left) and \(right) give \(ValueOrder.compare(references: left, right)), not \(expected)")
        return
      }
    }
  }

  @Test func `the order is total`() {
    var random = SplitMix(seed: Self.seed + 3)
    for round in 0..<Self.pairs / 5 {
      let values = (0..<3).map { _ in Generate.value(&random) }
      let (first, second) = (ValueOrder.compare(values[0], values[1]), ValueOrder.compare(values[1], values[2]))
      let third = ValueOrder.compare(values[0], values[2])
      let isTransitive = !(first <= 0 && second <= 0) || third <= 0
      let isSymmetric = sign(first) == -sign(ValueOrder.compare(values[1], values[0]))
      guard isTransitive, isSymmetric, ValueOrder.compare(values[0], values[0]) == 0 else {
        Issue.record("seed \(Self.seed + 3), round \(round): \(values)")
        return
      }
    }
  }

  @Test func `cut values never change places`() {
    var random = SplitMix(seed: Self.seed + 4)
    var cuts = 0
    for round in 0..<2000 {
      let (left, right) = (Self.long(&random), Self.long(&random))
      let expected = sign(ValueOrder.compare(left, right))
      let order = sign(UTF8Order.compare(bytes: IndexEncoder.encode(left), IndexEncoder.encode(right)))
      let isCut = IndexEncoder.truncates(left) || IndexEncoder.truncates(right)
      cuts += isCut && order == 0 && expected != 0 ? 1 : 0
      guard order == expected || isCut && order == 0 else {
        Issue.record("seed \(Self.seed + 4), round \(round): \(order), not \(expected)")
        return
      }
    }
    #expect(cuts > 0, "seed \(Self.seed + 4)")
  }

  /// A value around the length at which it is cut.
  private static func long(_ random: inout SplitMix) -> Value {
    let text =
      String(repeating: random.pick(["a", "\0"]), count: 1490 + random.below(20)) + random.pick(Generate.texts)
    switch random.below(5) {
    case 0: return .string(text)
    case 1: return .bytes(Array(text.utf8))
    case 2: return .array([.string(text), Generate.value(&random, depth: 3)])
    case 3: return .map([random.pick(["a", text]): .string(text), "z": Generate.value(&random, depth: 3)])
    default: return .array((0..<(185 + random.below(5))).map { .integer(Int64($0 / 186)) })
    }
  }

  @Test func `numbers of both kinds compare exactly`() {
    let ascending: [Value] = [
      .double(.nan), .double(-.infinity), .double((-0x1p63).nextDown), .integer(.min), .integer(.min + 1),
      .double(-0x1p53 - 2), .integer(-(1 << 53) - 1), .integer(-(1 << 53)), .double(-1.5), .integer(-1), .integer(0),
      .double(.leastNonzeroMagnitude), .integer(1), .double(1.5), .double(0x1p53), .integer(1 << 53 + 1),
      .double(0x1p53 + 2), .double(0x1p63.nextDown), .integer(.max), .double(0x1p63), .double(.infinity),
    ]
    expectAscending(ascending)
    #expect(ValueOrder.equal(.integer(0), .double(-0.0)))
    #expect(ValueOrder.equal(.integer(.min), .double(-0x1p63)))
    #expect(ValueOrder.equal(.double(.nan), .double(-.nan)))
  }

  @Test func `types are in the order of the service`() {
    let database = "projects/p/databases/d/documents"
    expectAscending([
      .null, .boolean(false), .boolean(true), .double(.nan), .integer(5), .timestamp(Timestamp(seconds: 9)),
      .pendingServerTimestamp(writeTime: Timestamp(seconds: 1), previous: nil),
      .pendingServerTimestamp(writeTime: Timestamp(seconds: 2), previous: .null), .string(""), .string("\u{FFFF}"),
      .string("\u{10000}"), .bytes([]), .bytes([0]), .reference("\(database)/c/__id-3__"),
      .reference("\(database)/c/__id9__"), .reference("\(database)/c/__id10__"), .reference("\(database)/c/A"),
      .reference("\(database)/c/A/d/x"), .reference("\(database)/c/a"), .geoPoint(GeoPoint(latitude: 0, longitude: 1)),
      .geoPoint(GeoPoint(latitude: 1, longitude: 0)), .array([]), .array([.null]), .array([.integer(1)]),
      .array([.integer(1), .null]), .array([.integer(2)]), .vector([9]), .vector([1, 2]), .vector([1, 3]), .map([:]),
      .map(["a": .integer(1)]), .map(["a": .integer(1), "b": .null]), .map(["a": .integer(2)]), .map(["b": .null]),
    ])
  }

  private func expectAscending(_ values: [Value]) {
    for (left, right) in zip(values, values.dropFirst()) {
      #expect(ValueOrder.compare(left, right) < 0, "\(left) before \(right)")
      #expect(UTF8Order.compare(bytes: IndexEncoder.encode(left), IndexEncoder.encode(right)) < 0)
    }
  }

  @Test func `pending server times keep the value from before all writes`() {
    let time = Timestamp(seconds: 1)
    let first = Value.pendingServerTimestamp(writeTime: time, previous: .integer(7))
    let second = Value.pendingServerTimestamp(writeTime: Timestamp(seconds: 2), previous: first)
    #expect(second.pendingPreviousValue == .integer(7))
    #expect(Value.map(["__type__": .string("server_timestamp")]).pendingWriteTime == nil)
  }
}
