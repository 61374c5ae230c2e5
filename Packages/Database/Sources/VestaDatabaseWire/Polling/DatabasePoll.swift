public import VestaBytes

/// A request of long polling, by which browsers reach the service without a WebSocket.
public enum DatabasePoll: Sendable, Hashable {
  /// Begins a session; the answer names its id and password.
  case start(DatabaseOpening, callback: String, serial: Int)
  /// Waits for messages, and carries segments of messages of the client.
  case poll(id: String, password: String, serial: Int, [Segment])
  /// Asks for the page that reports the end of the browser's page.
  case frame(id: String, password: String)
  /// Ends the session.
  case disconnect(id: String, password: String)

  /// A part of a message of a client.
  public struct Segment: Sendable, Hashable {
    /// The number of the segment in the session.
    public var number: Int
    /// The number of the segments of the message.
    public var count: Int
    /// A part of the message's base64.
    public var text: String

    /// A segment.
    public init(number: Int, count: Int, text: String) {
      self.number = number
      self.count = count
      self.text = text
    }
  }

  /// Reads the query of a URL.
  ///
  /// - Throws: `BytesError` with `.malformed`, also for a callback that is no number: it becomes part of a script.
  public init(query: String) throws(BytesError) {
    let fields = try FormFields(query, plusIsSpace: false, maximumCount: 256)
    if fields["start"] != nil {
      guard let callback = fields["cb"], Self.isNumber(callback) else {
        throw BytesError(.malformed, "the callback is no number")
      }
      self = .start(try DatabaseOpening(fields), callback: callback, serial: Self.number(fields["ser"]) ?? 0)
      return
    }
    guard let id = fields["id"], let password = fields["pw"] else {
      throw BytesError(.malformed, "a poll names no session")
    }
    if fields["disconn"] != nil {
      self = .disconnect(id: id, password: password)
    } else if fields["dframe"] != nil {
      self = .frame(id: id, password: password)
    } else {
      let segments = try Self.segments(fields)
      self = .poll(id: id, password: password, serial: Self.number(fields["ser"]) ?? 0, segments)
    }
  }

  /// The query of the URL.
  public var query: String {
    var fields = FormFields()
    switch self {
    case .start(let opening, let callback, let serial):
      fields.append("start", "t")
      fields.append("ser", "\(serial)")
      fields.append("cb", callback)
      for field in opening.fields.fields { fields.append(field.name, field.value) }
    case .poll(let id, let password, let serial, let segments):
      fields.append("id", id)
      fields.append("pw", password)
      fields.append("ser", "\(serial)")
      for (index, segment) in segments.enumerated() {
        fields.append("seg\(index)", "\(segment.number)")
        fields.append("ts\(index)", "\(segment.count)")
        fields.append("d\(index)", segment.text)
      }
    case .frame(let id, let password):
      fields.append("dframe", "t")
      fields.append("id", id)
      fields.append("pw", password)
    case .disconnect(let id, let password):
      fields.append("disconn", "t")
      fields.append("id", id)
      fields.append("pw", password)
    }
    return fields.text
  }

  private static func segments(_ fields: FormFields) throws(BytesError) -> [Segment] {
    var segments: [Segment] = []
    while let text = fields["d\(segments.count)"] {
      let index = segments.count
      guard let number = Self.number(fields["seg\(index)"]), let count = Self.number(fields["ts\(index)"]), count > 0
      else {
        throw BytesError(.malformed, "a segment has no number")
      }
      segments.append(Segment(number: number, count: count, text: text))
    }
    return segments
  }

  private static func isNumber(_ text: String) -> Bool {
    (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { $0 &- 48 < 10 }
  }

  private static func number(_ text: String?) -> Int? { text.flatMap { isNumber($0) ? Int($0) : nil } }
}

extension DatabasePoll {
  /// Cuts a message of a client into segments.
  ///
  /// - Parameters:
  ///   - message: The JSON of the message.
  ///   - number: The number of the first segment.
  ///   - tuning: The figures of the codec.
  public static func segments(
    of message: [UInt8], from number: Int, tuning: DatabaseWireTuning = DatabaseWireTuning()
  ) -> [Segment] {
    var text = Base64.url.encodedBytes(message)[...]
    while text.count % 4 != 0 { text.append(UInt8(ascii: ".")) }
    let size = max(1, tuning.segmentCharacters)
    let count = max(1, (text.count + size - 1) / size)
    return (0..<count).map { index in
      let part = text.prefix(size)
      text = text.dropFirst(part.count)
      return Segment(number: number + index, count: count, text: String(decoding: part, as: UTF8.self))
    }
  }
}

/// Joins the segments of a session of long polling to messages, in the order of their numbers.
public struct DatabaseSegmentMachine: Sendable {
  private let tuning: DatabaseWireTuning
  private var next = 0
  private var waiting: [Int: DatabasePoll.Segment] = [:]
  private var waitingBytes = 0
  private var text: [UInt8] = []
  private var missing = 0

  /// A machine at the beginning of a session.
  public init(tuning: DatabaseWireTuning = DatabaseWireTuning()) { self.tuning = tuning }

  /// Takes the segments of a poll; segments that were taken before are ignored.
  ///
  /// - Returns: The messages that are whole now.
  /// - Throws: `BytesError` with `.malformed` for what is not base64, `.limitExceeded` for a message that is too long
  ///   and for too many segments that are ahead of a missing one; the session has to be ended then.
  public mutating func received(_ segments: [DatabasePoll.Segment]) throws(BytesError) -> [[UInt8]] {
    try keep(segments)
    var messages: [[UInt8]] = []
    while let segment = waiting.removeValue(forKey: next) {
      next += 1
      waitingBytes -= segment.text.utf8.count
      if missing == 0 { missing = segment.count }
      guard text.count + segment.text.utf8.count <= tuning.maximumMessageBytes else {
        throw BytesError(.limitExceeded, "a message is longer than \(tuning.maximumMessageBytes) bytes")
      }
      text += segment.text.utf8
      missing -= 1
      guard missing == 0 else { continue }
      while text.last == UInt8(ascii: ".") || text.last == UInt8(ascii: "=") { text.removeLast() }
      messages.append(try Base64.url.decode(utf8: text[...]))
      text = []
    }
    return messages
  }

  private mutating func keep(_ segments: [DatabasePoll.Segment]) throws(BytesError) {
    for segment in segments where segment.number >= next && waiting[segment.number] == nil {
      waitingBytes += segment.text.utf8.count
      guard waiting.count < tuning.maximumWaitingSegments, waitingBytes <= tuning.maximumMessageBytes else {
        throw BytesError(.limitExceeded, "too many segments are ahead of a missing one")
      }
      waiting[segment.number] = segment
    }
  }
}
