public import VestaBytes

/// A call in a batch.
public struct BatchCall: Sendable, Hashable {
  /// The id of the part, which its response names again; `nil` for a part without one.
  public var id: String?
  /// The method of HTTP.
  public var method: String
  /// The path and the query.
  public var target: String
  /// The header fields, by their names in lower case.
  public var fields: [Field]
  /// The body.
  public var body: [UInt8]

  /// A header field.
  public struct Field: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// A field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A call.
  public init(id: String? = nil, _ method: String, _ target: String, fields: [Field] = [], body: [UInt8] = []) {
    self.id = id
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
  }
}

/// The response to a call of a batch.
public struct BatchAnswer: Sendable, Hashable {
  /// The id of the part with the call.
  public var id: String?
  /// The status of HTTP.
  public var status: Int
  /// The phrase of the status.
  public var reason: String
  /// The type of the body; `nil` for none.
  public var contentType: String?
  /// The body.
  public var body: [UInt8]

  /// A response.
  public init(id: String?, status: Int, reason: String, contentType: String? = nil, body: [UInt8] = []) {
    self.id = id
    self.status = status
    self.reason = reason
    self.contentType = contentType
    self.body = body
  }
}

/// Several calls of Google's JSON in one request, and the responses to them, as `multipart/mixed`.
///
/// Each part has the type `application/http`, and holds a request line, header fields and a body. Lines of a request
/// may end with a line feed alone, as libraries of mail write them.
public enum BatchWire {
  /// The largest number of calls of a batch.
  public static let maximumCount = 100

  private static let boundary = "batch_vesta"

  /// The type of the body of a response.
  public static let contentType = "multipart/mixed; boundary=\(boundary)"

  /// Reads the calls of a batch.
  ///
  /// - Parameters:
  ///   - contentType: The header `content-type`.
  ///   - body: The body.
  /// - Throws: `BytesError` with `.malformed`; `.limitExceeded` for more calls than ``maximumCount``.
  public static func calls(contentType: String, body: [UInt8]) throws(BytesError) -> [BatchCall] {
    guard let boundary = DelimitedBytes.boundary(contentType, of: "multipart/mixed") else {
      throw BytesError(.malformed, "A batch has the type multipart/mixed with a boundary.")
    }
    var calls: [BatchCall] = []
    for part in try parts(of: body, boundary) {
      guard calls.count < maximumCount else {
        throw BytesError(.limitExceeded, "A batch has at most \(maximumCount) calls.")
      }
      calls.append(try call(part))
    }
    guard !calls.isEmpty else { throw BytesError(.malformed, "The batch has no calls.") }
    return calls
  }

  /// The bytes between the delimiters, each of which is a line.
  private static func parts(of body: [UInt8], _ boundary: String) throws(BytesError) -> [ArraySlice<UInt8>] {
    let delimiter = Array("--\(boundary)".utf8)
    var parts: [ArraySlice<UInt8>] = []
    var start: Int?
    var index = body.startIndex
    while index < body.endIndex {
      let line = body[index...].prefix { $0 != 10 }
      let next = min(line.endIndex + 1, body.endIndex)
      if line.starts(with: delimiter) {
        let rest = trimmed(line.dropFirst(delimiter.count))
        if rest.isEmpty || rest.elementsEqual("--".utf8) {
          if let start { parts.append(withoutLastBreak(body[start..<index])) }
          if !rest.isEmpty { return parts }
          start = next
        }
      }
      index = next
    }
    throw BytesError(.malformed, "The batch has no last delimiter.")
  }

  private static func call(_ part: ArraySlice<UInt8>) throws(BytesError) -> BatchCall {
    let (outer, message) = try head(part)
    let line = message.prefix { $0 != 10 }
    let words = String(decoding: trimmed(line), as: UTF8.self).split(separator: " ")
    guard words.count >= 2, let target = target(String(words[1])) else {
      throw BytesError(.malformed, "A part of the batch has no request line.")
    }
    let (fields, rest) = try head(message.dropFirst(line.count + 1))
    let length = value("content-length", fields).flatMap { ByteRangeWire.number($0) }
    let body = length.map { rest.prefix(Int(min($0, Int64(rest.count)))) } ?? rest
    return BatchCall(
      id: value("content-id", outer), String(words[0]), target, fields: fields, body: Array(body))
  }

  /// The path and the query of a target, which libraries write with the origin in front of it.
  private static func target(_ text: String) -> String? {
    if text.hasPrefix("/") { return text }
    let scheme = ["http://", "https://"].first { text.hasPrefix($0) }
    guard let rest = scheme.map({ text.dropFirst($0.count) }) else { return nil }
    return rest.firstIndex(of: "/").map { String(rest[$0...]) }
  }

  /// The header fields up to the first empty line, and what follows it.
  private static func head(
    _ bytes: ArraySlice<UInt8>
  ) throws(BytesError) -> (fields: [BatchCall.Field], rest: ArraySlice<UInt8>) {
    var fields: [BatchCall.Field] = []
    var rest = bytes
    while !rest.isEmpty {
      let line = rest.prefix { $0 != 10 }
      rest = rest.dropFirst(line.count + 1)
      let text = trimmed(line)
      if text.isEmpty { return (fields, rest) }
      let name = text.prefix { $0 != UInt8(ascii: ":") }
      guard name.count < text.count, !name.isEmpty, fields.count < 100 else {
        throw BytesError(.malformed, "A part of the batch has a line that is no header field.")
      }
      fields.append(
        BatchCall.Field(
          String(decoding: trimmed(name), as: UTF8.self).lowercased(),
          String(decoding: trimmed(text.dropFirst(name.count + 1)), as: UTF8.self)))
    }
    return (fields, rest)
  }

  private static func value(_ name: String, _ fields: [BatchCall.Field]) -> String? {
    fields.first { $0.name == name }?.value
  }

  /// Bytes without spaces, tabs and carriage returns at both ends.
  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }
    var bytes = bytes.drop(while: isBlank)
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return bytes
  }

  /// The bytes of a part without the line break that belongs to the delimiter after it.
  private static func withoutLastBreak(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let rest = bytes.last == 10 ? bytes.dropLast() : bytes
    return rest.last == 13 ? rest.dropLast() : rest
  }

  /// The body of a response.
  ///
  /// Bodies of answers are JSON in one line, in which no delimiter can begin; line breaks of another body become
  /// spaces.
  public static func body(of answers: [BatchAnswer]) -> [UInt8] {
    var out: [UInt8] = []
    for answer in answers {
      var head = "--\(boundary)\r\nContent-Type: application/http\r\n"
      if let id = answer.id { head += "Content-ID: \(responseID(id))\r\n" }
      head += "\r\nHTTP/1.1 \(answer.status) \(answer.reason)\r\n"
      if let type = answer.contentType { head += "Content-Type: \(type)\r\n" }
      head += "Content-Length: \(answer.body.count)\r\n\r\n"
      out += head.utf8
      out += answer.body.map { $0 == 10 || $0 == 13 ? 32 : $0 }
      out += "\r\n".utf8
    }
    out += "--\(boundary)--\r\n".utf8
    return out
  }

  /// The id of the response to a part: `<a>` becomes `<response-a>`.
  private static func responseID(_ id: String) -> String {
    id.hasPrefix("<") ? "<response-\(id.dropFirst())" : "response-\(id)"
  }
}
