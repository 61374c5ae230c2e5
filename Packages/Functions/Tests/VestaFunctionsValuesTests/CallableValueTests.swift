import Foundation
import Testing
import VestaBytes
import VestaFunctionsValues
import VestaTesting

@Suite struct CallableValueTests {
  static let int64 = "type.googleapis.com/google.protobuf.Int64Value"
  static let uint64 = "type.googleapis.com/google.protobuf.UInt64Value"

  @Test func `integers of 64 bits are wrapped, smaller ones are plain`() throws {
    #expect(try CallableValue.encode(5) == ["@type": .string(Self.int64), "value": "5"])
    #expect(try CallableValue.encode(Int64.min) == ["@type": .string(Self.int64), "value": "-9223372036854775808"])
    #expect(try CallableValue.encode(UInt(5)) == ["@type": .string(Self.uint64), "value": "5"])
    #expect(try CallableValue.encode(UInt64.max) == ["@type": .string(Self.uint64), "value": "18446744073709551615"])
    #expect(try CallableValue.encode(Int32(5)) == 5)
    #expect(try CallableValue.encode(Int16(-5)) == -5)
    #expect(try CallableValue.encode(Int8(5)) == 5)
    #expect(try CallableValue.encode(UInt32.max) == 4_294_967_295)
    #expect(try CallableValue.encode(UInt8(5)) == 5)
  }

  @Test func `plain values stay plain`() throws {
    #expect(try CallableValue.encode(nil) == .null)
    #expect(try CallableValue.encode(NSNull()) == .null)
    #expect(try CallableValue.encode(Optional<Int>.none as Any) == .null)
    #expect(try CallableValue.encode(true) == true)
    #expect(try CallableValue.encode(1.5) == 1.5)
    #expect(try CallableValue.encode(Float(1.5)) == 1.5)
    #expect(try CallableValue.encode("ü") == "ü")
  }

  @Test func `Foundation's numbers go by the type that they were made of`() throws {
    #expect(try CallableValue.encode(NSNumber(value: true)) == true)
    #expect(try CallableValue.encode(NSNumber(value: 1.5)) == 1.5)
    #expect(try CallableValue.decode(CallableValue.encode(NSNumber(value: Int32(7)))) as? Int == 7)
    #expect(try CallableValue.encode(NSNumber(value: Int64(7))) == ["@type": .string(Self.int64), "value": "7"])
  }

  /// Arrays or objects in one another; the innermost is a value, or an empty array or object.
  private indirect enum Nest: Encodable {
    case value, emptyArray, emptyObject
    case array(Nest)
    case object(Nest)

    init(levels: Int, of outer: (Nest) -> Nest, leaf: Nest = .value) {
      self = (1..<levels).reduce(leaf) { nest, _ in outer(nest) }
    }

    func encode(to encoder: any Encoder) throws {
      switch self {
      case .value:
        var container = encoder.singleValueContainer()
        try container.encode(true)
      case .emptyArray: try [Bool]().encode(to: encoder)
      case .emptyObject: try [String: Bool]().encode(to: encoder)
      case .array(let inner):
        var container = encoder.unkeyedContainer()
        // The deepest element decides.
        try container.encode(true)
        try container.encode(inner)
        try container.encode(true)
      case .object(let inner): try ["a": Nest.value, "k": inner, "z": Nest.value].encode(to: encoder)
      }
    }
  }

