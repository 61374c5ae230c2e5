/// An event of a stream of the type `text/event-stream`.
///
/// ```swift
/// let stream = ByteStream()
/// try await stream.write(ServerSentEvent("{\"path\":\"/\"}", name: "put").encoded)
/// let response = HTTPResponse(fields: [.contentType: ServerSentEvent.contentType], body: .stream(stream))
/// ```
public struct ServerSentEvent: Sendable, Hashable {
  /// The type of a stream of events.
  public static let contentType = "text/event-stream"

  /// A comment, which keeps a silent connection open and is no event.
  public static let keepAlive: [UInt8] = Array(":\n\n".utf8)

  /// The name of the event; `nil` for `message`.
  public var name: String?

  /// The data, of one or more lines.
  public var data: String

  /// The id from which a client resumes; `nil` leaves the last one.
  public var id: String?

  /// The number of milliseconds after which a client connects again; `nil` leaves it.
  public var retry: Int?

  /// An event.
  public init(_ data: String, name: String? = nil, id: String? = nil, retry: Int? = nil) {
    self.name = name
    self.data = data
    self.id = id
    self.retry = retry
  }

  /// The event as it is sent.
  ///
  /// The ends of lines in a name or an id become spaces, as they would end them.
  public var encoded: [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(data.utf8.count + 32)
    func line(_ field: String, _ value: some Sequence<UInt8>) {
      out.append(contentsOf: field.utf8)
      out.append(contentsOf: ": ".utf8)
      out.append(contentsOf: value)
      out.append(10)
    }
    func oneLine(_ text: String) -> [UInt8] { text.utf8.map { $0 == 10 || $0 == 13 || $0 == 0 ? 32 : $0 } }
    if let name { line("event", oneLine(name)) }
    if let id { line("id", oneLine(id)) }
    if let retry { line("retry", "\(max(0, retry))".utf8) }
    for part in Self.lines(of: data) { line("data", part) }
    out.append(10)
    return out
  }

  /// The lines of a text, which end with CR LF, CR or LF.
  private static func lines(of text: String) -> [[UInt8]] {
    var lines: [[UInt8]] = [[]]
    var wasCR = false
    for byte in text.utf8 {
      defer { wasCR = byte == 13 }
      if byte == 10, wasCR { continue }
      if byte == 10 || byte == 13 { lines.append([]) } else { lines[lines.count - 1].append(byte) }
    }
    return lines
  }
}

/// Reads a stream of events; pure, so it can be fed in any pieces.
public struct ServerSentEventReader: Sendable {
  private var line: [UInt8] = []
  private var event = ServerSentEvent("")
  private var data: [UInt8] = []
  private var hasData = false
  private var wasCR = false
  private var isFirstLine = true
  private let limit: Int

  /// The last id that was received, which a client sends to resume.
  public private(set) var lastID: String?

  /// A reader at the beginning of a stream.
  ///
  /// - Parameter limit: The largest event, in bytes.
  public init(limit: Int = 16 << 20) { self.limit = limit }

  /// Reads bytes.
  ///
  /// - Returns: The events that ended in them, in order.
  /// - Throws: ``TransportError`` with `.tooLarge`.
  public mutating func read(_ bytes: some Sequence<UInt8>) throws(TransportError) -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    for byte in bytes {
      let isPair = wasCR && byte == 10
      wasCR = byte == 13
      if isPair { continue }
      guard byte == 10 || byte == 13 else {
        line.append(byte)
        guard line.count + data.count <= limit else {
          throw TransportError(.tooLarge, "An event has more than \(limit) bytes.")
        }
        continue
      }
      if let event = endLine() { events.append(event) }
    }
    return events
  }

  private mutating func endLine() -> ServerSentEvent? {
    defer { line.removeAll(keepingCapacity: true) }
    if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    isFirstLine = false
    guard !line.isEmpty else { return dispatch() }
    let colon = line.firstIndex(of: UInt8(ascii: ":"))
    let field = line[..<(colon ?? line.endIndex)]
    var value = colon.map { line[($0 + 1)...] } ?? []
    if value.first == 32 { value = value.dropFirst() }
    if field.elementsEqual("data".utf8) {
      if hasData { data.append(10) }
      data += value
      hasData = true
    } else if field.elementsEqual("event".utf8) {
      event.name = value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    } else if field.elementsEqual("id".utf8), !value.contains(0) {
      event.id = String(decoding: value, as: UTF8.self)
      lastID = event.id
    } else if field.elementsEqual("retry".utf8), !value.isEmpty, value.allSatisfy({ $0 &- 48 < 10 }) {
      event.retry = Int(String(decoding: value, as: UTF8.self))
    }
    return nil
  }

  /// An event without data is none, as the standard says; its name is forgotten.
  private mutating func dispatch() -> ServerSentEvent? {
    defer {
      event = ServerSentEvent("")
      data = []
      hasData = false
    }
    guard hasData else { return nil }
    event.data = String(decoding: data, as: UTF8.self)
    return event
  }
}
