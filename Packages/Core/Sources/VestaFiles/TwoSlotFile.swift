import VestaBytes

/// The layout of a small file that is changed in place and whose content a crash cannot harm.
///
/// Two slots of equal size, each a content with a number and a checksum. A content is written over the older slot, and
/// the slot with the higher number is the content of the file. While one is being written, and when a crash tears it,
/// the other is whole. That takes one sync of the disk, where putting a new file in the place of the old one takes
/// three. Slots are whole pages, so that writing one never touches the other.
///
/// A slot: the mark, then little-endian the size of the slot (4 bytes), the length of the content (4), its number (8)
/// and the CRC-32C (4) of those three and the content, then the content. Bytes after it have no meaning.
///
/// ```swift
/// let layout = TwoSlotFile(mark: "MYPLUGIN")
/// if try !DurableFile.change(path, { layout.change(of: $0, to: bytes) }) {
///   try DurableFile.replace(path, with: layout.encode(bytes))
/// }
/// let content = try DurableFile.read(path).flatMap(layout.decode)
/// ```
public struct TwoSlotFile: Sendable {
  private struct Slot {
    var number: UInt64
    var content: ArraySlice<UInt8>
  }

  private static let smallestSlot = 4096

  private let mark: [UInt8]
  private var headLength: Int { mark.count + 20 }

  /// A layout.
  ///
  /// - Parameter mark: The first bytes of each slot, such as "VESTACR2": it distinguishes the kinds of files.
  public init(mark: String) { self.mark = Array(mark.utf8) }

  /// The content of a file; `nil` when the file is not one of these, or both slots are damaged.
  public func decode(_ file: [UInt8]) -> [UInt8]? { newest(in: file).map { Array($0.slot.content) } }

  /// A new file with a content.
  public func encode(_ bytes: [UInt8]) -> [UInt8] {
    var size = Self.smallestSlot
    while size < bytes.count + headLength { size *= 2 }
    let slot = encode(bytes, number: 1, slotSize: size)
    return slot + [UInt8](repeating: 0, count: 2 * size - slot.count)
  }

  /// The bytes to write, and where, to put a content into a file; `nil` when the file has to be created again.
  public func change(of file: [UInt8], to bytes: [UInt8]) -> FileChange? {
    let size = file.count / 2
    guard let newest = newest(in: file), bytes.count + headLength <= size, newest.slot.number < .max else { return nil }
    return FileChange(
      offset: newest.offset == 0 ? size : 0, bytes: encode(bytes, number: newest.slot.number + 1, slotSize: size))
  }

  private func newest(in file: [UInt8]) -> (offset: Int, slot: Slot)? {
    let size = file.count / 2
    guard file.count.isMultiple(of: 2), size >= Self.smallestSlot, size <= UInt32.max else { return nil }
    let slots = [0, size].compactMap { offset in
      slot(in: file[offset..<(offset + size)]).map { (offset: offset, slot: $0) }
    }
    return slots.max { $0.slot.number < $1.slot.number }
  }

  private func slot(in part: ArraySlice<UInt8>) -> Slot? {
    guard part.starts(with: mark) else { return nil }
    let head = part.dropFirst(mark.count)
    let (size, length, number) = (Self.read(head, 0, 4), Self.read(head, 4, 4), Self.read(head, 8, 8))
    guard size == UInt64(part.count), length <= UInt64(part.count - headLength) else { return nil }
    let content = part.dropFirst(headLength).prefix(Int(length))
    guard Self.read(head, 16, 4) == UInt64(Self.checksum(Array(head.prefix(16)), Array(content))) else { return nil }
    return Slot(number: number, content: content)
  }

  private func encode(_ bytes: [UInt8], number: UInt64, slotSize: Int) -> [UInt8] {
    let head =
      Self.littleEndian(UInt64(slotSize), 4) + Self.littleEndian(UInt64(bytes.count), 4) + Self.littleEndian(number, 8)
    return mark + head + Self.littleEndian(UInt64(Self.checksum(head, bytes)), 4) + bytes
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
}
