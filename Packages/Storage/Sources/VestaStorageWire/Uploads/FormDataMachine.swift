public import VestaBytes

/// Reads a body of the type `multipart/form-data`: the fields of a form, and then its file.
///
/// The file is handed out as it is received and is never kept as a whole; the fields are bounded. Fields after the file
/// are ignored, as in Google's XML.
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

  private enum State { case preamble, headers, field(String), file, ended }

  private let delimiter: [UInt8]
  private let maximumFields: Int
  private var state = State.preamble
  /// Bytes that cannot be judged yet.
  private var rest: [UInt8]
  private var scanned = 0
  /// The bytes of all fields and headers so far.
  private var fieldBytes = 0
  /// The bytes of the rest that stand for the empty line in front of a part, and are not the part's.
  private var borrowed = 0

  /// A machine for a body.
  ///
  /// - Parameters:
  ///   - contentType: The header `content-type`.
  ///   - maximumFields: The most bytes of all fields and headers.
  /// - Throws: `BytesError` with `.malformed` for another type, and for one without a boundary.
  public init(contentType: String, maximumFields: Int = 1 << 20) throws(BytesError) {
    guard let boundary = MultipartMachine.boundary(contentType, of: "multipart/form-data") else {
      throw BytesError(.malformed, "Bad content type. \(contentType.prefix(100))")
    }
    delimiter = Array("\r\n--\(boundary)".utf8)
    self.maximumFields = maximumFields
    // The first delimiter has no line in front of it.
    rest = [13, 10]
  }

  /// Whether the file has ended.
  public var isEnded: Bool { if case .ended = state { true } else { false } }

  /// Takes a piece of the body.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`; nothing else can be read from the body then.
  public mutating func received(_ piece: [UInt8]) throws(BytesError) -> [Event] {
    guard !isEnded else { return [] }
    rest += piece
    var events: [Event] = []
    while try step(&events) {}
    return events
  }

  /// Carries out one transition; returns whether another one may be possible.
  private mutating func step(_ events: inout [Event]) throws(BytesError) -> Bool {
    switch state {
    case .ended:
      rest = []
      return false
    case .headers: return try readHeaders(&events)
    case .preamble, .field, .file: return try readContent(&events)
    }
  }

  private mutating func readHeaders(_ events: inout [Event]) throws(BytesError) -> Bool {
    guard rest.count >= 2 else { return false }
    guard !rest.starts(with: Array("--".utf8)) else { throw BytesError(.malformed, "the form has no file") }
    guard let end = MultipartMachine.firstIndex(of: [13, 10, 13, 10], in: rest, from: 0) else {
      try count(rest.count, isKept: false)
      return false
    }
    try count(end)
    let (name, file) = try Self.names(rest[..<end])
    rest.removeFirst(end + 4)
    // A part of nothing: its delimiter follows the empty line at once.
    rest.insert(contentsOf: [13, 10], at: 0)
    borrowed = 2
    guard name.lowercased() == "file" else {
      state = .field(name)
      return true
    }
    state = .file
    events.append(.file(name: file ?? ""))
    return true
  }

  private mutating func readContent(_ events: inout [Event]) throws(BytesError) -> Bool {
    let found = MultipartMachine.firstIndex(of: delimiter, in: rest, from: scanned)
    let length = found ?? max(0, rest.count - delimiter.count + 1)
    let skipped = min(borrowed, length)
    switch state {
    case .file:
      if length > skipped { events.append(.bytes(Array(rest[skipped..<length]))) }
      borrowed -= skipped
      if found == nil { rest.removeFirst(length) }
    case .field(let name):
      try count(length, isKept: found != nil)
      if found != nil {
        events.append(.field(name: name, value: String(decoding: rest[skipped..<length], as: UTF8.self)))
      } else {
        scanned = length
      }
    default:
      if found == nil { rest.removeFirst(length) }
    }
    guard found != nil else { return false }
    (scanned, borrowed) = (0, 0)
    rest.removeFirst(length + delimiter.count)
    if case .file = state {
      events.append(.end)
      state = .ended
    } else {
      state = .headers
    }
    return true
  }

  private mutating func count(_ bytes: Int, isKept: Bool = true) throws(BytesError) {
    guard fieldBytes + bytes <= maximumFields else {
      throw BytesError(.limitExceeded, "the fields of the form are too long")
    }
    if isKept { fieldBytes += bytes }
  }

  /// The names of a field and of its file in the headers of a part.
  private static func names(_ headers: ArraySlice<UInt8>) throws(BytesError) -> (name: String, file: String?) {
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
