import VestaTransportInterop

/// The first line of a request: method, target and version, with one space between them.
struct RequestLine {
  var method = HTTPMethod.get
  var target = "/"
  /// The authority of a target in absolute form, which precedes the field `host`.
  var authority: String?
  var minorVersion: UInt8 = 1

  /// Parses the line.
  ///
  /// - Returns: The offset after it; `nil` when it is not all there.
  mutating func parse(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ tuning: TransportTuning
  ) throws(ProtocolFailure) -> Int? {
    let end = bytes.count
    var index = start
    while index < end, HTTPFieldName.isTokenByte(bytes[index]) { index += 1 }
    guard index - start <= 32 else { throw ProtocolFailure(501, "a method that is too long") }
    guard index < end else { return nil }
    guard bytes[index] == 32, index > start else { throw ProtocolFailure("a line that is no request") }
    let methodEnd = index
    index += 1
    let targetStart = index
    while index < end, bytes[index] > 32, bytes[index] < 127 { index += 1 }
    guard index - targetStart <= tuning.targetBytes else { throw ProtocolFailure(414, "a target that is too long") }
    guard index < end else { return nil }
    guard bytes[index] == 32, index > targetStart else { throw ProtocolFailure("a target that is none") }
    let targetEnd = index
    // A space, eight characters of the version, CR LF. Errors are found as early as possible.
    let version: StaticString = " HTTP/1."
    for offset in 0..<8 where targetEnd + offset < end {
      guard bytes[targetEnd + offset] == version.utf8Start[offset] else {
        throw offset == 6 ? ProtocolFailure(505, "another version") : ProtocolFailure("a version that is none")
      }
    }
    guard targetEnd + 8 < end else { return nil }
    let minor = bytes[targetEnd + 8]
    guard minor == 48 || minor == 49 else { throw ProtocolFailure(505, "another version") }
    if targetEnd + 9 < end, bytes[targetEnd + 9] != 13 { throw ProtocolFailure("a line that does not end") }
    guard targetEnd + 10 < end else { return nil }
    guard bytes[targetEnd + 10] == 10 else { throw ProtocolFailure("a CR without LF") }
    minorVersion = minor - 48
    method = Self.method(UnsafeBufferPointer(rebasing: bytes[start..<methodEnd]))
    try setTarget(UnsafeBufferPointer(rebasing: bytes[targetStart..<targetEnd]))
    return targetEnd + 11
  }

  private static func method(_ bytes: UnsafeBufferPointer<UInt8>) -> HTTPMethod {
    if bytes.count == 3, bytes[0] == 71, bytes[1] == 69, bytes[2] == 84 { return .get }
    return HTTPMethod(String(decoding: bytes, as: UTF8.self))
  }

  /// The four forms of RFC 9112, section 3.2.
  private mutating func setTarget(_ bytes: UnsafeBufferPointer<UInt8>) throws(ProtocolFailure) {
    let text = String(decoding: bytes, as: UTF8.self)
    if bytes[0] == 47 {
      target = text
    } else if method == .connect {
      guard Authority.isAllowed(text) else { throw ProtocolFailure("a target that is none") }
      target = text
    } else if text == "*" {
      guard method == .options else { throw ProtocolFailure("a target that is none") }
      target = text
    } else {
      guard let url = HTTPURL(text), Authority.isAllowed(url.authority) else {
        throw ProtocolFailure("a target that is none")
      }
      (target, authority) = (url.target, url.authority)
    }
  }
}

/// The host and port of a request.
enum Authority {
  /// Whether a text may be one: no user, no path, nothing that would end a line.
  static func isAllowed(_ text: String) -> Bool {
    // Neither space, controls, `"#/<>?@\^`{|}` nor anything beyond ASCII.
    text.utf8.allSatisfy { byte in
      byte < 64
        ? (0x2FFF_7FF2_0000_0000 as UInt64) >> UInt64(byte) & 1 == 1
        : byte < 128 && (0x47FF_FFFE_AFFF_FFFE as UInt64) >> UInt64(byte - 64) & 1 == 1
    }
  }
}
