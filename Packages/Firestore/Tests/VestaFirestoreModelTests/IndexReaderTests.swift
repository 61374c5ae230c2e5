import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreModel

/// Reads the bytes that an `IndexEncoder` writes: the length of each value, and its number.
@Suite struct IndexReaderTests {
  private static let numbers = Generate.integers.map(Value.integer) + Generate.doubles.map(Value.double)

  private func bytes(_ values: [Value], descending: [Bool]) -> [UInt8] {
    var encoder = IndexEncoder()
    for (value, descending) in zip(values, descending) { encoder.append(value, descending: descending) }
    return encoder.bytes
  }

  @Test(arguments: 1...4) func `each value ends where the next one begins, in either direction`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    for round in 0..<2_000 {
      let values = (0...random.below(3)).map { _ in Generate.value(&random) }
        .filter { !IndexEncoder.truncates($0) }
      let descending = values.map { _ in random.oneIn(2) }
      let whole = bytes(values, descending: descending)
      var reader = IndexReader([0xEE] + whole + [0xEE], from: 1)
      for count in values.indices {
        let isWhole = reader.skip(descending: descending[count])
        #expect(isWhole, "seed \(seed), round \(round)")
        let length = bytes(Array(values[...count]), descending: descending).count
        #expect(reader.position == 1 + length, "seed \(seed), round \(round): \(values[count])")
      }
    }
  }

  @Test func `a value that is cut is no value`() {
    var random = SplitMix(seed: 5)
    for round in 0..<500 {
      let value = Generate.value(&random)
      if IndexEncoder.truncates(value) { continue }
      for descending in [false, true] {
        let whole = bytes([value], descending: [descending])
        for length in 0..<whole.count {
          var reader = IndexReader(Array(whole[..<length]))
          let isWhole = reader.skip(descending: descending)
          #expect(!isWhole, "round \(round): \(length) bytes of \(value)")
          reader = IndexReader(Array(whole[..<length]))
          let number = reader.number(descending: descending, isDouble: false)
          #expect(number == nil, "round \(round): \(length) bytes of \(value)")
        }
      }
    }
  }

  @Test(arguments: [false, true]) func `numbers are read as they were written`(descending: Bool) {
    for value in Self.numbers {
      let isDouble = if case .double = value { true } else { false }
      let whole = bytes([value, .string("x")], descending: [descending, false])
      var reader = IndexReader(whole)
      let number = reader.number(descending: descending, isDouble: isDouble)
      #expect(number.map { ValueOrder.compare($0, value) } == 0, "\(value) came back as \(String(describing: number))")
      switch (number, value) {
      case (.integer?, .integer), (.double?, .double): break
      default: Issue.record("\(value) came back as \(String(describing: number))")
      }
      let isFollowed = reader.skip(descending: false)
      #expect(isFollowed && reader.position == whole.count, "\(value)")
    }
  }

  @Test func `what is no number is read as null`() {
    for value in Self.classes where ValueClass(of: value) != .number {
      var reader = IndexReader(bytes([value, .integer(7)], descending: [false, false]))
      let numbers = [false, false].map { reader.number(descending: false, isDouble: $0) }
      #expect(numbers == [.null, .integer(7)], "\(value)")
    }
  }

  /// A value of each class that has a separate order.
  private static let classes: [Value] = [
    .null, .boolean(false), .boolean(true), .integer(3), .double(-1.5),
    .timestamp(Timestamp(seconds: 1, nanos: 2)), .string("a"), .bytes([1]),
    .reference("projects/p/databases/(default)/documents/c/d"), .geoPoint(GeoPoint(latitude: 1, longitude: 2)),
    .array([.integer(1)]), .vector([1, 2]), .map(MapValue([("a", .integer(1))])),
  ]

  @Test func `a range filter looks at the values of its operand's class alone`() {
    for operand in Self.classes {
      let tags = IndexEncoder.tags(besides: operand)
      for value in Self.classes {
        let isSame = ValueClass(of: value) == ValueClass(of: operand)
        #expect(tags.contains(IndexEncoder.encode(value)[0]) == isSame, "\(operand) and \(value)")
      }
      #expect(!tags.contains(IndexEncoder.encode(.double(.nan))[0]), "\(operand)")
    }
    let besidesNaN = IndexEncoder.tags(besides: .double(.nan))
    #expect(besidesNaN.contains(IndexEncoder.encode(.double(.nan))[0]))
    #expect(besidesNaN.contains(IndexEncoder.encode(.integer(1))[0]))
  }
}
