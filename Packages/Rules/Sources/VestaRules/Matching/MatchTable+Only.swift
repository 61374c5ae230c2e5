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
        let name = UnsafeRawBufferPointer(name)
        let match = nodes.withUnsafeBufferPointer { nodes in
          literals.withUnsafeBufferPointer { literals in
            bytes.withUnsafeBytes { only(name, places, nodes, literals, $0) }
          }
        }
        return (places, match)
      }
    }
    return found ?? nil
  }

  private func only(
    _ name: UnsafeRawBufferPointer, _ places: SegmentPlaces, _ nodes: UnsafeBufferPointer<Node>,
    _ literals: UnsafeBufferPointer<Literal>, _ bytes: UnsafeRawBufferPointer
  ) -> OnlyMatch {
    var node = nodes[0]
    var position = 0
    while position < places.count {
      var (index, end) = (node.literals.lowerBound, node.literals.upperBound)
      guard node.globs.isEmpty, Int(end - index) <= Node.few else { return .several }
      var next = node.capture
      if index < end {
        let segment = places.bounds(position)
        while index < end {
          let literal = literals[Int(index)]
          if SegmentPlaces.areEqual(name, segment, bytes, literal.bytes) {
            // The capture leads to other matches.
            if next >= 0 { return .several }
            next = literal.next
            end = index
          }
          index += 1
        }
      }
      position += 1
      guard next >= 0 else { return .none }
      node = nodes[Int(next)]
    }
    guard node.globs.isEmpty, node.ends.count <= 1 else { return .several }
    return node.ends.first.map { .one(Int(numbers[Int($0)])) } ?? .none
  }
}
