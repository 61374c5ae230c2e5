/// Messages of few fields whose length is known before they are written: the length and the fields at once.
///
/// Values of documents are such messages, and timestamps. Each of these writes the same bytes as
/// ``ProtobufWriter/begin()``, the fields and ``ProtobufWriter/close(_:)``, with one check of the room. Those with a
/// key write an entry of a map whose value is such a message, with one check too.
extension ProtobufWriter {
  /// Writes a length and a message of one varint; zero is written too.
  @inlinable
  public mutating func write(messageOf number: UInt32, varint: UInt64) {
    withRoom(for: 16) { place in
      let start = place
      place.put(0)
      place.put(tag: number, .varint)
      place.put(varint: varint)
      start.pointee = UInt8(truncatingIfNeeded: place - start - 1)
    }
  }

  /// Writes a length and a message of one value of eight bytes; zero is written too.
  @inlinable
  public mutating func write(messageOf number: UInt32, fixed64: UInt64) {
    withRoom(for: 14) { place in
      let start = place
      place.put(0)
      place.put(tag: number, .fixed64)
      place.put(fixed64: fixed64)
      start.pointee = UInt8(truncatingIfNeeded: place - start - 1)
    }
  }

  /// Writes a length and a message of one string; an empty one is written too.
  @inlinable
  public mutating func write(messageOf number: UInt32, string: String) {
    // Unsafe pointer, used inside the closure only: the bytes of a string are copied from where they are.
    string.withBytes { utf8 in
      let tag = UInt64(number) << 3 | UInt64(ProtobufWireType.delimited.rawValue)
      let length = UInt64(utf8.count)
      // The tag and two lengths have up to 25 bytes.
      withRoom(for: utf8.count &+ 25) { place in
        place.put(varint: UInt64(Self.size(ofVarint: tag) &+ Self.size(ofVarint: length) &+ utf8.count))
        place.put(varint: tag)
        place.put(varint: length)
        place.put(utf8)
      }
    }
  }

  /// Writes a length and a message of two numbers, the fields 1 and 2; zero is not written.
  @inlinable
  public mutating func write(messageOfNumbers first: Int64, _ second: Int64) {
    withRoom(for: 23) { $0.put(numbers: first, second) }
  }

  /// Writes a length and a message of a message of two numbers, the fields 1 and 2; zero is not written.
  @inlinable
  public mutating func write(messageOf number: UInt32, numbers first: Int64, _ second: Int64) {
    // Two lengths of one byte, a tag of five and the numbers.
    withRoom(for: 30) { place in
      let start = place
      place.put(0)
      place.put(tag: number, .delimited)
      place.put(numbers: first, second)
      start.pointee = UInt8(truncatingIfNeeded: place - start - 1)
    }
  }

  /// Writes a length and a message of a message of two doubles, the fields 1 and 2; zero is not written.
  @inlinable
  public mutating func write(messageOf number: UInt32, doubles first: Double, _ second: Double) {
    // Two lengths of one byte, a tag of five and the numbers.
    withRoom(for: 30) { place in
      let start = place
      place.put(0)
      place.put(tag: number, .delimited)
      place.put(doubles: first, second)
      start.pointee = UInt8(truncatingIfNeeded: place - start - 1)
    }
  }

  /// How many bytes a varint has: one for every seven bits.
  @inlinable
  static func size(ofVarint value: UInt64) -> Int { (63 &- (value | 1).leadingZeroBitCount) / 7 &+ 1 }

  /// Writes an entry of a map whose value is a message of one varint; zero is written too.
  @inlinable
  public mutating func write(_ number: UInt32, entry key: String, messageOf member: UInt32, varint: UInt64) {
    let length = Self.size(ofTag: member) &+ Self.size(ofVarint: varint)
    // Unsafe pointers, used inside the closures only: the room for the message is checked with that for the entry.
    key.withBytes { key in
      withRoom(forEntry: key.count, length) { place in
        place.put(entry: number, key, length)
        place.put(tag: member, .varint)
        place.put(varint: varint)
      }
    }
  }

