public import VestaBytes

/// Reads the body of a large POST of a WebChannel piece by piece.
///
/// A browser that was offline sends all its waiting writes in one POST, each as large as the service allows, and
/// percent-encoded: three bytes for one. No more of it is in memory than one message.
///
/// ```swift
/// var reader = WebChannelBodyReader(maximumMessageBytes: 1 << 20)
/// for try await piece in body { for message in try reader.received(piece) { take(message) } }
/// for message in try reader.finished() { take(message) }
/// ```
///
/// Unlike `WebChannelBody`, which has all of a body, it needs the offset before the messages, where browsers write it.
public struct WebChannelBodyReader: Sendable {
  private let maximumMessageBytes: Int
  private let maximumMessages: Int
  private var name: [UInt8] = []
  /// The decoded value of the field; `nil` while its name is read.
  private var value: [UInt8]?
  /// Whether the value is longer than a message may be; the rest of it is dropped.
  private var isTooLarge = false
  /// The bytes of an escape so far, its percent sign aside; `nil` outside of one.
  private var escape: [UInt8]?
  private var offset: Int?
  private var count = 0

  /// A reader at the beginning of a body.
  ///
  /// - Parameters:
  ///   - maximumMessageBytes: The most bytes of a message's JSON.
  ///   - maximumMessages: The largest number of messages.
  public init(maximumMessageBytes: Int, maximumMessages: Int = 10_000) {
    self.maximumMessageBytes = maximumMessageBytes
    self.maximumMessages = maximumMessages
  }

  /// Takes the next bytes.
  ///
  /// - Returns: The messages that they complete; one that is too large has an empty text, which is no JSON.
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public mutating func received(_ bytes: [UInt8]) throws(BytesError) -> [WebChannelBody.Message] {
    var messages: [WebChannelBody.Message] = []
    for byte in bytes {
      if escape != nil {
        try takeEscaped(byte)
      } else if byte == UInt8(ascii: "&") {
        if let message = try endField() { messages.append(message) }
      } else if byte == UInt8(ascii: "="), value == nil {
        value = []
      } else if byte == UInt8(ascii: "%") {
        escape = []
      } else {
        try append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return messages
  }

  /// Ends the body.
  ///
  /// - Returns: The last message, if there is one.
  /// - Throws: As ``received(_:)``.
  public mutating func finished() throws(BytesError) -> [WebChannelBody.Message] {
    guard escape == nil else { throw BytesError(.malformed, "a body ends in an escape") }
    return try endField().map { [$0] } ?? []
  }

  // MARK: Parts

  private mutating func takeEscaped(_ byte: UInt8) throws(BytesError) {
    guard let digit = Hex.value(byte) else { throw BytesError(.malformed, "a % is not followed by two digits") }
    guard let high = escape?.first else {
      escape = [digit]
      return
    }
    escape = nil
    try append(high << 4 | digit)
  }

  private mutating func append(_ byte: UInt8) throws(BytesError) {
    guard let length = value?.count else {
      name.append(byte)
      guard name.count <= 64 else { throw BytesError(.limitExceeded, "a field of a body has a long name") }
      return
    }
    if length < maximumMessageBytes { value?.append(byte) } else { isTooLarge = true }
  }

  private mutating func endField() throws(BytesError) -> WebChannelBody.Message? {
    let field = String(decoding: name, as: UTF8.self)
    let content = isTooLarge ? [] : value ?? []
    let text = String(validating: content, as: UTF8.self)
    (name, value, isTooLarge) = ([], nil, false)
    guard let text else { throw BytesError(.malformed, "a field of a body is not UTF-8") }
    if field == "ofs" { offset = try WebChannelRequest.number(text) }
    guard let number = try WebChannelBody.number(ofField: field) else { return nil }
    count += 1
    guard let offset else { throw BytesError(.malformed, "a body has messages before their offset") }
    guard count <= maximumMessages else { throw BytesError(.limitExceeded, "a body has too many messages") }
    return WebChannelBody.Message(offset + number, text)
  }
}
