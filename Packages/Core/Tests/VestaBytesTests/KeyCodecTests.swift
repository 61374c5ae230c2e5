import Testing
import VestaBytes
import VestaTesting

@Suite struct KeyCodecTests {
  // A million in release; debug code is some ten times slower.
  #if DEBUG
    private static let rounds = 150_000
  #else
    private static let rounds = 1_000_000
  #endif

  private static let ascendingSamples: [KeyElement] = [
    .null, .bool(false), .bool(true),
    .int(.min), .int(.min + 1), .int(-65_537), .int(-65_536), .int(-65_535), .int(-257), .int(-256), .int(-255),
    .int(-1),
    .int(0), .int(1), .int(255), .int(256), .int(65_535), .int(65_536), .int(.max - 1), .int(.max),
    .double(.nan), .double(-.infinity), .double(-.greatestFiniteMagnitude), .double(-1),
    .double(-.leastNormalMagnitude),
    .double(-.leastNonzeroMagnitude), .double(0), .double(.leastNonzeroMagnitude), .double(1), .double(1.5),
    .double(.greatestFiniteMagnitude), .double(.infinity),
    .string(""), .string("\0"), .string("\0\0"), .string("\0\u{1}"), .string("\u{1}"), .string("a"), .string("a\0"),
    .string("a\0b"), .string("a\u{1}"), .string("aa"), .string("b"), .string("e\u{301}"), .string("\u{E9}"),
    .string("\u{FFFF}"), .string("\u{10000}"),
    .bytes([]), .bytes([0]), .bytes([0, 0]), .bytes([0, 1]), .bytes([0, 0xFF]), .bytes([1]), .bytes([0xFE]),
    .bytes([0xFF]), .bytes([0xFF, 0]), .bytes([0xFF, 0xFF]),
  ]

  @Test func `samples are ordered as they stand in both directions`() {
    let samples = Self.ascendingSamples
    for (left, right) in zip(samples, samples.dropFirst()) {
      #expect(left < right)
      #expect(key(left, .ascending).lexicographicallyPrecedes(key(right, .ascending)), "\(left) and \(right)")
      #expect(key(right, .descending).lexicographicallyPrecedes(key(left, .descending)), "\(left) and \(right)")
    }
  }

  @Test func `the format does not change`() {
    var encoder = KeyEncoder(
      .null, .bool(false), .bool(true), .int(0), .int(-1), .int(258), .double(1), .string("a\0b"))
    encoder.append(bytes: [0, 7], .descending)
    encoder.append(int: 5, .descending)
    let expected: [UInt8] = [
      1, 2, 3, 0x18, 0x17, 0xFE, 0x1A, 1, 2, 0x28, 0xBF, 0xF0, 0, 0, 0, 0, 0, 0, 0x30, 0x61, 0, 0xFF, 0x62, 0, 1,
      0xC7, 0xFF, 0, 0xF8, 0xFF, 0xFE, 0xE6, 0xFA,
    ]
    #expect(encoder.bytes == expected)
  }

  @Test func `both zeros and all NaNs are one key each`() {
    #expect(key(.double(-0.0), .ascending) == key(.double(0), .ascending))
    #expect(KeyElement.double(-0.0) == .double(0))
    #expect(key(.double(-.nan), .ascending) == key(.double(.signalingNaN), .ascending))
    #expect(KeyElement.double(.nan) == .double(-.nan))
    #expect(KeyElement.double(.nan).hashValue == KeyElement.double(-.nan).hashValue)
  }

  @Test func `random keys survive a round trip`() throws {
    var random = SplitMix(seed: 1)
    for round in 0..<Self.rounds / 4 {
      let elements = randomElements(&random)
      let key = encode(elements, directions: random.next())
      let decoded = try KeyDecoder.elements(of: key)
      guard decoded == elements else {
        Issue.record("seed 1, round \(round): \(elements) came back as \(decoded)")
        return
      }
    }
  }

