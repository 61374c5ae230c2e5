import VestaFirestoreBackend
package import VestaFirestoreModel
package import VestaStoreInterop

/// The conditions on values and names within a suffix that the bounds of a scan cannot express.
///
/// A suffix that does not fit says where the next one can be, so a scan jumps there: over the values of `!=` and
/// `not-in`, and over what lies between the ranges of a second field.
package struct SuffixTest: Hashable, Sendable {
  package enum Verdict: Equatable {
    case fits
    /// The next suffix that may fit is here or after it.
    case seek([UInt8])
    case end
  }

  /// The ranges of each part of the suffix, up to the last part that is tested.
  private var parts: [KeyRanges]
  private let fieldsDescending: [Bool]

  /// - Parameters:
  ///   - ranges: For each value and the name, where they can be, in their directions. The hull of the first is in the
  ///     bounds of the scan.
  ///   - fieldsDescending: The directions of the values.
  package init(_ ranges: [KeyRanges], fieldsDescending: [Bool]) {
    parts = ranges
    self.fieldsDescending = fieldsDescending
    while let last = parts.last, last.isAll || parts.count == 1 && last.parts.count == 1 { parts.removeLast() }
  }

  /// Whether every suffix fits.
  package var isEmpty: Bool { parts.isEmpty }

  package func verdict(_ suffix: [UInt8]) -> Verdict {
    var reader = IndexReader(suffix)
    for (index, ranges) in parts.enumerated() {
      let start = reader.position
      var end = suffix.count
      if index < fieldsDescending.count {
        guard reader.skip(descending: fieldsDescending[index]) else { return .fits }
        end = reader.position
      }
      switch ranges.position(of: suffix[start..<end]) {
      case .inside: continue
      case .before(let lower): return .seek(suffix[..<start] + lower)
      case .behind:
        guard start > 0, let next = KeyRange(prefix: Array(suffix[..<start])).upper else { return .end }
        return .seek(next)
      }
    }
    return .fits
  }
}

/// The cursors of a query as bounds of suffixes.
package struct SuffixCursors {
  package let bounds: KeyRange

  package init(_ query: NormalQuery, names: NameCoding, following last: [UInt8]? = nil) {
    var bounds = KeyRange.all
    if let cursor = query.startAt {
      bounds = KeyRange(from: SuffixCursors.position(of: cursor, query, names), to: nil)
    }
    if let cursor = query.endAt {
      let end = SuffixCursors.position(of: cursor, query, names)
      bounds = bounds.intersection(KeyRange(from: [], to: end))
    }
    if let last { bounds = bounds.intersection(KeyRange(from: SuffixCursors.after(last), to: nil)) }
    self.bounds = bounds
  }

  /// The relation of the names after a cursor to the cursor's name.
  private static func relation(isDescending: Bool, isBefore: Bool) -> Predicate.Relation {
    switch (isDescending, isBefore) {
    case (false, true): .greaterOrEqual
    case (false, false): .greater
    case (true, true): .lessOrEqual
    case (true, false): .less
    }
  }

  /// The first suffix after a position.
  private static func position(
    of cursor: StructuredQuery.Cursor, _ query: NormalQuery, _ names: NameCoding
  ) -> [UInt8] {
    var encoder = IndexEncoder()
    for (order, value) in zip(query.orders, cursor.values) {
      guard order.path.isDocumentName else {
        encoder.append(value, descending: order.descending)
        continue
      }
      guard let path = value.documentPath else { break }
      let range = names.range(relation(isDescending: order.descending, isBefore: cursor.before), path)
      if range.isEmpty { return after(encoder.bytes) }
      return encoder.bytes + (order.descending ? range.turned : range).lower
    }
    return cursor.before ? encoder.bytes : after(encoder.bytes)
  }

  private static func after(_ bytes: [UInt8]) -> [UInt8] {
    // No suffix begins with a byte of all ones.
    bytes.isEmpty ? [0xFF] : KeyRange(prefix: bytes).upper ?? [0xFF]
  }
}
