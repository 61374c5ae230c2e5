/// Groups, which no schema has: as fields that are not known, they are skipped with all that is in them.
extension ProtobufReader {
  /// Skips a group, and the groups that follow it, and moves to the field after them.
  ///
  /// - Parameter tag: The tag of the first group; one of another wire type is an error.
  /// - Returns: Whether there is a field after the groups.
  @usableFromInline
  @inline(never)
  mutating func fieldAfterGroups(_ tag: UInt64) throws(BytesError) -> Bool {
    var tag = tag
    while tag & 7 == 3 {
      try skipGroup(tag >> 3)
      guard index < end else { return false }
      tag = try fieldTag()
    }
    (wireType, number, isTaken) = (try knownType(tag), UInt32(truncatingIfNeeded: tag >> 3), false)
    return true
  }

  /// Skips what is in a group, and its end.
  private mutating func skipGroup(_ group: UInt64) throws(BytesError) {
    guard depth > 0 else { throw Self.isTooDeep() }
    depth -= 1
    defer { depth += 1 }
    number = UInt32(truncatingIfNeeded: group)
    while index < end {
      let tag = try fieldTag()
      switch tag & 7 {
      case 3: try skipGroup(tag >> 3)
      case 4:
        guard tag >> 3 == group else { throw malformed("group \(group) has the end of group \(tag >> 3)") }
        return
      default:
        wireType = try knownType(tag)
        try skip()
      }
    }
    throw endsInside()
  }

  /// Reads a tag whose number is one of a field.
  private mutating func fieldTag() throws(BytesError) -> UInt64 {
    let tag = try varint()
    guard tag >> 3 > 0, tag >> 3 < 1 << 29 else { throw isNoNumber(tag) }
    return tag
  }

  private func knownType(_ tag: UInt64) throws(BytesError) -> ProtobufWireType {
    guard let type = ProtobufWireType(rawValue: UInt8(truncatingIfNeeded: tag & 7)) else { throw isOfUnknownType(tag) }
    return type
  }
}
