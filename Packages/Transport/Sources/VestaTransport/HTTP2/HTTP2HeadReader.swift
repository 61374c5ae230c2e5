import VestaTransportInterop

/// The head of a request or a response that was received.
///
/// An object: it is handed from the events to the stream and to the handler, and has a dozen references.
final class HTTP2Head: Sendable {
  /// Why a head cannot be used.
  enum Problem {
    /// It is larger than the limit.
    case tooLarge
    /// It breaks a rule of RFC 9113, section 8.
    case malformed
  }

  let method: HTTPMethod
  let target: String
  let scheme: String
  let authority: String
  let status: Int
  let fields: HTTPFields
  let length: Int?
  let expectsContinue: Bool
  let problem: Problem?

  fileprivate init(_ parts: HTTP2HeadReader.Parts, _ fields: HTTPFields) {
    method = parts.method
    target = parts.target
    scheme = parts.scheme
    authority = parts.authority
    status = parts.status
    self.fields = fields
    length = parts.length
    expectsContinue = parts.expectsContinue
    problem = parts.problem
  }
}

/// Gathers the fields of one head; a connection of HTTP/2 sends one at a time.
///
/// The library has checked the order and the names of pseudo-fields and the characters of all fields.
struct HTTP2HeadReader {
  fileprivate struct Parts {
    var method = HTTPMethod.get
    var target = ""
    var scheme = ""
    var authority = ""
    var status = 0
    var length: Int?
    var expectsContinue = false
    var problem: HTTP2Head.Problem?
  }

  private var head = Parts()
  /// Texts of earlier heads: a head that has the same ones needs no new strings.
  private(set) var known = (method: "", target: "", authority: "")
  /// The number of bytes of the longest text that is kept for the next head.
  static let keptText = 256
  private var buffer: [UInt8] = []
  private var spans: [HTTPFields.Span] = []
  private var cookies: [UInt8] = []
  private var host: String?
  /// The size as RFC 9113, section 6.5.2, counts it.
  private(set) var size = 0
  private let sizeLimit: Int
  private let countLimit: Int

  init(sizeLimit: Int, countLimit: Int) {
    self.sizeLimit = sizeLimit
    self.countLimit = countLimit
  }

  mutating func begin() {
    head = Parts()
    buffer = []
    buffer.reserveCapacity(192)
    spans = []
    spans.reserveCapacity(8)
    cookies = []
    host = nil
    size = 0
  }

  /// Adds a field.
  ///
  /// - Returns: `false` when the head is beyond all measure, and the connection must end.
  mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
    size += name.count + value.count + 32
    if size > sizeLimit || spans.count >= countLimit {
      head.problem = .tooLarge
      // Skipped fields cost time, however little they cost the peer to send.
      return size <= 64 * sizeLimit
    }
    if name.first == 58 { addPseudo(name, value) } else { addField(name, value) }
    return true
  }

  mutating func isMalformed() { if head.problem == nil { head.problem = .malformed } }

  private mutating func addPseudo(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    switch name.count {
    case 5 where Bytes.equal(name, ":path"): head.target = Self.text(value, &known.target)
    case 7 where Bytes.equal(name, ":method"): head.method = HTTPMethod(Self.text(value, &known.method))
    case 7 where Bytes.equal(name, ":scheme"): head.scheme = Bytes.equal(value, "https") ? "https" : "http"
    case 7 where Bytes.equal(name, ":status"): head.status = value.reduce(0) { $0 * 10 + Int($1 &- 48) }
    case 10 where Bytes.equal(name, ":authority"): head.authority = Self.text(value, &known.authority)
    default: head.problem = .malformed
    }
  }

  private static func text(_ value: UnsafeBufferPointer<UInt8>, _ known: inout String) -> String {
    // Long ones are seldom the next one's, and thousands of idle connections would keep them.
    guard value.count <= keptText else { return String(decoding: value, as: UTF8.self) }
    // Unsafe pointers, used inside the closure only.
    let isKnown = known.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.count == value.count && bytes.elementsEqual(value)
    }
    if isKnown != true { known = String(decoding: value, as: UTF8.self) }
    return known
  }

  private mutating func addField(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    switch name.count {
    case 4 where Bytes.equal(name, "host"):
      host = String(decoding: value, as: UTF8.self)
      return
    case 6 where Bytes.equal(name, "cookie"):
      // It may be split (RFC 9113, section 8.2.3).
      if !cookies.isEmpty { cookies += [59, 32] }
      cookies.append(contentsOf: value)
      return
    case 6 where Bytes.equal(name, "expect"): head.expectsContinue = Bytes.equal(value, "100-continue")
    case 14 where Bytes.equal(name, "content-length"):
      head.length = value.count <= 18 ? Int(String(decoding: value, as: UTF8.self)) : nil
    default: break
    }
    append(name, value)
  }

  private mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    let start = buffer.count
    buffer.append(contentsOf: name)
    buffer.append(contentsOf: value)
    spans.append(
      HTTPFields.Span(
        nameStart: start, nameCount: name.count, valueStart: start + name.count, valueCount: value.count))
  }

  /// The head, when it has ended.
  mutating func finish() -> HTTP2Head {
    if !cookies.isEmpty {
      let (name, value) = (Array("cookie".utf8), cookies)
      // Unsafe pointers, used inside the closures only.
      name.withUnsafeBufferPointer { name in value.withUnsafeBufferPointer { append(name, $0) } }
    }
    if let host {
      if head.authority.isEmpty { head.authority = host }
      // Two servers in a row could take the request for two hosts (RFC 9113, section 8.3.1).
      if head.authority != host { isMalformed() }
    }
    if !Authority.isAllowed(head.authority) { isMalformed() }
    let whole = HTTP2Head(head, HTTPFields(buffer: buffer, spans: spans))
    buffer = []
    spans = []
    return whole
  }
}
