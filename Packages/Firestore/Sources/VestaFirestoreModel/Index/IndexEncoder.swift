package import VestaFirestoreBackend

/// Writes values so that the byte order of what is written is the order of the values.
///
/// Each value begins with a tag, and what is written for one value is never the beginning of what is written for
/// another; so values can follow each other in a key, each in its own direction. A descending value is the ascending
/// one with every bit turned.
///
/// | value | bytes |
/// |---|---|
/// | null, false, true, NaN | tag |
/// | number | tag; eight bytes of the largest double that is not above it, made to compare as unsigned; from 2^53 on two bytes for what the number is above that double |
/// | timestamp | tag; seconds with the sign turned, eight bytes; nanoseconds, four |
/// | string, bytes | tag; the bytes with `00` as `00 FF`; `00 01` |
/// | reference | tag; for each segment `02` and its bytes as a string, or `01` and eight bytes for a number; `00` |
/// | place | tag; latitude and longitude as doubles |
/// | array | tag; its values; `00` |
/// | vector | tag; four bytes of dimension; its values |
/// | map | tag; name (as a string) and value in turn; `00` |
///
/// Of a value, 1500 bytes of strings, bytes, paths and nested values count, and one for the end of each string, as in
/// production. Where they are used up, writing ends: a cut string ends with `00 02`, which is after the end mark `00
/// 01` and before an escaped zero; other cut values end with `01`. Cut values with the same
/// beginning are equal in an index; all others keep their order. See `isTruncated`.
package struct IndexEncoder: Sendable {
  /// The bytes written so far.
  package private(set) var bytes: [UInt8]

  /// Whether a value was cut because it is too long.
  package private(set) var isTruncated = false

  private var budget = FirestoreLimits.indexedValueLength

  /// An encoder that has written nothing.
  package init() { bytes = [] }

  /// An encoder that continues from bytes.
  package init(continuing prefix: [UInt8]) { bytes = prefix }

  /// The bytes of one value in ascending direction.
  package static func encode(_ value: Value) -> [UInt8] {
    var encoder = IndexEncoder()
    encoder.append(value)
    return encoder.bytes
  }

  /// Whether not all of a value counts in an index; such values cannot be in filters.
  package static func truncates(_ value: Value) -> Bool {
    // A value that is short in total cannot be cut.
    if DocumentSize.size(of: value) < FirestoreLimits.indexedValueLength { return false }
    var encoder = IndexEncoder()
    encoder.append(value)
    return encoder.isTruncated
  }

  /// Appends a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - descending: Whether larger values are first.
  package mutating func append(_ value: Value, descending: Bool = false) {
    let start = bytes.count
    budget = FirestoreLimits.indexedValueLength
    _ = write(value)
    turn(from: start, if: descending)
  }

  /// Appends the name of a document, whole, as a reference.
  package mutating func append(path: ResourcePath, descending: Bool = false) {
    let start = bytes.count
    write(segments: path.segments[...])
    bytes.append(IndexTag.end)
    turn(from: start, if: descending)
  }

  private mutating func turn(from start: Int, if descending: Bool) {
    guard descending else { return }
    for index in start..<bytes.count { bytes[index] = ~bytes[index] }
  }

  /// Writes a value; `false` when it was cut, and nothing may follow.
  private mutating func write(_ value: Value) -> Bool {
    switch value {
    case .null: scalar(IndexTag.null, cost: 1)
    case .boolean(let value): scalar(value ? IndexTag.yes : IndexTag.no, cost: 1)
    case .integer(let value): write(integer: value)
    case .double(let value): write(double: value)
    case .timestamp(let value):
      bytes.append(IndexTag.timestamp)
      write(value)
    case .string(let value):
      bytes.append(IndexTag.string)
      return writeCut(Array(value.utf8))
    case .bytes(let value):
      bytes.append(IndexTag.bytes)
      return writeCut(value)
    case .reference(let name):
      bytes.append(IndexTag.reference)
      return writeCut(ResourcePath(splitting: name).segments)
    case .geoPoint(let place):
      scalar(IndexTag.geoPoint, cost: 16)
      write(number: IndexNumber.bits(of: place.latitude), count: 8)
      write(number: IndexNumber.bits(of: place.longitude), count: 8)
    case .array(let values):
      bytes.append(IndexTag.array)
      return write(elements: values)
    case .map(let map): return write(map, whole: value)
    }
    return true
  }

  private mutating func write(_ map: MapValue, whole value: Value) -> Bool {
    if let elements = value.vectorElements {
      bytes.append(IndexTag.vector)
      write(number: UInt64(truncatingIfNeeded: elements.count), count: 4)
      return write(elements: elements)
    }
    if let time = value.pendingWriteTime {
      bytes.append(IndexTag.serverTimestamp)
      write(time)
      return true
    }
    bytes.append(IndexTag.map)
    for (name, value) in map {
      guard hasBudget() else { return false }
      bytes.append(IndexTag.string)
      guard writeCut(Array(name.utf8)), hasBudget(), write(value) else { return false }
    }
    bytes.append(IndexTag.end)
    return true
  }

  private mutating func write(elements: [Value]) -> Bool {
    for element in elements {
      guard hasBudget(), write(element) else { return false }
    }
    bytes.append(IndexTag.end)
    return true
  }

  /// Whether there is room for one more nested value; writes the mark of a cut if there is none.
  private mutating func hasBudget() -> Bool {
    if budget > 0 { return true }
    bytes.append(IndexTag.cut)
    isTruncated = true
    return false
  }

  private mutating func scalar(_ tag: UInt8, cost: Int) {
    bytes.append(tag)
    budget -= cost
  }

  private mutating func write(integer value: Int64) {
    let (base, rest) = IndexNumber.split(value)
    scalar(IndexTag.number, cost: 8)
    write(number: IndexNumber.bits(of: base), count: 8)
    if IndexNumber.hasRest(base) { write(number: rest, count: 2) }
  }

  private mutating func write(double value: Double) {
    if value.isNaN {
      scalar(IndexTag.nan, cost: 8)
      return
    }
    scalar(IndexTag.number, cost: 8)
    write(number: IndexNumber.bits(of: value), count: 8)
    if IndexNumber.hasRest(value) { write(number: 0, count: 2) }
  }

  private mutating func write(_ time: Timestamp) {
    budget -= 8
    write(number: UInt64(bitPattern: time.seconds) ^ 1 << 63, count: 8)
    write(number: UInt64(truncatingIfNeeded: time.nanos), count: 4)
  }

  private mutating func write(segments: ArraySlice<String>) {
    for segment in segments {
      if let number = ResourcePath.number(of: segment) {
        bytes.append(IndexTag.numberSegment)
        write(number: UInt64(bitPattern: number) ^ 1 << 63, count: 8)
      } else {
        bytes.append(IndexTag.textSegment)
        write(escaping: Array(segment.utf8)[...])
        bytes.append(contentsOf: [0, IndexTag.textEnd])
      }
    }
  }

  /// Writes as much of a document's name as counts; `false` when it was cut.
  ///
  /// The database's name does not count: it is the same for all references that are compared.
  private mutating func writeCut(_ segments: [String]) -> Bool {
    let isName = segments.count > 5 && segments[0] == "projects"
    if isName { write(segments: segments[..<5]) }
    for segment in isName ? segments[5...] : segments[...] {
      if budget > 0, let number = ResourcePath.number(of: segment) {
        bytes.append(IndexTag.numberSegment)
        write(number: UInt64(bitPattern: number) ^ 1 << 63, count: 8)
        budget -= 9
      } else {
        bytes.append(IndexTag.textSegment)
        guard writeCut(budget > 0 ? Array(segment.utf8) : []) else { return false }
      }
    }
    bytes.append(IndexTag.end)
    return true
  }

  /// Writes as many bytes as count; `false` when there is no room for more.
  private mutating func writeCut(_ content: [UInt8]) -> Bool {
    // As in production: a text that takes up all there is counts as cut, though every byte of it is there.
    let isCut = content.count >= budget
    write(escaping: content.prefix(max(budget, 0)))
    bytes.append(contentsOf: [0, isCut ? IndexTag.textCut : IndexTag.textEnd])
    // The end of a string counts as a byte.
    budget -= content.count + 1
    if isCut { isTruncated = true }
    return !isCut
  }

  private mutating func write(escaping content: ArraySlice<UInt8>) {
    for byte in content {
      bytes.append(byte)
      if byte == 0 { bytes.append(0xFF) }
    }
  }

  private mutating func write(number: UInt64, count: Int) {
    var shift = count * 8
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }
}

