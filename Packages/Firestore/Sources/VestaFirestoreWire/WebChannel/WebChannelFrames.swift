public import VestaBytes

/// An array that a service sends over a WebChannel.
public enum WebChannelArray: Sendable, Hashable {
  /// The session is open; the pause after which the service sends something when there is nothing to say.
  case opened(session: String, keepAliveMilliseconds: Int)
  /// Nothing, to show that the connection works.
  case noop
  /// The end of the session in order.
  case close
  /// The end of the session by an error.
  case stop
  /// Messages.
  case data([JSONValue])

  /// The array as JSON.
  var json: [JSONValue] {
    switch self {
    case .opened(let session, let keepAlive): ["c", .string(session), "", 8, 14, .integer(Int64(keepAlive))]
    case .noop: ["noop"]
    case .close: ["close"]
    case .stop: ["stop"]
    case .data(let messages): messages
    }
  }

  init(_ json: [JSONValue]) {
    switch (json.first, json.count) {
    case ("c"?, 2...):
      let keepAlive = json.count > 5 ? json[5].integer.flatMap { Int(exactly: $0) } ?? 0 : 0
      self = .opened(session: json[1].string ?? "", keepAliveMilliseconds: keepAlive)
    case ("noop"?, 1): self = .noop
    case ("close"?, 1): self = .close
    case ("stop"?, 1): self = .stop
    default: self = .data(json)
    }
  }
}

/// Arrays with their numbers as frames: a length, the end of a line, and the text.
///
/// Lengths count UTF-16 code units. The text is written in ASCII, so that they are bytes too: some clients cut
/// characters in two where the network does.
public enum WebChannelFrames {
  /// An array and its number in the session.
  public struct Numbered: Sendable, Hashable {
    /// The number, from 0.
    public var number: Int
    /// The array.
    public var array: WebChannelArray

    /// An array.
    public init(_ number: Int, _ array: WebChannelArray) {
      self.number = number
      self.array = array
    }
  }

  /// The frame of arrays.
  public static func frame(of arrays: [Numbered]) throws(BytesError) -> [UInt8] {
    try frame(json: .array(arrays.map { [.integer(Int64($0.number)), .array($0.array.json)] }))
  }

  /// The frame that answers messages.
  ///
  /// - Parameters:
  ///   - hasBackChannel: Whether a back channel is open or on its way.
  ///   - last: The number of the last array that was written.
  ///   - outstanding: The bytes that were written and not confirmed.
  public static func answer(hasBackChannel: Bool, last: Int, outstanding: Int) -> [UInt8] {
    let text = "[\(hasBackChannel ? 1 : 0),\(last),\(outstanding)]"
    return Array("\(text.utf8.count)\n\(text)".utf8)
  }

  /// Reads the arrays of a frame.
  ///
  /// - Throws: `BytesError` with `.malformed` for a frame that has none.
  public static func arrays(_ text: [UInt8], limits: JSONLimits = limits) throws(BytesError) -> [Numbered] {
    guard let elements = try JSONValue(json: text, limits: limits).array else {
      throw BytesError(.malformed, "a frame is no array")
    }
    var arrays: [Numbered] = []
    for element in elements {
      guard let pair = element.array, pair.count == 2, let number = pair[0].integer.flatMap({ Int(exactly: $0) }),
        let content = pair[1].array
      else { throw BytesError(.malformed, "a frame has something else than numbered arrays") }
      arrays.append(Numbered(number, WebChannelArray(content)))
    }
    return arrays
  }

  /// The bounds of a frame.
  public static let limits = JSONLimits(maximumDepth: 200, maximumSize: 32 << 20)

  private static func frame(json: JSONValue) throws(BytesError) -> [UInt8] {
    let text = ascii(try json.json())
    return Array("\(text.count)\n".utf8) + text
  }

  /// JSON with escapes for all characters that are not ASCII.
  static func ascii(_ json: [UInt8]) -> [UInt8] {
    guard json.contains(where: { $0 >= 0x80 }) else { return json }
    var text: [UInt8] = []
    text.reserveCapacity(json.count + json.count / 2)
    for unit in String(decoding: json, as: UTF8.self).utf16 {
      if unit < 0x80 {
        text.append(UInt8(unit))
      } else {
        text += Array("\\u".utf8) + Array(Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)]).utf8)
      }
    }
    return text
  }
}

/// Cuts the bytes of a response into the texts of its frames; pure, so it can be fed in any pieces.
public struct WebChannelFrameMachine: Sendable {
  private let maximumBytes: Int
  private var length: Int?
  private var digits = 0
  private var units = 0
  private var text: [UInt8] = []

  /// A machine at the beginning of a response.
  ///
  /// - Parameter maximumBytes: The longest frame, in bytes.
  public init(maximumBytes: Int = 32 << 20) { self.maximumBytes = maximumBytes }

  /// Whether the response may end here.
  public var isAtStart: Bool { length == nil && digits == 0 }

  /// Takes bytes.
  ///
  /// - Returns: The texts of the frames that are whole now.
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`; nothing else can be read from the response then.
  public mutating func received(_ bytes: some Sequence<UInt8>) throws(BytesError) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    for byte in bytes {
      guard let length else {
        try readLength(byte)
        if self.length == 0 { frames.append(end()) }
        continue
      }
      guard text.count < maximumBytes else {
        throw BytesError(.limitExceeded, "a frame is longer than \(maximumBytes) bytes")
      }
      text.append(byte)
      // The first byte of a character counts its units; the frame ends with the last byte of the last character.
      if byte & 0xC0 != 0x80 { units += byte >= 0xF0 ? 2 : 1 }
      guard units >= length else { continue }
      guard units == length else { throw BytesError(.malformed, "a frame ends within a character") }
      if isLastByte { frames.append(end()) }
    }
    return frames
  }

  /// Whether the last character of the text is whole.
  private var isLastByte: Bool {
    var trailing = 0
    for byte in text.reversed().prefix(4) {
      if byte & 0xC0 == 0x80 {
        trailing += 1
        continue
      }
      return trailing >= (byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0)
    }
    return true
  }

  private mutating func readLength(_ byte: UInt8) throws(BytesError) {
    if byte == 10, digits > 0 {
      length = units
      units = 0
      return
    }
    guard byte &- 48 < 10, digits < 9 else { throw BytesError(.malformed, "the length of a frame is no number") }
    digits += 1
    units = units * 10 + Int(byte - 48)
  }

  private mutating func end() -> [UInt8] {
    defer { (length, digits, units, text) = (nil, 0, 0, []) }
    return text
  }
}
