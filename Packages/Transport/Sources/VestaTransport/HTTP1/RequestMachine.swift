import VestaTransportInterop

/// Reads the requests of a connection of HTTP/1.1, one after the other.
///
/// Pure: it is given the bytes that were received and not used yet, and says what they begin with and how many of them
/// it has used. It keeps none, so the caller has one buffer; a head that does not end within its limit is refused
/// before more of it is buffered.
struct RequestMachine {
  /// A request's head.
  struct Head: Equatable {
    var method: HTTPMethod
    var target: String
    var authority: String
    var fields: HTTPFields
    var minorVersion: UInt8
    /// How the body is sent; `nil` where there is none, and no event follows.
    var body: BodyMachine.Framing?
    var keepsAlive: Bool
    var expectsContinue: Bool
    var asksForUpgrade: Bool
  }

  enum Step {
    case head(Head, used: Int)
    /// Bytes of the body, as a range of the given ones.
    case body(Range<Int>, used: Int)
    case end(trailers: HTTPFields, used: Int)
    case used(Int)
    case needsMore
  }

  private var body: BodyMachine?
  /// The number of bytes of an incomplete head that have been looked at.
  private var seen = 0
  private let tuning: TransportTuning

  init(_ tuning: TransportTuning) { self.tuning = tuning }

  /// Whether a body is being read.
  var isInBody: Bool { body != nil }

  /// Whether the end of the body is left to say, without further bytes.
  var isAtEndOfBody: Bool { body?.isAtEnd ?? false }

  /// Whether a part of a head was seen.
  var isInHead: Bool { seen > 0 }

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

  private mutating func head(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(ProtocolFailure) -> Step {
    let available = bytes.count - start
    guard available > 0 else { return .needsMore }
    // An empty line between requests is read over (RFC 9112, section 2.2).
    if bytes[start] == 13 {
      guard available >= 2 else { return .needsMore }
      guard bytes[start + 1] == 10 else { throw ProtocolFailure("a CR without LF") }
      return .used(2)
    }
    // A head that arrives byte by byte is parsed again only when a line of it has ended.
    if seen > 0, available <= tuning.headBytes, !bytes[(start + seen)...].contains(10) {
      seen = available
      return .needsMore
    }
    var line = RequestLine()
    guard let lineEnd = try line.parse(bytes, from: start, tuning) else { return try incomplete(available) }
    var parser = FieldParser(limit: tuning.fieldCount)
    guard case .complete(let end) = try parser.parse(bytes, from: lineEnd) else { return try incomplete(available) }
    guard end - start <= tuning.headBytes else { throw Self.tooLong }
    seen = 0
    let fields =
      parser.spans.isEmpty ? HTTPFields() : HTTPFields(buffer: Array(bytes[lineEnd..<end]), spans: parser.spans)
    let head = try checked(line, parser.facts, fields)
    body = head.body.map { BodyMachine($0, tuning) }
    return .head(head, used: end - start)
  }

  private mutating func incomplete(_ available: Int) throws(ProtocolFailure) -> Step {
    guard available <= tuning.headBytes else { throw Self.tooLong }
    seen = available
    return .needsMore
  }

  private static var tooLong: ProtocolFailure { ProtocolFailure(431, "a head that is too long") }

  private func checked(
    _ line: RequestLine, _ facts: FieldParser.Facts, _ fields: HTTPFields
  ) throws(ProtocolFailure) -> Head {
    guard facts.hostCount <= 1 else { throw ProtocolFailure("two hosts") }
    guard facts.hostCount == 1 || line.minorVersion == 0 else { throw ProtocolFailure("no host") }
    let host = facts.host ?? ""
    guard Authority.isAllowed(host) else { throw ProtocolFailure("a host that is none") }
    if facts.isChunked {
      // Both ways of saying where the body ends: the classic of request smuggling.
      guard facts.contentLength == nil else { throw ProtocolFailure("a length and a transfer encoding") }
      guard line.minorVersion == 1 else { throw ProtocolFailure("a transfer encoding in HTTP/1.0") }
    }
    let length = facts.contentLength ?? 0
    return Head(
      method: line.method, target: line.target, authority: line.authority ?? host, fields: fields,
      minorVersion: line.minorVersion, body: facts.isChunked ? .chunked : length > 0 ? .length(length) : nil,
      keepsAlive: !facts.saysClose && (line.minorVersion == 1 || facts.saysKeepAlive),
      expectsContinue: facts.expectsContinue && line.minorVersion == 1, asksForUpgrade: facts.saysUpgrade)
  }
}
