import VestaBytes

/// Where the segments of a resource name lie, after its project: no string is made for segments that are only compared.
struct SegmentPlaces: Sendable {
  private static let most = 15

  /// The start of each segment in 16 bits; after the last one the start that another would have.
  ///
  /// Plain words: a vector is stored and loaded as a whole for each of its elements.
  private var starts: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
  /// The number of segments.
  private(set) var count = 0

  /// No segments, of which nothing is known.
  init() {}

  /// The places; nil for a name that is long or has empty segments, which is taken apart in the usual way.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    let raw = UnsafeRawBufferPointer(bytes)
    // "projects/": any other name is taken as it is.
    guard bytes.count > 9, bytes.count < Int(UInt16.max), bytes[8] == UInt8(ascii: "/"),
      raw.loadUnaligned(as: UInt64.self) == SegmentPlaces.projects
    else { return nil }
    // The project, which is no segment, ends at the first slash.
    var (start, offset, isInProject) = (9, 9, true)
    while offset < bytes.count {
      let rest = bytes.count - offset
      // At the end the last eight bytes, without the ones before the offset.
      let last = rest < 8 ? rest : 8
      let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset - 8 + last, as: UInt64.self))
      var slashes = SegmentPlaces.slashes(in: word >> UInt64(64 &- last &* 8))
      while slashes != 0 {
        let end = offset &+ slashes.trailingZeroBitCount >> 3
        guard end > start, isInProject || add(start) else { return nil }
        (start, isInProject) = (end &+ 1, false)
        slashes &= slashes &- 1
      }
      offset &+= 8
    }
    guard bytes.count > start, !isInProject, add(start) else { return nil }
    set(count, bytes.count &+ 1)
  }

  /// Adds a segment; false where there are too many.
  @inline(__always)
  private mutating func add(_ start: Int) -> Bool {
    guard count < SegmentPlaces.most else { return false }
    set(count, start)
    count += 1
    return true
  }

  @inline(__always)
  private mutating func set(_ index: Int, _ start: Int) {
    // Unsafe pointer, used inside the closure only: the index is at most `most`, the last of 16.
    withUnsafeMutableBytes(of: &starts) {
      $0.storeBytes(of: UInt16(truncatingIfNeeded: start), toByteOffset: index * 2, as: UInt16.self)
    }
  }

  @inline(__always)
  private func start(_ index: Int) -> Int {
    // Unsafe pointer, used inside the closure only: the buffer checks the index.
    withUnsafeBytes(of: starts) { Int($0.load(fromByteOffset: index * 2, as: UInt16.self)) }
  }

  /// The bytes of "projects" as they lie in memory.
  private static let projects = "projects".utf8.enumerated().reduce(UInt64(0)) {
    $0 | UInt64($1.element) << UInt64($1.offset << 3)
  }.littleEndian

  /// The slashes among eight bytes: the highest bit of each.
  @inline(__always)
  private static func slashes(in word: UInt64) -> UInt64 {
    // A byte that is a slash is zero now, and the only one whose highest bit is set in the end.
    let word = word ^ 0x2F2F_2F2F_2F2F_2F2F
    let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
    return ~(((word & low) &+ low) | word | low)
  }

  /// The bytes of a segment, by their places in the name.
  @inline(__always)
  func bounds(_ index: Int) -> Range<Int> { start(index)..<start(index + 1) - 1 }

  /// A segment of a name.
  func segment(_ index: Int, of name: String) -> String {
    let bounds = bounds(index)
    // Unsafe pointer, used inside the closure only: the bytes of a part.
    let segment = name.utf8.withContiguousStorageIfAvailable { bytes in
      String(decoding: UnsafeBufferPointer(rebasing: bytes[bounds]), as: UTF8.self)
    }
    return segment ?? String(decoding: Array(name.utf8)[bounds], as: UTF8.self)
  }

  /// Whether a segment of a name has the same bytes as a part of a list.
  func isEqual(
    _ name: UnsafeRawBufferPointer, at index: Int, _ other: UnsafeRawBufferPointer, _ range: Range<Int>
  ) -> Bool {
    SegmentPlaces.areEqual(name, bounds(index), other, range)
  }

  /// Whether two parts have the same bytes.
  @inline(__always)
  static func areEqual(
    _ left: UnsafeRawBufferPointer, _ leftRange: Range<Int>, _ right: UnsafeRawBufferPointer, _ rightRange: Range<Int>
  ) -> Bool {
    let count = leftRange.upperBound &- leftRange.lowerBound
    guard count == rightRange.upperBound &- rightRange.lowerBound else { return false }
    func areEqual<Word: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Word.Type) -> Bool {
      left.loadUnaligned(fromByteOffset: leftRange.lowerBound &+ offset, as: type)
        == right.loadUnaligned(fromByteOffset: rightRange.lowerBound &+ offset, as: type)
    }
    // Whole words; the last one may have bytes of the one before it.
    if count >= 8 {
      var offset = 0
      while offset &+ 8 < count {
        guard areEqual(at: offset, as: UInt64.self) else { return false }
        offset &+= 8
      }
      return areEqual(at: count &- 8, as: UInt64.self)
    }
    if count >= 4 { return areEqual(at: 0, as: UInt32.self) && areEqual(at: count &- 4, as: UInt32.self) }
    var offset = 0
    while offset < count {
      guard areEqual(at: offset, as: UInt8.self) else { return false }
      offset &+= 1
    }
    return true
  }
}

/// The segments of a resource name after its project.
struct ResourceSegments: Sendable {
  private let text: String
  private let places: SegmentPlaces

  /// The number of segments.
  var count: Int { places.count }

  init(_ name: String, _ places: SegmentPlaces) { (text, self.places) = (name, places) }

  /// The segments; nil for a name that is long or has empty segments, which is taken apart in the usual way.
  init?(_ name: String) {
    guard let places = name.utf8.withContiguousStorageIfAvailable(SegmentPlaces.init), let places else { return nil }
    self.init(name, places)
  }

  func name(at index: Int) -> String { places.segment(index, of: text) }

  func isEqual(_ other: [UInt8], _ range: Range<Int>, at index: Int) -> Bool {
    // Unsafe pointers, used inside the closures only: bytes are compared without going by index.
    let isEqual = text.utf8.withContiguousStorageIfAvailable { bytes in
      other.withUnsafeBytes { places.isEqual(UnsafeRawBufferPointer(bytes), at: index, $0, range) }
    }
    return isEqual ?? name(at: index).utf8.elementsEqual(other[range])
  }

  func isEqual(_ other: String, at index: Int) -> Bool {
    // Unsafe pointers, used inside the closures only: bytes are compared without going by index.
    let isEqual = text.utf8.withContiguousStorageIfAvailable { bytes in
      other.utf8.withContiguousStorageIfAvailable { other in
        let other = UnsafeRawBufferPointer(other)
        return places.isEqual(UnsafeRawBufferPointer(bytes), at: index, other, 0..<other.count)
      }
    }
    return (isEqual ?? nil) ?? UTF8Order.equal(name(at: index), other)
  }
}