  @Test func `the levels of what is encoded are counted by the deepest value`() throws {
    let (deepest, coders) = (CallableValue.maximumDepth, SharedCoders())
    for outer in [Nest.array, Nest.object] {
      for leaf in [Nest.value, .emptyArray, .emptyObject] {
        _ = try coders.encoded(Nest(levels: deepest, of: outer, leaf: leaf))
        #expect(throws: CallableValue.Failure.self) {
          try coders.encoded(Nest(levels: deepest + 1, of: outer, leaf: leaf))
        }
      }
    }
  }

  @Test func `values nest two hundred levels, and no more, by every way`() throws {
    func json(_ levels: Int) -> JSONValue { (1..<levels).reduce(JSONValue.bool(true)) { nest, _ in .array([nest]) } }
    func plain(_ levels: Int) -> Any { (1..<levels).reduce(true as Any) { nest, _ in [nest] } }
    func object(_ levels: Int) -> JSONValue {
      (1..<levels).reduce(JSONValue.bool(true)) { nest, _ in .object(["k": nest]) }
    }
    func dictionary(_ levels: Int) -> Any { (1..<levels).reduce(true as Any) { nest, _ in ["k": nest] } }
    let deepest = CallableValue.maximumDepth
    #expect(deepest == 200)
    #expect(try CallableValue.encode(dictionary(deepest)) == object(deepest))
    try CallableValue.check(object(deepest))
    _ = try CallableValue.decode(object(deepest))
    #expect(throws: CallableValue.Failure.self) { try CallableValue.encode(dictionary(deepest + 1)) }
    #expect(throws: CallableValue.Failure.self) { try CallableValue.check(object(deepest + 1)) }
    #expect(throws: CallableValue.Failure.self) { _ = try CallableValue.decode(object(deepest + 1)) }
    #expect(try CallableValue.encode(plain(deepest)) == json(deepest))
    try CallableValue.check(json(deepest))
    _ = try CallableValue.decode(json(deepest))
    let beyond = deepest + 1
    #expect(throws: CallableValue.Failure.self) { try CallableValue.encode(plain(beyond)) }
    #expect(throws: CallableValue.Failure.self) { try CallableValue.check(json(beyond)) }
    #expect(throws: CallableValue.Failure.self) { _ = try CallableValue.decode(json(beyond)) }
  }

  @Test func `values nest`() throws {
    let value: [String: Any] = ["a": [1, "x", NSNull(), [String: Any]()] as [Any], "b": ["c": true]]
    let wire = try CallableValue.encode(value)
    #expect(wire.object?["a"]?.array?.count == 4)
    #expect(wire.object?["a"]?.array?[0] == ["@type": .string(Self.int64), "value": "1"])
    #expect(wire.object?["b"] == ["c": true])
  }

  @Test func `an optional is its value, whatever it is of, and a null in it is null`() throws {
    #expect(try CallableValue.encode(Optional<NSNull>.some(NSNull()) as Any) == .null)
    #expect(try CallableValue.encode([Int]?.none as Any) == .null)
    #expect(try CallableValue.encode(Optional<NSNumber>.some(2.5) as Any) == .number(2.5))
    #expect(try CallableValue.encode(Int32?.some(5) as Any) == .integer(5))
    #expect(try CallableValue.encode([["a": Bool?.some(true)]] as [[String: Bool?]]) == [["a": true]])
  }

  @Test func `what has no wire form is named`() {
    #expect(throws: CallableValue.Failure.unsupportedType("Set<Int>")) { try CallableValue.encode([1] as Set) }
    #expect(throws: CallableValue.Failure.unsupportedType("Date")) { try CallableValue.encode(Date()) }
    #expect(throws: CallableValue.Failure.unsupportedType("Data")) { try CallableValue.encode(["a": Data()]) }
  }

  @Test func `wrapped integers are unwrapped, other types stay objects`() throws {
    #expect(try CallableValue.decode(CallableValue.wrapped(Int64.max)) as? Int == .max)
    #expect(try CallableValue.decode(CallableValue.wrapped(UInt64.max)) as? UInt == .max)
    let other = try CallableValue.decode(["@type": "other", "value": "5"]) as? [String: String]
    #expect(other == ["@type": "other", "value": "5"])
  }

  @Test(arguments: ["", "x", "1.5", "9223372036854775808", " 1"])
  func `a wrapped integer that is none is refused`(text: String) {
    #expect(throws: CallableValue.Failure.failedToParseWrappedNumber(text)) {
      try CallableValue.decode(["@type": .string(Self.int64), "value": .string(text)])
    }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity]) func `numbers that are not finite are refused`(number: Double) {
    let all: [Any] = [number, Float(number), NSNumber(value: number), ["a": [number]], [NSNumber(value: number)]]
    for value in all { #expect(throws: CallableValue.Failure.notFinite) { try CallableValue.encode(value) } }
    #expect(throws: CallableValue.Failure.notFinite) { try CallableValue.check([.number(number)]) }
  }

  @Test func `a check finds what decoding would refuse, and nothing else`() throws {
    var random = SplitMix(seed: 0xC4EC)
    for _ in 0..<500 {
      var wire = Self.wire(&random, depth: 0)
      try CallableValue.check(wire)
      if random.oneIn(2) { wire = [wire, ["@type": .string(Self.uint64), "value": "-1"]] }
      let decodes = (try? CallableValue.decode(wire)) != nil
      #expect(((try? CallableValue.check(wire)) != nil) == decodes)
    }
    try CallableValue.check(["@type": .string(Self.int64), "value": 5])
    try CallableValue.check(["@type": "other", "value": "x"])
  }

  @Test func `values nested too deeply are refused, not a crash`() {
    var deep: Any = 1.0
    var wire: JSONValue = 1
    for _ in 0..<100_000 {
      deep = [deep]
      wire = .array([wire])
    }
    #expect(throws: CallableValue.Failure.tooDeep) { try CallableValue.encode(deep) }
    #expect(throws: CallableValue.Failure.tooDeep) { try CallableValue.decode(wire) }
    // Taken apart level by level: freeing it at once would need as much stack.
    while let inner = (deep as? [Any])?.first { deep = inner }
    while case .array(let elements) = wire, let inner = elements.first { wire = inner }
  }

  @Test func `what was encoded is decoded to the same value`() throws {
    var random = SplitMix(seed: 0xF00D)
    for _ in 0..<500 {
      let wire = Self.wire(&random, depth: 0)
      #expect(try CallableValue.encode(try CallableValue.decode(wire)) == wire)
    }
  }

  /// A random wire value of the forms that encoding writes for what decoding returns.
  private static func wire(_ random: inout SplitMix, depth: Int) -> JSONValue {
    switch random.below(depth > 3 ? 6 : 8) {
    case 0: return .null
    case 1: return .bool(random.oneIn(2))
    case 2: return CallableValue.wrapped(Int64(bitPattern: random.next()))
    case 3: return CallableValue.wrapped(random.next())
    case 4: return .number(Double(random.below(1000)) / 8)
    case 5: return .string(String(random.next(), radix: 36))
    case 6: return .array((0..<random.below(4)).map { _ in wire(&random, depth: depth + 1) })
    default:
      // One member: dictionaries have no order.
      return random.oneIn(4) ? [:] : .object(["k": wire(&random, depth: depth + 1)])
    }
  }
}
