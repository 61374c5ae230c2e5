import VestaBytes

/// The matches that apply to a document, where at most one does.
enum OnlyMatch: Sendable {
  case none
  /// The number of the match.
  case one(Int)
  /// More than one may: all have to be found.
  case several
}

extension MatchTable {
  /// Finds the only match of a resource name, without a list of matches and without strings.
  ///
  /// - Returns: `nil` for a name that is taken apart in the usual way.
  func only(_ name: String) -> (places: SegmentPlaces, match: OnlyMatch)? {
    // Unsafe pointers, used inside the closures only: segments are compared where they lie.
    let found = name.utf8.withContiguousStorageIfAvailable { name in
      SegmentPlaces(name).map { places in
        (places, bytes.withUnsafeBytes { only(UnsafeRawBufferPointer(name), places, $0) })
      }
    }
    return found ?? nil
  }

  private func only(
    _ name: UnsafeRawBufferPointer, _ places: SegmentPlaces, _ bytes: UnsafeRawBufferPointer
  ) -> OnlyMatch {
    var node = nodes[0]
    for position in 0..<places.count {
      guard node.globs.isEmpty, node.literals.count <= Node.few else { return .several }
      var next = node.capture
      for index in node.literals {
        let literal = literals[Int(index)]
        guard places.isEqual(name, at: position, bytes, literal.bytes) else { continue }
        // The capture leads to other matches.
        if next >= 0 { return .several }
        next = literal.next
        break
      }
      guard next >= 0 else { return .none }
      node = nodes[Int(next)]
    }
    guard node.globs.isEmpty, node.ends.count <= 1 else { return .several }
    return node.ends.first.map { .one(Int(numbers[Int($0)])) } ?? .none
  }
}
