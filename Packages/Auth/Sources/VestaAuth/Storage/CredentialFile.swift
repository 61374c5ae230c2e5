import VestaCryptoInterop

/// The content of a session's file: two slots of equal size, each a session with a number and a checksum.
///
/// A session is written over the older slot, in place, and the slot with the higher number is the session. While it is
/// being written, and when a crash tears it, the other slot is whole. That takes one sync of the disk, where putting a
/// new file in the place of the old one takes three. Slots are whole pages, so that writing one never touches the
/// other.
///
/// A slot: `VESTACR2`, then little-endian the size of the slot (4 bytes), the length of the session (4), its number (8)
/// and the CRC-32C (4) of those three and the session, then the session. What stands behind it has no meaning.
enum CredentialFile {
  private struct Slot {
    var number: UInt64
    var content: ArraySlice<UInt8>
  }

  private static let mark = Array("VESTACR2".utf8)
  private static let headLength = 28
  private static let smallestSlot = 4096

  /// The session in a file; `nil` when the file is not one of these, or damaged.
  static func decode(_ file: [UInt8]) -> [UInt8]? {
    newest(in: file).map { Array($0.slot.content) } ?? decodeFirstLayout(file)
  }

  /// A new file.
  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var size = smallestSlot
    while size < bytes.count + headLength { size *= 2 }
    let slot = encode(bytes, number: 1, slotSize: size)
    return slot + [UInt8](repeating: 0, count: 2 * size - slot.count)
  }

  /// Returns the bytes to write, and where, to put a session into a file; `nil` when the file has to be created anew.
  static func change(of file: [UInt8], to bytes: [UInt8]) -> FileChange? {
    let size = file.count / 2
    guard let newest = newest(in: file), bytes.count + headLength <= size, newest.slot.number < .max else { return nil }
    return FileChange(
      offset: newest.offset == 0 ? size : 0, bytes: encode(bytes, number: newest.slot.number + 1, slotSize: size))
  }

  private static func newest(in file: [UInt8]) -> (offset: Int, slot: Slot)? {
    let size = file.count / 2
    guard file.count.isMultiple(of: 2), size >= smallestSlot, size <= UInt32.max else { return nil }
    let slots = [0, size].compactMap { offset in
      slot(in: file[offset..<(offset + size)]).map { (offset: offset, slot: $0) }
    }
    return slots.max { $0.slot.number < $1.slot.number }
  }

  private static func slot(in part: ArraySlice<UInt8>) -> Slot? {
    guard part.starts(with: mark) else { return nil }
    let head = part.dropFirst(mark.count)
    let (size, length, number) = (read(head, 0, 4), read(head, 4, 4), read(head, 8, 8))
    guard size == UInt64(part.count), length <= UInt64(part.count - headLength) else { return nil }
    let content = part.dropFirst(headLength).prefix(Int(length))
    guard read(head, 16, 4) == UInt64(checksum(Array(head.prefix(16)), Array(content))) else { return nil }
    return Slot(number: number, content: content)
  }

  private static func encode(_ bytes: [UInt8], number: UInt64, slotSize: Int) -> [UInt8] {
    let head = littleEndian(UInt64(slotSize), 4) + littleEndian(UInt64(bytes.count), 4) + littleEndian(number, 8)
    return mark + head + littleEndian(UInt64(checksum(head, bytes)), 4) + bytes
  }

  private static func checksum(_ head: [UInt8], _ bytes: [UInt8]) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(head)
    checksum.update(bytes)
    return checksum.value
  }

  private static func littleEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }

  private static func read(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ count: Int) -> UInt64 {
    bytes.dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  // MARK: The first layout

  private static let firstLayout = Array("vesta-credential 1 ".utf8)

  /// A line with the CRC-32C in hexadecimal, then the session: read, and not written any more.
  private static func decodeFirstLayout(_ file: [UInt8]) -> [UInt8]? {
    guard file.starts(with: firstLayout), let lineEnd = file.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let bytes = Array(file[(lineEnd + 1)...])
    var checksum = CRC32C()
    checksum.update(bytes)
    let expected = Array(String(checksum.value, radix: 16).utf8)
    return Array(file[firstLayout.count..<lineEnd]) == expected ? bytes : nil
  }

  // MARK: Its name

  /// A name that every file system takes: letters, digits, `-` and `_` stay, other bytes become `%` and two digits.
  static func name(of key: String) -> String {
    let name = key.utf8.map { byte -> String in
      let character = Character(UnicodeScalar(byte))
      let stays = byte < 128 && (character.isLetter || character.isNumber || character == "-" || character == "_")
      return stays ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return name.joined() + ".session"
  }
}

/// Bytes to be written over a part of a file.
struct FileChange: Equatable {
  var offset: Int
  var bytes: [UInt8]
}
