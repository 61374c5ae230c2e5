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
