/// Splits the bytes of one side of a connection into messages of PostgreSQL's protocol.
struct MessageSplitter: Sendable {
  /// A whole message; a start-up has no kind, which is written as 0.
  struct Part: Sendable, Equatable {
    let kind: UInt8
    let bytes: [UInt8]
  }

  private var bytes: [UInt8] = []
  /// Whether the next message is one without a kind.
  private var begins: Bool

  /// - Parameter isClient: Clients begin with a message without a kind.
  init(isClient: Bool) { begins = isClient }

  /// Takes bytes in.
  ///
  /// - Returns: The messages that are whole by now.
  mutating func take(_ more: [UInt8]) -> [Part] {
    bytes += more
    var parts: [Part] = []
    var start = 0
    while true {
      let head = begins ? 0 : 1
      guard bytes.count - start >= head + 4 else { break }
      let length = bytes[(start + head)..<(start + head + 4)].reduce(0) { $0 << 8 | Int($1) }
      let end = start + head + max(4, length)
      guard end <= bytes.count else { break }
      parts.append(Part(kind: begins ? 0 : bytes[start], bytes: Array(bytes[start..<end])))
      begins = false
      start = end
    }
    bytes.removeFirst(start)
    return parts
  }
}
