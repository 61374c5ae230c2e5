public import VestaBytes

/// Messages cut into the text frames of a WebSocket.
///
/// A message of up to 16,384 UTF-16 code units is one frame. A longer one is a frame with the number of its pieces,
/// then the pieces. A client that has nothing to send keeps the connection open with the frame `0`, which is a message
/// of no pieces: it is not answered, and a service never sends it, because some clients lose all later messages then.
public enum DatabasePieces {
  /// The frame by which a client keeps a connection open.
  public static let keepAlive: [UInt8] = [UInt8(ascii: "0")]

  /// Cuts a message into frames.
  ///
  /// - Parameters:
  ///   - message: UTF-8; it is cut between characters.
  ///   - tuning: The figures of the codec.
  /// - Throws: `BytesError` with `.limitExceeded` when more pieces are needed than a client can read.
  public static func frames(
    of message: [UInt8], tuning: DatabaseWireTuning = DatabaseWireTuning()
  ) throws(BytesError) -> [[UInt8]] {
    let limit = max(2, tuning.pieceUnits)
    // A byte of UTF-8 is one unit at the most.
    if message.count <= limit { return [message] }
    let pieces = pieces(of: message, limit: limit)
    if pieces.count == 1 { return pieces }
    guard pieces.count <= tuning.maximumPieces else {
      throw BytesError(.limitExceeded, "a message needs more than \(tuning.maximumPieces) pieces")
    }
    return [Array("\(pieces.count)".utf8)] + pieces
  }

  /// The message in pieces of at most `limit` UTF-16 units.
  private static func pieces(of message: [UInt8], limit: Int) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var (start, units) = (0, 0)
    for (index, byte) in message.enumerated() {
      guard byte & 0xC0 != 0x80 else { continue }
      let width = byte >= 0xF0 ? 2 : 1
      if units + width > limit {
        pieces.append(Array(message[start..<index]))
        (start, units) = (index, 0)
      }
      units += width
    }
    pieces.append(Array(message[start...]))
    return pieces
  }
}

/// Joins the text frames of a WebSocket to messages.
///
/// A frame of up to six digits where a message begins is the number of the pieces that follow.
public struct DatabasePieceMachine: Sendable {
  private let tuning: DatabaseWireTuning
  private var missing = 0
  private var message: [UInt8] = []

  /// A machine at the beginning of a connection.
  public init(tuning: DatabaseWireTuning = DatabaseWireTuning()) { self.tuning = tuning }

  /// Whether the next frame begins a message.
  public var isAtStart: Bool { missing == 0 }

  /// Takes a frame.
  ///
  /// - Parameter frame: The text of the frame.
  /// - Returns: The message that it ends; `nil` when pieces are missing, and for a frame that keeps a link open.
  /// - Throws: `BytesError` with `.limitExceeded` for a message that is too long; the connection has to be closed then.
  public mutating func received(_ frame: [UInt8]) throws(BytesError) -> [UInt8]? {
    if missing == 0 {
      guard let count = Self.count(frame) else {
        try check(frame.count)
        return frame
      }
      missing = count
      return nil
    }
    try check(message.count + frame.count)
    message += frame
    missing -= 1
    guard missing == 0 else { return nil }
    defer { message = [] }
    return message
  }

  private func check(_ size: Int) throws(BytesError) {
    guard size <= tuning.maximumMessageBytes else {
      throw BytesError(.limitExceeded, "a message is longer than \(tuning.maximumMessageBytes) bytes")
    }
  }

  /// The number of pieces that a frame announces; `nil` for a frame that is a message.
  ///
  /// Nothing announces none.
  private static func count(_ frame: [UInt8]) -> Int? {
    guard frame.count <= 6, frame.allSatisfy({ $0 &- 48 < 10 || $0 == 32 }) else { return nil }
    return frame.reduce(0) { $1 == 32 ? $0 : $0 * 10 + Int($1 - 48) }
  }
}
