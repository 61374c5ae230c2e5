import VestaFirestoreBackend

/// Identifiers of collections and documents in turn, such as `rooms/a/messages/m1`.
///
/// Equal and ordered by segments, each by its UTF-8 bytes; segments that are numbers, `__id7__`, sort before all
/// others and in the order of the numbers.
package struct ResourcePath: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The identifiers.
  package let segments: [String]
  /// The hash of the segments, made once: paths are the keys of nearly every table of a client.
  let digest: Int

  /// A path of segments, taken as they are.
  package init(_ segments: [String]) {
    self.segments = segments
    var hasher = Hasher()
    hasher.combine(segments.count)
    for segment in segments { UTF8Order.hash(segment, into: &hasher) }
    digest = hasher.finalize()
  }

  /// A path of the segments between the slashes of a string; the empty string is the root.
  package init(splitting text: String) { self.init(splitting: text.utf8[...]) }

  /// A path of the segments between the slashes of a part of a string; the empty part is the root.
  package init(splitting text: Substring.UTF8View) {
    // By bytes: as a character, a slash with an accent on it would be no slash.
    self.init(text.isEmpty ? [] : text.split(separator: UInt8(ascii: "/")))
  }

  /// The path of nothing, which documents and collections are below.
  package static let root = ResourcePath([])

  /// Whether the path names a document.
  package var isDocument: Bool { !segments.isEmpty && segments.count.isMultiple(of: 2) }

  /// Whether the path names a collection.
  package var isCollection: Bool { !segments.count.isMultiple(of: 2) }

  /// The path without its last segment; the root's is the root.
  package var parent: ResourcePath { ResourcePath(Array(segments.dropLast())) }

  /// The last segment; empty for the root.
  package var lastSegment: String { segments.last ?? "" }

  /// The path of something below.
  package func appending(_ segment: String) -> ResourcePath { ResourcePath(segments + [segment]) }

  /// Whether the path is the other one, or below it.
  package func hasPrefix(_ other: ResourcePath) -> Bool {
    segments.count >= other.segments.count && zip(segments, other.segments).allSatisfy { UTF8Order.equal($0, $1) }
  }

  /// Below zero, zero, or above zero, by segments and then by length.
  package func compare(_ other: ResourcePath) -> Int {
    for (left, right) in zip(segments, other.segments) where !UTF8Order.equal(left, right) {
      let order = ResourcePath.compare(segment: left, right)
      if order != 0 { return order }
    }
    return segments.count - other.segments.count
  }

  /// Whether the path sorts before the other one.
  package static func < (left: ResourcePath, right: ResourcePath) -> Bool { left.compare(right) < 0 }

  /// Whether the segments have the same bytes.
  package static func == (left: ResourcePath, right: ResourcePath) -> Bool {
    left.digest == right.digest && left.segments.count == right.segments.count && left.hasPrefix(right)
  }

  /// Feeds the hash of the parts that equality compares to a hasher.
  package func hash(into hasher: inout Hasher) { hasher.combine(digest) }

  /// The hash for a table: the digest, which is a hash already, mixed with the seed of the table.
  package func _rawHashValue(seed: Int) -> Int {
    let mixed = UInt64(truncatingIfNeeded: digest ^ seed) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed ^ mixed >> 32)
  }

  /// The segments with slashes between them.
  package var description: String { segments.joined(separator: "/") }

  /// Compares two segments.
  package static func compare(segment left: String, _ right: String) -> Int {
    switch (number(of: left), number(of: right)) {
    case (let left?, let right?): left < right ? -1 : left == right ? 0 : 1
    case (_?, nil): -1
    case (nil, _?): 1
    case (nil, nil): UTF8Order.compare(left, right)
    }
  }

  /// The number of a segment: `7` for `__id7__`.
  ///
  /// Only the one usual way to write a number counts, so that different segments never have the same number.
  package static func number(of segment: String) -> Int64? {
    let bytes = segment.utf8
    // Most segments do not begin so, and this is checked for every segment.
    guard bytes.first == UInt8(ascii: "_") else { return nil }
    guard bytes.count > 6, bytes.starts(with: "__id".utf8), bytes.suffix(2).elementsEqual("__".utf8) else { return nil }
    let digits = Substring(bytes.dropFirst(4).dropLast(2))
    guard let number = Int64(digits), String(number) == digits else { return nil }
    return number
  }
}
