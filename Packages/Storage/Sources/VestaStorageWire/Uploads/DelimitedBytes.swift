import VestaBytes

/// The bytes of a body in parts, of which headers and contents are taken one after another.
///
/// Contents are taken as they are received: only bytes that may be the beginning of a delimiter wait for more. A
/// machine knows which parts there are, and how long each may be.
struct DelimitedBytes: Sendable {
  /// The end of each line.
  private var lineBreak: [UInt8] = [13, 10]
  private let boundary: [UInt8]
  private var delimiter: [UInt8]
  /// Bytes that cannot be judged yet: the beginning of a delimiter, or a line of headers.
  private var rest: [UInt8]
  /// The number of bytes of the rest at which no delimiter begins.
  private var scanned = 0
  /// The number of bytes of the rest that are not the content's: the empty line in front of it, which is the line break
  /// of the delimiter when there is no content.
  private var borrowed = 0

  /// - Parameters:
  ///   - contentType: The header `content-type`.
  ///   - type: The type that it has to name.
  /// - Throws: `BytesError` with `.malformed` for another type, and for one without a boundary.
  init(contentType: String, type: String) throws(BytesError) {
    guard let boundary = Self.boundary(contentType, of: type) else {
      throw BytesError(.malformed, "Bad content type. \(contentType.prefix(100))")
    }
    self.boundary = Array("--\(boundary)".utf8)
    delimiter = lineBreak + self.boundary
    // The first delimiter has no line in front of it.
    rest = lineBreak
  }

  /// The number of bytes that wait.
  var count: Int { rest.count }

  mutating func append(_ piece: [UInt8]) { rest += piece }

  mutating func removeAll() { rest = [] }

  /// After a delimiter, whether two dashes make it the last one; `nil` while they may still be received.
  var isAtEnd: Bool? { rest.count < 2 ? nil : rest[0] == UInt8(ascii: "-") && rest[1] == UInt8(ascii: "-") }

  /// After the first delimiter: takes a line feed alone for the end of lines if the delimiter ends with it, as clients
  /// that are written by hand send it.
  mutating func adoptLineBreak() {
    guard rest.first == 10 else { return }
    lineBreak = [10]
    delimiter = lineBreak + boundary
  }

  /// Takes the headers of a part; `nil` while they are not whole.
  mutating func takeHeaders() -> [UInt8]? {
    guard let end = firstIndex(of: lineBreak + lineBreak, from: 0) else { return nil }
    let headers = Array(rest[..<end])
    rest.removeFirst(end + lineBreak.count)
    borrowed = lineBreak.count
    return headers
  }

  /// Looks for the end of a content.
  ///
  /// - Returns: The number of bytes that are certainly the content's, and whether they are all of it.
  mutating func scanContent() -> (count: Int, isWhole: Bool) {
    let found = firstIndex(of: delimiter, from: scanned)
    // Without a delimiter all bytes but the possible beginning of one are content.
    scanned = found ?? max(0, rest.count - delimiter.count + 1)
    return (max(0, scanned - borrowed), found != nil)
  }

  /// Takes the bytes that are certainly the content's, and the delimiter after the last ones.
  mutating func takeContent() -> (bytes: [UInt8], isWhole: Bool) {
    let isWhole = scanContent().isWhole
    let skipped = min(borrowed, scanned)
    let bytes = Array(rest[skipped..<scanned])
    rest.removeFirst(scanned + (isWhole ? delimiter.count : 0))
    (scanned, borrowed) = (0, isWhole ? 0 : borrowed - skipped)
    return (bytes, isWhole)
  }

  private func firstIndex(of pattern: [UInt8], from start: Int) -> Int? {
    guard rest.count >= pattern.count else { return nil }
    return rest.withUnsafeBufferPointer { bytes in
      // Unsafe pointer, used inside the closure only: the search reads every byte of an upload.
      let last = bytes.count - pattern.count
      var index = min(start, bytes.count)
      while index <= last {
        if bytes[index] == pattern[0], pattern.indices.allSatisfy({ bytes[index + $0] == pattern[$0] }) { return index }
        index += 1
      }
      return nil
    }
  }

  /// The boundary of a type, with or without quotes of either kind; `nil` for another type.
  static func boundary(_ contentType: String, of type: String) -> String? {
    let parts = contentType.split(separator: ";", omittingEmptySubsequences: false)
    guard parts.first?.lowercased().filter({ $0 != " " }) == type else { return nil }
    for part in parts.dropFirst() {
      let text = part.drop { $0 == " " }
      guard text.lowercased().hasPrefix("boundary=") else { continue }
      let value = text.dropFirst(9).filter { $0 != "\"" && $0 != "'" && $0 != " " }
      let isValid = value.utf8.allSatisfy { $0 > 32 && $0 < 127 }
      return isValid && (1...200).contains(value.utf8.count) ? value : nil
    }
    return nil
  }
}
