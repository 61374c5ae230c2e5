public import VestaBytes

/// Reads a body of the type `multipart/form-data`: the fields of a form, and then its file.
///
/// The file is handed out as it is received and is never kept as a whole; the fields are bounded. Fields after the file
/// are ignored, as in Google's XML; of another file there is the event alone that it begins.
public struct FormDataMachine: Sendable {
  /// A part of the body that was recognized.
  public enum Event: Sendable, Hashable {
    /// A field.
    case field(name: String, value: String)
    /// The file begins; with the name that it has at the client.
    case file(name: String)
    /// Bytes of the file.
    case bytes([UInt8])
    /// The file has ended.
    case end
  }

  private enum State { case preamble, headers, field(String), file, laterHeaders, laterContent, ended }

  private var body: DelimitedBytes
  private let maximumFields: Int
  private var state = State.preamble
  /// The bytes of all fields and headers so far.
  private var fieldBytes = 0

  /// A machine for a body.
  ///
  /// - Parameters:
  ///   - contentType: The header `content-type`.
  ///   - maximumFields: The most bytes of all fields and headers.
  /// - Throws: `BytesError` with `.malformed` for another type, and for one without a boundary.
  public init(contentType: String, maximumFields: Int = 1 << 20) throws(BytesError) {
    body = try DelimitedBytes(contentType: contentType, type: "multipart/form-data")
    self.maximumFields = maximumFields
  }

  /// Whether the file has ended.
  public var isEnded: Bool {
    switch state {
    case .laterHeaders, .laterContent, .ended: true
    case .preamble, .headers, .field, .file: false
    }
  }

  /// Takes a piece of the body.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`; nothing else can be read from the body then.
  public mutating func received(_ piece: [UInt8]) throws(BytesError) -> [Event] {
    if case .ended = state { return [] }
    body.append(piece)
    var events: [Event] = []
    while try step(&events) {}
    return events
  }

  /// Carries out one transition; returns whether another one may be possible.
  private mutating func step(_ events: inout [Event]) throws(BytesError) -> Bool {
    switch state {
    case .ended:
      body.removeAll()
      return false
    case .headers: return try readHeaders(&events)
    case .laterHeaders: return readLaterHeaders(&events)
    case .laterContent:
      guard body.takeContent().isWhole else { return false }
      state = .laterHeaders
      return true
    case .preamble, .field, .file: return try readContent(&events)
    }
  }

  private mutating func readHeaders(_ events: inout [Event]) throws(BytesError) -> Bool {
    guard let isAtEnd = body.isAtEnd else { return false }
    guard !isAtEnd else { throw BytesError(.malformed, "the form has no file") }
    guard let headers = body.takeHeaders() else {
      try count(body.count, isKept: false)
      return false
    }
    try count(headers.count)
    let (name, file) = try Self.names(headers)
    guard name.lowercased() == "file" else {
      state = .field(name)
      return true
    }
    state = .file
    events.append(.file(name: file ?? ""))
    return true
  }

  private mutating func readContent(_ events: inout [Event]) throws(BytesError) -> Bool {
    if case .field = state {
      let found = body.scanContent()
      try count(found.count, isKept: found.isWhole)
      guard found.isWhole else { return false }
    }
    let content = body.takeContent()
    let isFile = if case .file = state { true } else { false }
    if case .field(let name) = state {
      events.append(.field(name: name, value: String(decoding: content.bytes, as: UTF8.self)))
    } else if isFile, !content.bytes.isEmpty {
      events.append(.bytes(content.bytes))
    }
    guard content.isWhole else { return false }
    if isFile { events.append(.end) }
    state = isFile ? .laterHeaders : .headers
    return true
  }

  /// Reads the headers of a part after the file; what is wrong there is no reason to refuse the file.
  private mutating func readLaterHeaders(_ events: inout [Event]) -> Bool {
    guard let isAtEnd = body.isAtEnd else { return false }
    let headers = isAtEnd ? nil : body.takeHeaders()
    if headers == nil, !isAtEnd, body.count <= maximumFields { return false }
    guard let headers, let name = try? Self.names(headers).name else {
      state = .ended
      return true
    }
    let isFile = name.lowercased() == "file"
    if isFile { events.append(.file(name: "")) }
    state = isFile ? .ended : .laterContent
    return true
  }

  private mutating func count(_ bytes: Int, isKept: Bool = true) throws(BytesError) {
    guard fieldBytes + bytes <= maximumFields else {
      throw BytesError(.limitExceeded, "the fields of the form are too long")
    }
    if isKept { fieldBytes += bytes }
  }

  /// The names of a field and of its file in the headers of a part.
  private static func names(_ headers: [UInt8]) throws(BytesError) -> (name: String, file: String?) {
    for line in String(decoding: headers, as: UTF8.self).split(whereSeparator: \.isNewline) {
      guard line.lowercased().hasPrefix("content-disposition:") else { continue }
      if let name = parameter("name", of: line) { return (name, parameter("filename", of: line)) }
    }
    throw BytesError(.malformed, "a part of the form has no name")
  }

  private static func parameter(_ name: String, of line: Substring) -> String? {
    var isQuoted = false
    let parts = line.split(omittingEmptySubsequences: false) { character in
      if character == "\"" { isQuoted.toggle() }
      return character == ";" && !isQuoted
    }
    for part in parts.dropFirst() {
      let text = part.drop { $0 == " " }
      guard text.lowercased().hasPrefix("\(name)=") else { continue }
      let value = text.dropFirst(name.count + 1)
      return value.hasPrefix("\"") ? String(value.dropFirst().prefix { $0 != "\"" }) : String(value)
    }
    return nil
  }
}
