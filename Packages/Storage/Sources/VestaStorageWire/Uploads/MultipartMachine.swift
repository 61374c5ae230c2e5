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

  /// The end of each line, as the first delimiter has it: clients that are written by hand send line feeds alone.
  private var lineBreak: [UInt8] = [13, 10]
  private let boundary: [UInt8]
  private var delimiter: [UInt8]
  private let maximumMetadata: Int
  private let maximumHeaders: Int
  private var state = State.preamble
  private var part = 0
  /// Bytes that cannot be judged yet: the beginning of a delimiter, or a line of headers.
  private var rest: [UInt8]
  /// The number of bytes of the rest at which no delimiter begins.
  private var scanned = 0
  /// The number of bytes of the rest that are not the content's: they stand for the empty line in front of it.
  private var borrowed = 0

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
    guard let boundary = Self.boundary(contentType) else {
      throw BytesError(.malformed, "Bad content type. \(contentType.prefix(100))")
    }
    self.boundary = Array("--\(boundary)".utf8)
    delimiter = lineBreak + self.boundary
    self.maximumMetadata = maximumMetadata
    self.maximumHeaders = maximumHeaders
    // The first delimiter has no line in front of it.
    rest = lineBreak
  }

  /// Takes a piece of the body.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`; nothing else can be read from the body then.
  public mutating func received(_ piece: [UInt8]) throws(BytesError) -> [Event] {
    rest += piece
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
      rest = []
      return false
    case .headers: return try readHeaders(&events)
    case .preamble, .metadata, .content: return try readContent(&events)
    }
  }

  private mutating func readHeaders(_ events: inout [Event]) throws(BytesError) -> Bool {
    // The line of the delimiter ends first: with two dashes the body ends.
    guard rest.count >= 2 else { return false }
    if rest.starts(with: Array("--".utf8)) {
      guard part == 2 else { throw BytesError(.malformed, "Unexpected number of parts in request body") }
      state = .ended
      events.append(.end)
      return true
    }
    guard part < 2 else { throw BytesError(.malformed, "Unexpected number of parts in request body") }
    if part == 0, rest[0] == 10 {
      lineBreak = [10]
      delimiter = lineBreak + boundary
    }
    guard let end = Self.firstIndex(of: lineBreak + lineBreak, in: rest, from: 0) else {
      // Up to three bytes of the empty line may be there.
      guard rest.count < maximumHeaders + 4 else {
        throw BytesError(.limitExceeded, "the headers of a part are too long")
      }
      return false
    }
    guard end <= maximumHeaders else { throw BytesError(.limitExceeded, "the headers of a part are too long") }
    let type = Self.contentType(Array(rest[..<end]))
    rest.removeFirst(end + 2 * lineBreak.count)
    part += 1
    guard part == 2 else {
      state = .metadata
      return true
    }
    state = .content
    events.append(.content(type: type))
    // A content of nothing: its delimiter follows the empty line at once.
    rest.insert(contentsOf: lineBreak, at: 0)
    borrowed = lineBreak.count
    return true
  }

  private mutating func readContent(_ events: inout [Event]) throws(BytesError) -> Bool {
    let found = Self.firstIndex(of: delimiter, in: rest, from: scanned)
    // Without a delimiter all bytes but the possible beginning of one are content.
    let count = found ?? max(0, rest.count - delimiter.count + 1)
    switch state {
    case .metadata:
      guard count <= maximumMetadata else { throw BytesError(.limitExceeded, "the metadata is too long") }
      guard found != nil else {
        scanned = count
        return false
      }
      events.append(.metadata(Array(rest[..<count])))
    case .content:
      let skipped = min(borrowed, count)
      borrowed -= skipped
      if count > skipped { events.append(.bytes(Array(rest[skipped..<count]))) }
    default: break
    }
    guard found != nil else {
      rest.removeFirst(count)
      return false
    }
    (scanned, borrowed) = (0, 0)
    rest.removeFirst(count + delimiter.count)
    state = .headers
    return true
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

  /// The boundary of a type, with or without quotes of either kind; `nil` for another type.
  static func boundary(_ contentType: String, of type: String = "multipart/related") -> String? {
    let parts = contentType.split(separator: ";", omittingEmptySubsequences: false)
    guard parts.first?.lowercased().filter({ $0 != " " }) == type else { return nil }
    for part in parts.dropFirst() {
      let text = part.drop { $0 == " " }
      guard text.lowercased().hasPrefix("boundary=") else { continue }
      let value = text.dropFirst(9).filter { $0 != "\"" && $0 != "'" && $0 != " " }
      let isValid = value.utf8.allSatisfy { $0 > 32 && $0 < 127 }
      return isValid && (1...200).contains(value.utf8.count) ? value : nil
    }
    return nil
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

  static func firstIndex(of pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count >= pattern.count else { return nil }
    return bytes.withUnsafeBufferPointer { bytes in
      // Unsafe pointer, used inside the closure only: the search reads every byte of an upload.
      let last = bytes.count - pattern.count
      var index = min(start, bytes.count)
      while index <= last {
        if bytes[index] == pattern[0], pattern.indices.allSatisfy({ bytes[index + $0] == pattern[$0] }) { return index }
        index += 1
      }
      return nil
    }
  }
}
