import VestaBytes

/// A segment of the path that a decision is about: of a query some are not known.
enum PathSegment: Sendable {
  case known(String)
  /// Any one segment.
  case any
  /// Any number of segments.
  case gap
}

/// The path that a decision is about, as matches are compared with it.
enum MatchedPath: Sendable {
  /// The path of a request.
  case names([String])
  /// The path of a request, within a resource name.
  case resource(ResourceSegments)
  /// The path of what a query can return.
  case segments([PathSegment])

  /// The number of segments.
  var count: Int {
    switch self {
    case .names(let names): names.count
    case .resource(let segments): segments.count
    case .segments(let segments): segments.count
    }
  }

  /// Whether a segment stands for any number of them.
  func isGap(at index: Int) -> Bool {
    if case .segments(let segments) = self, case .gap = segments[index] { true } else { false }
  }

  /// A segment; nil where it is not known.
  func name(at index: Int) -> String? {
    switch self {
    case .names(let names): return names[index]
    case .resource(let segments): return segments.name(at: index)
    case .segments(let segments):
      guard case .known(let name) = segments[index] else { return nil }
      return name
    }
  }

  /// Whether a segment is known and has the bytes of a text.
  func isEqual(_ text: String, at index: Int) -> Bool {
    switch self {
    case .names(let names): return UTF8Order.equal(names[index], text)
    case .resource(let segments): return segments.isEqual(text, at: index)
    case .segments(let segments):
      guard case .known(let name) = segments[index] else { return false }
      return UTF8Order.equal(name, text)
    }
  }

  /// Whether a segment is known and has some bytes of a list.
  func isEqual(_ bytes: [UInt8], _ range: Range<Int>, at index: Int) -> Bool {
    switch self {
    case .names(let names): return Self.isEqual(names[index], bytes, range)
    case .resource(let segments): return segments.isEqual(bytes, range, at: index)
    case .segments(let segments):
      guard case .known(let name) = segments[index] else { return false }
      return Self.isEqual(name, bytes, range)
    }
  }

  private static func isEqual(_ name: String, _ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    name.utf8.count == range.count && name.utf8.elementsEqual(bytes[range])
  }

  /// Whether every path with this segment matches.
  func matches(_ segment: MatchSegment, at index: Int) -> Bool {
    if case .literal(let text) = segment { isEqual(text, at: index) } else { !isGap(at: index) }
  }
}

/// The segments of a resource name after its project, as places in its text: no string is made for those that are only
/// compared.
struct ResourceSegments: Sendable {
  /// The places of segments while a name is read.
  private struct Places {
    static let most = 15

    var starts = SIMD16<UInt16>()
    var count = 0
    private var segments = 0
    private var start = 0

    /// Ends a segment; false where the name is none that is taken apart here.
    @inline(__always)
    mutating func end(_ index: Int) -> Bool {
      guard index > start else { return false }
      // The first two are the project.
      if segments >= 2 {
        guard count < Places.most else { return false }
        starts[count] = UInt16(truncatingIfNeeded: start)
        count += 1
      }
      segments += 1
      start = index + 1
      return true
    }

    mutating func close() { starts[count] = UInt16(truncatingIfNeeded: start) }
  }

  private let text: String
  /// Where each segment begins; behind the last one where another would begin.
  private let starts: SIMD16<UInt16>
  /// The number of segments.
  let count: Int

  /// The segments; nil for a name that is long or has empty segments, which is taken apart in the usual way.
  init?(_ name: String) {
    guard let places = name.utf8.withContiguousStorageIfAvailable(ResourceSegments.places), let places else {
      return nil
    }
    (text, starts, count) = (name, places.starts, places.count)
  }

  private static func places(in bytes: UnsafeBufferPointer<UInt8>) -> Places? {
    // "projects/": any other name is taken as it is.
    guard bytes.count > 9, bytes.count < Int(UInt16.max), bytes[8] == UInt8(ascii: "/"),
      UnsafeRawBufferPointer(bytes).loadUnaligned(as: UInt64.self) == projects
    else { return nil }
    var places = Places()
    var offset = 0
    while offset < bytes.count {
      var slashes = slashes(in: UnsafeRawBufferPointer(bytes), from: offset)
      while slashes != 0 {
        guard places.end(offset + slashes.trailingZeroBitCount >> 3) else { return nil }
        slashes &= slashes - 1
      }
      offset += 8
    }
    guard places.end(bytes.count), places.count > 0 else { return nil }
    places.close()
    return places
  }

  /// The bytes of "projects" as they lie in memory.
  private static let projects = "projects".utf8.enumerated().reduce(UInt64(0)) {
    $0 | UInt64($1.element) << UInt64($1.offset << 3)
  }.littleEndian

  /// The slashes among eight bytes: the highest bit of each.
  private static func slashes(in bytes: UnsafeRawBufferPointer, from offset: Int) -> UInt64 {
    var word: UInt64 = 0
    if offset + 8 <= bytes.count {
      word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    } else {
      for index in offset..<bytes.count { word |= UInt64(bytes[index]) << UInt64((index - offset) << 3) }
    }
    // A byte that is a slash is zero now, and the only one whose highest bit is set in the end.
    word ^= 0x2F2F_2F2F_2F2F_2F2F
    let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
    return ~(((word & low) + low) | word | low)
  }

  private func bounds(_ index: Int) -> Range<Int> { Int(starts[index])..<Int(starts[index + 1]) - 1 }

  func name(at index: Int) -> String {
    let bounds = bounds(index)
    let name = text.utf8.withContiguousStorageIfAvailable { bytes in
      String(decoding: UnsafeBufferPointer(rebasing: bytes[bounds]), as: UTF8.self)
    }
    return name ?? String(decoding: Array(text.utf8)[bounds], as: UTF8.self)
  }

  /// Whether two parts of one length have the same bytes, eight at a time.
  @inline(__always)
  private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while offset + 8 <= left.count {
      guard
        left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      else { return false }
      offset += 8
    }
    while offset < left.count {
      guard left[offset] == right[offset] else { return false }
      offset += 1
    }
    return true
  }

  func isEqual(_ other: [UInt8], _ range: Range<Int>, at index: Int) -> Bool {
    let bounds = bounds(index)
    guard range.count == bounds.count else { return false }
    // Unsafe pointers, used inside the closures only: bytes are compared without going by index.
    let isEqual = text.utf8.withContiguousStorageIfAvailable { bytes in
      other.withUnsafeBufferPointer { other in
        ResourceSegments.areEqual(
          UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[bounds]),
          UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(other)[range]))
      }
    }
    return isEqual ?? name(at: index).utf8.elementsEqual(other[range])
  }

  func isEqual(_ other: String, at index: Int) -> Bool {
    let bounds = bounds(index)
    guard other.utf8.count == bounds.count else { return false }
    // Unsafe pointers, used inside the closures only: bytes are compared without going by index.
    let isEqual = text.utf8.withContiguousStorageIfAvailable { bytes in
      other.utf8.withContiguousStorageIfAvailable { other in
        for offset in 0..<other.count where bytes[bounds.lowerBound + offset] != other[offset] { return false }
        return true
      }
    }
    return (isEqual ?? nil) ?? UTF8Order.equal(name(at: index), other)
  }
}