  /// Writes an entry of a map whose value is a message of eight bytes; zero is written too.
  @inlinable
  public mutating func write(_ number: UInt32, entry key: String, messageOf member: UInt32, fixed64: UInt64) {
    let length = Self.size(ofTag: member) &+ 8
    // Unsafe pointers, used inside the closures only: the room for the message is checked with that for the entry.
    key.withBytes { key in
      withRoom(forEntry: key.count, length) { place in
        place.put(entry: number, key, length)
        place.put(tag: member, .fixed64)
        place.put(fixed64: fixed64)
      }
    }
  }

  /// Writes an entry of a map whose value is a message of one string; an empty one is written too.
  @inlinable
  public mutating func write(_ number: UInt32, entry key: String, messageOf member: UInt32, string: String) {
    // Unsafe pointers, used inside the closures only: the room for the message is checked with that for the entry.
    key.withBytes { key in
      string.withBytes { utf8 in
        let count = UInt64(utf8.count)
        let length = Self.size(ofTag: member) &+ Self.size(ofVarint: count) &+ utf8.count
        withRoom(forEntry: key.count, length) { place in
          place.put(entry: number, key, length)
          place.put(tag: member, .delimited)
          place.put(varint: count)
          place.put(utf8)
        }
      }
    }
  }

  /// Writes an entry of a map whose value is a message of a message of two numbers, the fields 1 and 2; zero is not
  /// written.
  @inlinable
  public mutating func write(
    _ number: UInt32, entry key: String, messageOf member: UInt32, numbers first: Int64, _ second: Int64
  ) {
    let size = Self.size(ofField: first) &+ Self.size(ofField: second)
    let length = Self.size(ofTag: member) &+ 1 &+ size
    // Unsafe pointers, used inside the closures only: the room for the message is checked with that for the entry.
    key.withBytes { key in
      withRoom(forEntry: key.count, length) { place in
        place.put(entry: number, key, length)
        place.put(tag: member, .delimited)
        place.put(numbers: first, second)
      }
    }
  }

  /// Writes an entry of a map whose value is a message of a message of two doubles, the fields 1 and 2; zero is not
  /// written.
  @inlinable
  public mutating func write(
    _ number: UInt32, entry key: String, messageOf member: UInt32, doubles first: Double, _ second: Double
  ) {
    let size = (first.bitPattern == 0 ? 0 : 9) &+ (second.bitPattern == 0 ? 0 : 9)
    let length = Self.size(ofTag: member) &+ 1 &+ size
    // Unsafe pointers, used inside the closures only: the room for the message is checked with that for the entry.
    key.withBytes { key in
      withRoom(forEntry: key.count, length) { place in
        place.put(entry: number, key, length)
        place.put(tag: member, .delimited)
        place.put(doubles: first, second)
      }
    }
  }

  /// Writes a field with a message of two numbers, the fields 1 and 2; zero is not written.
  @inlinable
  public mutating func write(_ number: UInt32, messageOfNumbers first: Int64, _ second: Int64) {
    // A tag of up to five bytes before the message.
    withRoom(for: 28) { place in
      place.put(tag: number, .delimited)
      place.put(numbers: first, second)
    }
  }

  /// The bytes of a number with a tag of one byte; none for zero, which is not written.
  @inlinable
  static func size(ofField value: Int64) -> Int {
    value == 0 ? 0 : 1 &+ size(ofVarint: UInt64(bitPattern: value))
  }

  @inlinable
  mutating func withRoom(
    forEntry key: Int, _ length: Int, _ body: (inout UnsafeMutablePointer<UInt8>) -> Void
  ) {
    // Two numbers of one byte, one of five, and three lengths have up to 37 bytes.
    withRoom(for: key &+ length &+ 37, body)
  }

  @inlinable
  static func size(ofTag number: UInt32) -> Int { size(ofVarint: UInt64(number) << 3) }
}
