public import VestaBytes

/// The body of a POST of a WebChannel: messages with their numbers, and in the first one the headers of the call.
public struct WebChannelBody: Sendable, Hashable {
  /// A message and its number in the session.
  public struct Message: Sendable, Hashable {
    /// The number, from 0.
    public var number: Int
    /// The JSON.
    public var json: String

    /// A message.
    public init(_ number: Int, _ json: String) {
      self.number = number
      self.json = json
    }
  }

  /// A header of the call.
  public struct Header: Sendable, Hashable {
    /// The name in lower case.
    public var name: String
    /// The value.
    public var value: String

    /// A header.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The headers of the call; empty for all bodies but the first.
  public var headers: [Header]
  /// The messages, in the order of their numbers.
  public var messages: [Message]

  /// A body.
  public init(headers: [Header] = [], messages: [Message] = []) {
    self.headers = headers
    self.messages = messages
  }

  private static let prefix = "req"
  private static let suffix = "___data__"

  /// Reads a body.
  ///
  /// Numbers of messages may have gaps: a client that sends again counts from an earlier one.
  ///
  /// - Parameters:
  /// - bytes: The form.
  /// - maximumMessages: The largest number of messages.
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public init(_ bytes: [UInt8], maximumMessages: Int = 10_000) throws(BytesError) {
    let fields = try FormFields(utf8: bytes, maximumCount: maximumMessages + 16)
    let offset = try fields["ofs"].map { text throws(BytesError) in try WebChannelRequest.number(text) } ?? 0
    var messages: [Int: String] = [:]
    for field in fields.fields {
      if let number = try Self.number(ofField: field.name) { messages[offset + number] = field.value }
    }
    if let count = fields["count"] {
      guard try WebChannelRequest.number(count) == messages.count else {
        throw BytesError(.malformed, "a body has not as many messages as it says")
      }
    }
    headers = fields["headers"].map(Self.headers) ?? []
    self.messages = messages.sorted { $0.key < $1.key }.map { Message($0.key, $0.value) }
  }

  /// The number of a message in its body, by the name of its field; `nil` for another field.
  static func number(ofField name: String) throws(BytesError) -> Int? {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
    return try WebChannelRequest.number(String(name.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)))
  }

  /// The form of the body.
  public var bytes: [UInt8] {
    var fields = FormFields()
    if !headers.isEmpty {
      fields.append("headers", headers.map { "\($0.name):\($0.value)\r\n" }.joined())
    }
    fields.append("count", "\(messages.count)")
    guard let first = messages.first?.number else { return Array(fields.text.utf8) }
    fields.append("ofs", "\(first)")
    for message in messages { fields.append("req\(message.number - first)\(Self.suffix)", message.json) }
    return Array(fields.text.utf8)
  }

  /// The headers of lines; there may be no space after a colon.
  private static func headers(_ text: String) -> [Header] {
    text.split { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }.compactMap { line in
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return Header(line[..<colon].lowercased(), String(value))
    }
  }
}