/// The first byte of each kind of value, in the order of kinds; and the marks of ends.
enum IndexTag {
  static let end: UInt8 = 0x00
  static let cut: UInt8 = 0x01
  static let null: UInt8 = 0x08
  static let no: UInt8 = 0x10
  static let yes: UInt8 = 0x11
  static let nan: UInt8 = 0x18
  static let number: UInt8 = 0x19
  static let timestamp: UInt8 = 0x20
  static let serverTimestamp: UInt8 = 0x28
  static let string: UInt8 = 0x30
  static let bytes: UInt8 = 0x38
  static let reference: UInt8 = 0x40
  static let geoPoint: UInt8 = 0x48
  static let array: UInt8 = 0x50
  static let vector: UInt8 = 0x58
  static let map: UInt8 = 0x60
  static let numberSegment: UInt8 = 0x01
  static let textSegment: UInt8 = 0x02
  static let textEnd: UInt8 = 0x01
  static let textCut: UInt8 = 0x02
}

/// Numbers as bits that compare as unsigned numbers do.
enum IndexNumber {
  /// The bits of a double; zero for NaN, and the same for both zeros.
  static func bits(of value: Double) -> UInt64 {
    if value.isNaN { return 0 }
    let bits = value == 0 ? 0 : value.bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  /// Whether two bytes follow: where doubles are sparser than integers.
  static func hasRest(_ base: Double) -> Bool { base.magnitude >= 0x1p53 && base.magnitude <= 0x1p63 }

  /// The largest double that is not above an integer, and what the integer is above it: less than 2048.
  static func split(_ value: Int64) -> (base: Double, rest: UInt64) {
    var base = Double(value)
    if base >= 0x1p63 || Int64(base) > value { base = base.nextDown }
    return (base, UInt64(bitPattern: value &- Int64(base)))
  }
}
