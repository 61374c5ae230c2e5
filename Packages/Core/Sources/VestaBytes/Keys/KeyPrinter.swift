/// Keys in readable form, for logs and error reports.
///
/// Total: any bytes can be printed. Elements are in parentheses, the descending ones marked with `~`; what is not
/// an element follows in hexadecimal. Long strings, bytes and keys are cut, with their length.
public enum KeyPrinter {
  /// A key as a string, such as `("rooms", ~1700000000, null)`.
  ///
  /// - Parameters:
  ///   - key: Any bytes.
  ///   - limit: At about how many characters to stop.
  public static func text(for key: [UInt8], limit: Int = 400) -> String {
    var reader = KeyReader(bytes: key, position: 0)
    var parts: [String] = []
    var length = 0
    while reader.position < key.count {
      let start = reader.position
      guard length < limit else {
        parts.append("… \(key.count - start) more bytes")
        break
      }
      let mark = key[start] > 0x7F ? "~" : ""
      let element = try? reader.element()
      parts.append(element.map { mark + $0.description } ?? "? " + hexadecimal(key[start...]))
      length += parts.last?.utf8.count ?? 0
      if element == nil { break }
    }
    return "(" + parts.joined(separator: ", ") + ")"
  }

  /// A string in quotation marks, on one line; shortened when it is long.
  static func quoted(_ text: String, limit: Int = 64) -> String {
    let start = String(text.unicodeScalars.prefix(limit)).debugDescription
    return text.unicodeScalars.count > limit ? start + "…(\(text.utf8.count) bytes)" : start
  }

  /// Bytes in hexadecimal; cut when there are many.
  static func hexadecimal(_ bytes: some RandomAccessCollection<UInt8>, limit: Int = 32) -> String {
    let digits = Hex.encode(bytes.prefix(limit))
    return bytes.count > limit ? "0x\(digits)…(\(bytes.count) bytes)" : "0x\(digits)"
  }
}