  @Test func `the order of encodings is the order of the elements in mixed directions`() {
    var random = SplitMix(seed: 2)
    for round in 0..<Self.rounds {
      let left = randomElements(&random)
      let right = random.next() % 8 == 0 ? randomElements(&random) : neighbour(of: left, &random)
      let directions = random.next()
      let (leftKey, rightKey) = (encode(left, directions: directions), encode(right, directions: directions))
      let expected = order(left, right, directions: directions)
      let found = leftKey == rightKey ? 0 : leftKey.lexicographicallyPrecedes(rightKey) ? -1 : 1
      guard found == expected else {
        Issue.record("seed 2, round \(round): \(left) and \(right), directions \(directions)")
        return
      }
    }
  }

  @Test func `no element begins another so that a range holds its own keys only`() {
    var random = SplitMix(seed: 3)
    for round in 0..<Self.rounds / 4 {
      let left = randomElements(&random)
      let right = neighbour(of: left, &random)
      let directions = random.next()
      var prefix = KeyEncoder(continuing: encode(left, directions: directions))
      let isWithin = right.count >= left.count && Array(right[..<left.count]) == left
      guard prefix.range.contains(encode(right, directions: directions)) == isWithin else {
        Issue.record("seed 3, round \(round): \(right) in the range of \(left)")
        return
      }
      prefix.append(string: "below")
      #expect(KeyEncoder(continuing: encode(left, directions: directions)).range.contains(prefix.bytes))
    }
  }

  @Test func `hostile bytes are refused or read as the one key that they are`() {
    var random = SplitMix(seed: 4)
    for round in 0..<Self.rounds {
      let hostile = hostileBytes(&random)
      guard let elements = try? KeyDecoder.elements(of: hostile) else { continue }
      var again = KeyEncoder()
      var rest = KeyDecoder(hostile)
      for element in elements {
        let isDescending = (rest.rest.first ?? 0) > 0x7F
        again.append(element, isDescending ? .descending : .ascending)
        _ = try? rest.next()
      }
      guard again.bytes == hostile else {
        Issue.record("seed 4, round \(round): \(hostile) was read as \(elements), which is written \(again.bytes)")
        return
      }
    }
  }

  @Test func `every prefix of a key is refused or has fewer elements`() throws {
    let elements: [KeyElement] = [.int(-70_000), .string("a\0b"), .double(2.5), .bytes([0, 0xFF]), .bool(true), .null]
    for directions: UInt64 in [0, .max, 0b101010] {
      let key = encode(elements, directions: directions)
      for length in 0..<key.count {
        if let read = try? KeyDecoder.elements(of: Array(key[..<length])) {
          #expect(read == Array(elements[..<read.count]))
          #expect(read.count < elements.count)
        }
      }
    }
  }

  @Test func `a decoder that throws stays where it was`() throws {
    var decoder = KeyDecoder(KeyEncoder(.string("a"), .int(7)).bytes)
    #expect(throws: BytesError.self) { _ = try decoder.int() }
    #expect(try decoder.string() == "a")
    #expect(throws: BytesError.self) { _ = try decoder.bool() }
    #expect(try decoder.int() == 7)
    #expect(decoder.isAtEnd)
    let error = #expect(throws: BytesError.self) { _ = try decoder.bytes() }
    #expect(error?.code == .malformed)
    #expect(try decoder.next() == nil)
  }

  @Test func `the printer shows elements and what is none`() {
    var encoder = KeyEncoder(.string("rooms"), .int(-3), .double(1.5), .null, .bool(true), .bytes([0, 0xAB]))
    encoder.append(int: 9, .descending)
    #expect(encoder.description == #"("rooms", -3, 1.5, null, true, 0x00ab, ~9)"#)
    #expect(KeyPrinter.text(for: [0x18, 0x50, 0x51]) == "(0, ? 0x5051)")
    #expect(KeyPrinter.text(for: []) == "()")
    let long = KeyEncoder(.string(String(repeating: "x", count: 100_000)), .bytes([UInt8](repeating: 1, count: 9_000)))
    #expect(long.description.utf8.count < 300)
    let many = KeyEncoder(continuing: [UInt8](repeating: 0x18, count: 60_000))
    #expect(many.description.utf8.count < 4_000)
  }

  @Test func `the printer is total`() {
    var random = SplitMix(seed: 5)
    for _ in 0..<Self.rounds / 40 {
      let text = KeyPrinter.text(for: hostileBytes(&random))
      #expect(text.hasPrefix("(") && text.hasSuffix(")"))
    }
  }

