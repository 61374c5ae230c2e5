public import VestaBytes

/// Reads a body of the type `multipart/related` with two parts: the metadata of an object, and its content.
///
/// The content is handed out as it is received and is never kept as a whole; the metadata and the headers of a part are
/// bounded.
public struct MultipartMachine: Sendable {
  /// A part of the body that was recognized.
  public enum Event: Sendable, Hashable {
    /// The JSON of the metadata.
    case metadata([UInt8])
    /// The content begins; with its type, `nil` where its part has none.
    case content(type: String?)
    /// Bytes of the content.
    case bytes([UInt8])
    /// The body is whole.
    case end
  }

  private enum State { case preamble, headers, metadata, content, ended }

  private var body: DelimitedBytes
  private let maximumMetadata: Int
  private let maximumHeaders: Int
  private var state = State.preamble
  private var part = 0

  /// A machine for a body.
  ///
  /// - Parameters:
  ///   - contentType: The header `content-type`.
  ///   - maximumMetadata: The longest metadata, in bytes.
  ///   - maximumHeaders: The longest headers of a part, in bytes.
  /// - Throws: `BytesError` with `.malformed` for another type, and for one without a boundary.
  public init(
    contentType: String, maximumMetadata: Int = 1 << 20, maximumHeaders: Int = 8_192
  ) throws(BytesError) {
    body = try DelimitedBytes(contentType: contentType, type: "multipart/related")
    self.maximumMetadata = maximumMetadata
    self.maximumHeaders = maximumHeaders
  }

  /// Takes a piece of the body.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`; nothing else can be read from the body then.
  public mutating func received(_ piece: [UInt8]) throws(BytesError) -> [Event] {
    body.append(piece)
    var events: [Event] = []
    while try step(&events) {}
    return events
  }

  /// Ends the body.
  ///
  /// - Throws: `BytesError` with `.malformed` when parts are missing.
  public func finish() throws(BytesError) {
    guard state == .ended else { throw BytesError(.malformed, "Unexpected number of parts in request body") }
  }

  /// Carries out one transition; returns whether another one may be possible.
  private mutating func step(_ events: inout [Event]) throws(BytesError) -> Bool {
    switch state {
    case .ended:
      body.removeAll()
      return false
    case .headers: return try readHeaders(&events)
    case .preamble, .metadata, .content: return try readContent(&events)
    }
  }

  private mutating func readHeaders(_ events: inout [Event]) throws(BytesError) -> Bool {
    guard let isAtEnd = body.isAtEnd else { return false }
    guard isAtEnd == (part == 2) else {
      throw BytesError(.malformed, "Unexpected number of parts in request body")
    }
    if isAtEnd {
      state = .ended
      events.append(.end)
      return true
    }
    if part == 0 { body.adoptLineBreak() }
    let headers = body.takeHeaders()
    // Up to three bytes of the empty line may be there.
    guard headers.map({ $0.count <= maximumHeaders }) ?? (body.count < maximumHeaders + 4) else {
      throw BytesError(.limitExceeded, "the headers of a part are too long")
    }
    guard let headers else { return false }
    part += 1
    guard part == 2 else {
      state = .metadata
      return true
    }
    state = .content
    events.append(.content(type: Self.contentType(headers)))
    return true
  }

  private mutating func readContent(_ events: inout [Event]) throws(BytesError) -> Bool {
    if state == .metadata {
      let found = body.scanContent()
      guard found.count <= maximumMetadata else { throw BytesError(.limitExceeded, "the metadata is too long") }
      guard found.isWhole else { return false }
    }
    let content = body.takeContent()
    switch state {
    case .metadata: events.append(.metadata(content.bytes))
    case .content where !content.bytes.isEmpty: events.append(.bytes(content.bytes))
    default: break
    }
    if content.isWhole { state = .headers }
    return content.isWhole
  }
}

extension MultipartMachine {
  /// The body of an upload.
  ///
  /// - Parameters:
  ///   - metadata: The JSON of the metadata.
  ///   - contentType: The type of the content.
  ///   - content: The content.
  ///   - boundary: A string that is in neither part, such as a random one.
  public static func body(
    metadata: [UInt8], contentType: String, content: [UInt8], boundary: String
  ) -> [UInt8] {
    let type = String(contentType.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }.map(Character.init))
    return Array("--\(boundary)\r\nContent-Type: application/json; charset=utf-8\r\n\r\n".utf8) + metadata
      + Array("\r\n--\(boundary)\r\nContent-Type: \(type)\r\n\r\n".utf8) + content
      + Array("\r\n--\(boundary)--\r\n".utf8)
  }

  /// The type among the headers of a part; `nil` without one.
  private static func contentType(_ headers: [UInt8]) -> String? {
    for line in headers.split(separator: 10) {
      let text = String(decoding: line, as: UTF8.self)
      guard text.lowercased().hasPrefix("content-type:") else { continue }
      let value = text.dropFirst(13).filter { $0 != "\r" }.drop { $0 == " " }
      return value.isEmpty ? nil : String(value)
    }
    return nil
  }
}
