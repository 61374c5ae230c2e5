/// Reads the messages with which Linux reports its network (RFC 3549).
enum NetlinkMessages {
  /// The kinds that tell of interfaces and of their addresses: `RTM_NEWLINK`, `RTM_DELLINK`, `RTM_NEWADDR`,
  /// `RTM_DELADDR`.
  private static let changes: Set<UInt16> = [16, 17, 20, 21]

  /// Whether one of the messages reports a change; damaged ones report none.
  static func tellOfChange(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    // A head has 16 bytes: length, kind, flags, number, sender; messages begin at multiples of four.
    while offset + 16 <= bytes.count {
      let length = Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      guard length >= 16, length <= bytes.count - offset else { return false }
      if changes.contains(bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)) { return true }
      offset += (length + 3) & ~3
    }
    return false
  }
}
