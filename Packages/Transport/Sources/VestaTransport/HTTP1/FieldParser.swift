import VestaTransportInterop

/// The fields of a head while they are parsed, and what those say that concern the connection.
///
/// Strict (RFC 9112): a line ends with CR LF and with nothing else, no space stands before the colon, no line is
/// folded, control characters are in no value. Refused input cannot be read in two ways by two servers in a row.
struct FieldParser {
  /// How long the message's body is, as its fields say.
  struct Facts: Equatable {
    var contentLength: Int?
    var isChunked = false
    var host: String?
    var hostCount = 0
    var saysClose = false
    var saysKeepAlive = false
    var saysUpgrade = false
    var expectsContinue = false
  }

  enum Outcome {
    /// The fields have ended; the offset after their empty line.
    case complete(Int)
    case incomplete
  }

  private(set) var spans: [HTTPFields.Span] = []
  private(set) var facts = Facts()
  let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Parses lines until the empty one.
  ///
  /// - Parameters:
  ///   - bytes: The message.
  ///   - start: The offset of the first line. Spans are relative to it.
  mutating func parse(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(ProtocolFailure) -> Outcome {
    spans.reserveCapacity(16)
    var index = start
    let end = bytes.count
    while index < end {
      if bytes[index] == 13 {
        guard index + 1 < end else { return .incomplete }
        guard bytes[index + 1] == 10 else { throw ProtocolFailure("a CR without LF") }
        return .complete(index + 2)
      }
      let nameStart = index
      while index < end, HTTPFieldName.isTokenByte(bytes[index]) { index += 1 }
      guard index < end else { return .incomplete }
      guard bytes[index] == 58, index > nameStart else { throw ProtocolFailure("a line that is no field") }
      let nameEnd = index
      index += 1
      while index < end, bytes[index] == 32 || bytes[index] == 9 { index += 1 }
      let valueStart = index
      while index < end, Self.isValueByte(bytes[index]) { index += 1 }
      guard index < end else { return .incomplete }
      guard bytes[index] == 13 else { throw ProtocolFailure("a control character in a value") }
      guard index + 1 < end else { return .incomplete }
      guard bytes[index + 1] == 10 else { throw ProtocolFailure("a CR without LF") }
      var valueEnd = index
      while valueEnd > valueStart, bytes[valueEnd - 1] == 32 || bytes[valueEnd - 1] == 9 { valueEnd -= 1 }
      index += 2
      guard spans.count < limit else { throw ProtocolFailure(431, "more than \(limit) fields") }
      let name = UnsafeBufferPointer(rebasing: bytes[nameStart..<nameEnd])
      let value = UnsafeBufferPointer(rebasing: bytes[valueStart..<valueEnd])
      if try note(name, value) {
        spans.append(
          HTTPFields.Span(
            nameStart: nameStart - start, nameCount: nameEnd - nameStart, valueStart: valueStart - start,
            valueCount: valueEnd - valueStart))
      }
    }
    return .incomplete
  }

  @inline(__always)
  private static func isValueByte(_ byte: UInt8) -> Bool { (byte >= 32 && byte != 127) || byte == 9 }

  /// Notes what a field says about the connection.
  ///
  /// - Returns: Whether it is kept among the fields.
  private mutating func note(
    _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
  ) throws(ProtocolFailure) -> Bool {
    switch name.count {
    case 4 where Bytes.equal(name, "host"):
      facts.hostCount += 1
      facts.host = String(decoding: value, as: UTF8.self)
      return false
    case 6 where Bytes.equal(name, "expect"):
      guard Bytes.equal(value, "100-continue") else { throw ProtocolFailure(417, "an unknown expectation") }
      facts.expectsContinue = true
    case 7 where Bytes.equal(name, "upgrade"): facts.saysUpgrade = true
    case 10 where Bytes.equal(name, "connection"): noteConnection(value)
    case 14 where Bytes.equal(name, "content-length"):
      // A second one is refused also when it says the same: a proxy in front may have taken the other one.
      guard facts.contentLength == nil else { throw ProtocolFailure("two lengths") }
      facts.contentLength = try Self.length(value)
    case 17 where Bytes.equal(name, "transfer-encoding"):
      guard !facts.isChunked else { throw ProtocolFailure("two transfer encodings") }
      guard Bytes.equal(value, "chunked") else { throw ProtocolFailure(501, "an unknown transfer encoding") }
      facts.isChunked = true
    default: break
    }
    return true
  }

  private mutating func noteConnection(_ value: UnsafeBufferPointer<UInt8>) {
    for option in value.split(separator: 44) {
      let option = UnsafeBufferPointer(rebasing: value[option.startIndex..<option.endIndex])
      let token = Bytes.trimmed(option)
      if Bytes.equal(token, "close") { facts.saysClose = true }
      if Bytes.equal(token, "keep-alive") { facts.saysKeepAlive = true }
    }
  }

  private static func length(_ value: UnsafeBufferPointer<UInt8>) throws(ProtocolFailure) -> Int {
    // Eighteen digits fit into 64 bits.
    guard !value.isEmpty, value.count <= 18 else { throw ProtocolFailure("a length that is no number") }
    var length = 0
    for byte in value {
      guard byte &- 48 < 10 else { throw ProtocolFailure("a length that is no number") }
      length = length * 10 + Int(byte &- 48)
    }
    return length
  }
}

/// Comparisons of bytes where they lie.
enum Bytes {
  /// Whether the bytes equal a lower-case ASCII string, in any case.
  @inline(__always)
  static func equal(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    let wanted = text.utf8Start
    for index in 0..<bytes.count {
      let byte = bytes[index]
      let lower = byte &- 65 < 26 ? byte | 32 : byte
      if lower != wanted[index] { return false }
    }
    return true
  }

  /// The bytes without spaces and tabs around them.
  static func trimmed(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var (first, last) = (0, bytes.count)
    while first < last, bytes[first] == 32 || bytes[first] == 9 { first += 1 }
    while last > first, bytes[last - 1] == 32 || bytes[last - 1] == 9 { last -= 1 }
    return UnsafeBufferPointer(rebasing: bytes[first..<last])
  }
}