  private func key(_ element: KeyElement, _ direction: KeyDirection) -> [UInt8] {
    var encoder = KeyEncoder()
    encoder.append(element, direction)
    return encoder.bytes
  }

  /// The key of elements whose directions are the bits of a number.
  private func encode(_ elements: [KeyElement], directions: UInt64) -> [UInt8] {
    var encoder = KeyEncoder()
    for (index, element) in elements.enumerated() {
      encoder.append(element, directions >> UInt64(index) & 1 == 0 ? .ascending : .descending)
    }
    return encoder.bytes
  }

  private func order(_ left: [KeyElement], _ right: [KeyElement], directions: UInt64) -> Int {
    for (index, (a, b)) in zip(left, right).enumerated() where a != b {
      return (a < b) == (directions >> UInt64(index) & 1 == 0) ? -1 : 1
    }
    return (left.count - right.count).signum()
  }

  private func randomElements(_ random: inout SplitMix) -> [KeyElement] {
    (0..<Int(random.next() % 4)).map { _ in randomElement(&random) }
  }

  private func randomElement(_ random: inout SplitMix) -> KeyElement {
    switch random.next() % 8 {
    case 0: Self.ascendingSamples[Int(random.next() % UInt64(Self.ascendingSamples.count))]
    case 1: .int(Int64(truncatingIfNeeded: random.next()) >> Int64(random.next() % 64))
    case 2: .double(Double(bitPattern: random.next()))
    case 3: .double(Double(Int64(truncatingIfNeeded: random.next()) >> Int64(random.next() % 64)))
    case 4, 5: .string(String(decoding: fewBytes(&random).map { $0 & 0x7F }, as: UTF8.self))
    case 6: .bytes(fewBytes(&random))
    default: .int(Int64(random.next() % 5) - 2)
    }
  }

  /// Elements that share their beginning with others: cut, grown, or changed at one place by a little.
  private func neighbour(of elements: [KeyElement], _ random: inout SplitMix) -> [KeyElement] {
    var other = elements
    guard let last = other.popLast() else { return randomElements(&random) }
    switch random.next() % 5 {
    case 0: return other
    case 1: return elements + [randomElement(&random)]
    case 2: return other + [randomElement(&random)]
    default: return other + [neighbour(of: last, &random)] + (random.next() % 2 == 0 ? [.null] : [])
    }
  }

  private func neighbour(of element: KeyElement, _ random: inout SplitMix) -> KeyElement {
    switch element {
    case .int(let value): .int(value &+ Int64(random.next() % 3) &- 1)
    case .double(let value): .double(random.next() % 2 == 0 ? value.nextUp : -value)
    case .string(let value): .string(random.next() % 2 == 0 ? value + "\0" : String(value.dropLast()))
    case .bytes(let value):
      .bytes(random.next() % 2 == 0 ? value + [random.next() % 2 == 0 ? 0 : 0xFF] : value.dropLast())
    case .null, .bool: randomElement(&random)
    }
  }

  private func fewBytes(_ random: inout SplitMix) -> [UInt8] {
    let alphabet: [UInt8] = [0, 1, 2, 0x61, 0x7F, 0x80, 0xFE, 0xFF]
    return (0..<random.next() % 4).map { _ in alphabet[Int(random.next() % 8)] }
  }

  /// Random bytes, or a right key with one byte changed, cut or doubled.
  private func hostileBytes(_ random: inout SplitMix) -> [UInt8] {
    let tags: [UInt8] = [1, 2, 3, 0x10, 0x17, 0x18, 0x19, 0x20, 0x28, 0x30, 0x38, 0x00, 0xFF]
    if random.next() % 2 == 0 {
      let flip: UInt8 = random.next() % 2 == 0 ? 0 : 0xFF
      return [tags[Int(random.next() % 13)] ^ flip]
        + (0..<random.next() % 10).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    var key = encode(randomElements(&random), directions: random.next())
    guard !key.isEmpty else { return key }
    let index = Int(random.next() % UInt64(key.count))
    switch random.next() % 3 {
    case 0: key[index] = UInt8(truncatingIfNeeded: random.next())
    case 1: key.removeLast(key.count - index)
    default: key.insert(key[index], at: index)
    }
    return key
  }
}
