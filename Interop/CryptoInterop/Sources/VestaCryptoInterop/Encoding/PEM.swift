/// One block of PEM text (RFC 7468): a label and the bytes under it.
///
/// The codec knows nothing of keys. Description and mirror show the label and the size, never the bytes.
public struct PEM: Sendable, Equatable {
  /// The label of the block, such as `PUBLIC KEY`.
  public let label: String

  /// The DER bytes.
  public let bytes: [UInt8]

  private static let maximumSize = 1 << 20

  /// A block with the given label and bytes.
  ///
  /// - Parameters:
  ///   - label: The kind of block, such as `PUBLIC KEY`.
  ///   - bytes: The DER bytes.
  public init(label: String, bytes: [UInt8]) {
    self.label = label
    self.bytes = bytes
  }

  /// Reads the first block; text before and after it is ignored.
  ///
  /// - Parameter text: PEM text of at most 1 MiB, with any line ends.
  /// - Throws: `CryptoError` with `.malformed`, `.limitExceeded`, or `.unsupported` for a block with headers, as the
  ///   old encrypted keys have them.
  public init(text: String) throws(CryptoError) {
    guard text.utf8.count <= Self.maximumSize else {
      throw CryptoError(.limitExceeded, "PEM: the text is longer than 1 MiB")
    }
    let lines = text.utf8.split { $0 == 10 || $0 == 13 }.map { Array(Self.trimmed($0)) }
    guard let start = lines.firstIndex(where: { $0.starts(with: Array("-----BEGIN ".utf8)) }),
      let label = Self.label(lines[start], after: "-----BEGIN ")
    else { throw CryptoError(.malformed, "PEM: there is no BEGIN line") }
    let rest = lines[(start + 1)...]
    guard let end = rest.firstIndex(where: { Self.label($0, after: "-----END ") == label }) else {
      throw CryptoError(.malformed, "PEM: there is no END line for the label of the BEGIN line")
    }
    let body = lines[(start + 1)..<end].flatMap { $0 }
    guard !body.contains(UInt8(ascii: ":")) else {
      throw CryptoError(.unsupported, "PEM: the block has headers; convert an encrypted key with `openssl pkcs8`")
    }
    self.label = label
    bytes = try CryptoError.decoding { () throws(BytesError) in try Base64.standard.decode(utf8: body[...]) }
    guard !bytes.isEmpty else { throw CryptoError(.malformed, "PEM: the block is empty") }
  }

  /// The block as text, in lines of 64 characters.
  public var text: String {
    let body = Base64.standard.encodedBytes(bytes)
    var text = "-----BEGIN \(label)-----\n"
    for start in stride(from: 0, to: body.count, by: 64) {
      text += String(decoding: body[start..<min(start + 64, body.count)], as: UTF8.self) + "\n"
    }
    return text + "-----END \(label)-----\n"
  }

  private static func trimmed(_ line: Substring.UTF8View) -> Substring.UTF8View {
    var line = line
    while let last = line.last, last == 32 || last == 9 { line.removeLast() }
    return line
  }

  private static func label(_ line: [UInt8], after prefix: String) -> String? {
    let dashes = Array("-----".utf8)
    guard line.starts(with: Array(prefix.utf8)), line.suffix(5) == dashes[...] else { return nil }
    guard line.count > prefix.utf8.count + 5, line.count < 100 else { return nil }
    let label = line[prefix.utf8.count..<(line.count - 5)]
    guard label.allSatisfy({ (32..<127).contains($0) }) else { return nil }
    return String(decoding: label, as: UTF8.self)
  }
}

extension PEM: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The label and the size.
  public var description: String { "PEM(\(label), \(bytes.count) bytes)" }
  /// The label and the size.
  public var debugDescription: String { description }
  /// A mirror without the bytes.
  public var customMirror: Mirror { Mirror(self, children: ["label": label]) }
}
