import VestaBytes
import VestaFiles

/// The content of a session's file: a `TwoSlotFile`, which keeps a session with one sync of the disk.
enum CredentialFile {
  /// The layout of what is written.
  static let layout = TwoSlotFile(mark: "VESTACR2")

  /// The session in a file; `nil` when the file is not one of these, or damaged.
  static func decode(_ file: [UInt8]) -> [UInt8]? { layout.decode(file) ?? decodeFirstLayout(file) }

  private static let firstLayout = Array("vesta-credential 1 ".utf8)

  /// A line with the CRC-32C in hexadecimal, then the session: read, and no longer written.
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
    PercentEncoding(leaving: "-_", uppercase: false).encode(key) + ".session"
  }
}
