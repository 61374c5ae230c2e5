import VestaTransportInterop

/// Reads the responses of a connection of HTTP/1.1; pure, as ``RequestMachine``.
struct ResponseMachine {
  /// A response's head.
  struct Head: Equatable {
    var status: HTTPStatus
    var fields: HTTPFields
    /// How the body is sent; `nil` where there is none, and no event follows.
    var body: BodyMachine.Framing?
    var keepsAlive: Bool
  }

  enum Step {
    case head(Head, used: Int)
    case body(Range<Int>, used: Int)
    case end(trailers: HTTPFields, used: Int)
    case used(Int)
    case needsMore
  }

  /// The method of the request that is answered: HEAD has no body, CONNECT none when it succeeds.
  var method = HTTPMethod.get

  private var body: BodyMachine?
  private var seen = 0
  private let tuning: TransportTuning

  init(_ tuning: TransportTuning) { self.tuning = tuning }

  /// Reads from the bytes, beginning at an offset.
  mutating func step(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(ProtocolFailure) -> Step {
    guard body != nil else { return try head(bytes, from: start) }
    switch try body?.step(bytes, from: start) {
    case .bytes(let range, let used): return .body(range, used: used)
    case .used(let used): return .used(used)
    case .end(let trailers, let used):
      body = nil
      return .end(trailers: trailers, used: used)
    case .needsMore, nil: return .needsMore
    }
  }

  /// Whether the end of the body is left to say, without further bytes.
  var isAtEndOfBody: Bool { body?.isAtEnd ?? false }

  /// Notes the end of the connection.
  ///
  /// - Returns: Whether it ends a body that lasts until then; otherwise something is missing, unless nothing was begun.
  mutating func connectionEnded() -> Bool {
    guard let body, body.endsWithConnection else { return false }
    self.body = nil
    return true
  }

  private mutating func head(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(ProtocolFailure) -> Step {
    let available = bytes.count - start
    guard available > 0 else { return .needsMore }
    if seen > 0, available <= tuning.headBytes, !bytes[(start + seen)...].contains(10) {
      seen = available
      return .needsMore
    }
    guard let (status, minor, lineEnd) = try Self.statusLine(bytes, from: start) else {
      return try incomplete(available)
    }
    var parser = FieldParser(limit: tuning.fieldCount)
    guard case .complete(let end) = try parser.parse(bytes, from: lineEnd) else { return try incomplete(available) }
    guard end - start <= tuning.headBytes else { throw ProtocolFailure("a head that is too long") }
    seen = 0
    let fields =
      parser.spans.isEmpty ? HTTPFields() : HTTPFields(buffer: Array(bytes[lineEnd..<end]), spans: parser.spans)
    let head = try checked(status, minor, parser.facts, fields)
    body = head.body.map { BodyMachine($0, tuning) }
    return .head(head, used: end - start)
  }

  private func checked(
    _ status: HTTPStatus, _ minor: UInt8, _ facts: FieldParser.Facts, _ fields: HTTPFields
  ) throws(ProtocolFailure) -> Head {
    guard !facts.isChunked || facts.contentLength == nil else {
      throw ProtocolFailure("a length and a transfer encoding")
    }
    let framing = framing(status, facts)
    let keepsAlive = !facts.saysClose && (minor == 1 || facts.saysKeepAlive) && framing != .untilEnd
    return Head(status: status, fields: fields, body: framing, keepsAlive: keepsAlive)
  }

  /// RFC 9112, section 6.3.
  private func framing(_ status: HTTPStatus, _ facts: FieldParser.Facts) -> BodyMachine.Framing? {
    if method == .head || status.forbidsBody || (method == .connect && status.isSuccess) { return nil }
    if facts.isChunked { return .chunked }
    guard let length = facts.contentLength else { return .untilEnd }
    return length > 0 ? .length(length) : nil
  }

  private mutating func incomplete(_ available: Int) throws(ProtocolFailure) -> Step {
    guard available <= tuning.headBytes else { throw ProtocolFailure("a head that is too long") }
    seen = available
    return .needsMore
  }

  /// `HTTP/1.1 200 OK` CR LF; the phrase may be anything, and may be missing.
  private static func statusLine(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) throws(ProtocolFailure) -> (HTTPStatus, minor: UInt8, end: Int)? {
    let version: StaticString = "HTTP/1."
    for offset in 0..<7 where start + offset < bytes.count {
      guard bytes[start + offset] == version.utf8Start[offset] else { throw ProtocolFailure("no response") }
    }
    guard start + 12 < bytes.count else { return nil }
    let minor = bytes[start + 7]
    guard minor == 48 || minor == 49, bytes[start + 8] == 32 else { throw ProtocolFailure("another version") }
    var code = 0
    for offset in 9..<12 {
      guard bytes[start + offset] &- 48 < 10 else { throw ProtocolFailure("a status that is no number") }
      code = code * 10 + Int(bytes[start + offset] &- 48)
    }
    guard code >= 100 else { throw ProtocolFailure("a status that is none") }
    var index = start + 12
    guard bytes[index] == 32 || bytes[index] == 13 else { throw ProtocolFailure("a status that is none") }
    while index < bytes.count, (bytes[index] >= 32 && bytes[index] != 127) || bytes[index] == 9 { index += 1 }
    guard index < bytes.count else { return nil }
    guard bytes[index] == 13 else { throw ProtocolFailure("a control character in a line") }
    guard index + 1 < bytes.count else { return nil }
    guard bytes[index + 1] == 10 else { throw ProtocolFailure("a CR without LF") }
    return (HTTPStatus(code), minor - 48, index + 2)
  }
}
