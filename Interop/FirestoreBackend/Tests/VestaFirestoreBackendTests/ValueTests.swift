import Testing
import VestaFirestoreBackend
import VestaTesting

@Suite struct ValueTests {
  @Test func `strings are equal by their bytes`() {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    #expect(composed == decomposed)
    #expect(Value.string(composed) != Value.string(decomposed))
    #expect(Value.reference(composed) != Value.reference(decomposed))
    #expect(Document(name: composed) != Document(name: decomposed))
    let map: MapValue = [composed: .integer(1), decomposed: .integer(2)]
    #expect(map.count == 2)
    #expect(map[composed] == .integer(1) && map[decomposed] == .integer(2))
  }

  @Test func `numbers are equal by kind and bits`() {
    #expect(Value.integer(1) != .double(1))
    #expect(Value.double(0) != .double(-0.0))
    #expect(Value.double(.nan) == .double(-Double.nan))
    #expect(Set([Value.double(.nan), .double(Double(nan: 7, signaling: false))]).count == 1)
    #expect(GeoPoint(latitude: 0, longitude: .nan) == GeoPoint(latitude: 0, longitude: -Double.nan))
  }

  @Test func `maps keep their names in the order of bytes`() {
    // In UTF-16 the last name would precede the one with U+FFFF.
    let map: MapValue = ["\u{1F600}": .null, "b": .null, "\u{FFFF}": .null, "": .null, "ab": .null, "a": .null]
    #expect(map.map(\.name) == ["", "a", "ab", "b", "\u{FFFF}", "\u{1F600}"])
  }

  @Test func `a map sets, replaces and removes its entries`() {
    var map: MapValue = ["a": .integer(1), "a": .integer(2)]
    #expect(map == ["a": .integer(2)])
    map["c"] = .integer(3)
    map["b"] = .integer(4)
    map["a"] = nil
    map["z"] = nil
    #expect(map == ["b": .integer(4), "c": .integer(3)])
    #expect(map.hashValue == MapValue([("c", .integer(3)), ("b", .integer(4))]).hashValue)
  }

  @Test func `a map of entries in any order is the one that is made entry by entry`() {
    var random = SplitMix(seed: 11)
    for _ in 0..<200 {
      let entries = (0..<random.below(30)).map { (String(random.below(12)), Value.integer(Int64($0))) }
      var expected = MapValue()
      for (name, value) in entries { expected[name] = value }
      #expect(MapValue(entries) == expected)
      #expect(MapValue(names: entries.map(\.0), values: entries.map(\.1)) == expected)
    }
    #expect(MapValue(names: ["b", "a", "c"], values: [.null, .null]) == ["a": .null, "b": .null])
    // In descending order each would be before all others: entry by entry this takes minutes.
    let many = (0..<200_000).reversed().map { (String(1_000_000 + $0), Value.null) }
    #expect(MapValue(many).count == many.count)
  }

  @Test func `a vector is a map with a mark`() {
    #expect(Value.vector([1, 2]).vectorElements == [.double(1), .double(2)])
    #expect(Value.map(["__type__": .string("__vector__")]).vectorElements == nil)
    #expect(Value.map(["__type__": .string("other"), "value": .array([])]).vectorElements == nil)
    #expect(Value.array([]).vectorElements == nil)
  }

  @Test(
    arguments: [
      (-1, Timestamp(seconds: -1, nanos: 999_999_000)), (0, Timestamp(seconds: 0)),
      (1_500_000, Timestamp(seconds: 1, nanos: 500_000_000)), (-2_000_000, Timestamp(seconds: -2)),
      (.min, Timestamp(seconds: -9_223_372_036_855, nanos: 224_192_000)),
    ] as [(Int64, Timestamp)])
  func `microseconds go there and back`(microseconds: Int64, timestamp: Timestamp) {
    #expect(Timestamp(microseconds: microseconds) == timestamp)
    if microseconds != .min { #expect(timestamp.microseconds == microseconds) }
  }

  @Test func `timestamps beyond the range have no microseconds`() {
    #expect(Timestamp(seconds: .max).microseconds == nil)
    #expect(Timestamp(seconds: 1, nanos: 42).description == "1.000000042")
  }
}
