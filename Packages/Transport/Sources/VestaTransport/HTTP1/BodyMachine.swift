import VestaBytes
import VestaTransportInterop

/// Reads the body of an HTTP/1.1 message: of a length, in chunks, or until the connection ends.
struct BodyMachine {
  enum Framing: Equatable {
    case length(Int)
    case chunked
    case untilEnd
  }

  enum Step {
    /// Bytes of the body, as a range of the given ones; the number of used bytes.
    case bytes(Range<Int>, used: Int)
    /// This number of bytes was used, and none of them is of the body.
    case used(Int)
    /// The body has ended.
    case end(trailers: HTTPFields, used: Int)
    case needsMore
  }

  private enum State: Equatable {
    case plain(left: Int)
    case untilEnd
    case chunkLine
    case chunk(left: Int)
    case chunkEnd
    case trailers
  }

  private var state: State
  private let tuning: TransportTuning

  init(_ framing: Framing, _ tuning: TransportTuning) {
    self.tuning = tuning
    switch framing {
    case .length(let length): state = .plain(left: length)
    case .chunked: state = .chunkLine
    case .untilEnd: state = .untilEnd
    }
  }

  /// Whether the end of the connection is the end of the body.
  var endsWithConnection: Bool { state == .untilEnd }

  /// Whether all bytes were read and only the end is left to say, without further bytes.
  var isAtEnd: Bool { state == .plain(left: 0) }

  /// Reads from the front of the bytes, beginning at an offset.
  mutating func step(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(ProtocolFailure) -> Step {
    let available = bytes.count - start
    switch state {
    case .plain(left: 0): return .end(trailers: [:], used: 0)
    case .plain(let left):
      guard available > 0 else { return .needsMore }
      let count = min(left, available)
      state = .plain(left: left - count)
      return .bytes(start..<start + count, used: count)
    case .untilEnd: return available > 0 ? .bytes(start..<bytes.count, used: available) : .needsMore
    case .chunkLine: return try chunkLine(bytes, from: start)
    case .chunk(let left):
      guard available > 0 else { return .needsMore }
      let count = min(left, available)
      state = count == left ? .chunkEnd : .chunk(left: left - count)
      return .bytes(start..<start + count, used: count)
    case .chunkEnd:
      if available > 0, bytes[start] != 13 { throw ProtocolFailure("a chunk that is longer than it says") }
      guard available >= 2 else { return .needsMore }
      guard bytes[start + 1] == 10 else { throw ProtocolFailure("a CR without LF") }
      state = .chunkLine
      return .used(2)
    case .trailers: return try trailers(bytes, from: start)
    }
  }

  /// `1a;name=value` CR LF; extensions are read over, and no space is allowed anywhere.
  private mutating func chunkLine(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) throws(ProtocolFailure) -> Step {
    var (index, size, digits) = (start, 0, 0)
    while index < bytes.count, let digit = Hex.value(bytes[index]) {
      // Fifteen digits fit into 63 bits.
      guard digits < 15 else { throw ProtocolFailure("a chunk whose size is too large") }
      size = size << 4 | Int(digit)
      digits += 1
      index += 1
    }
    guard index < bytes.count else { return .needsMore }
    guard digits > 0, bytes[index] == 13 || bytes[index] == 59 else { throw ProtocolFailure("a chunk without a size") }
    while index < bytes.count, bytes[index] != 13 {
      guard bytes[index] >= 32, bytes[index] != 127 else {
        throw ProtocolFailure("a control character in a chunk's line")
      }
      index += 1
    }
    guard index - start <= tuning.chunkLineBytes else { throw ProtocolFailure("a chunk's line that is too long") }
    guard index + 1 < bytes.count else { return .needsMore }
    guard bytes[index + 1] == 10 else { throw ProtocolFailure("a CR without LF") }
    state = size == 0 ? .trailers : .chunk(left: size)
    return .used(index + 2 - start)
  }

  private mutating func trailers(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) throws(ProtocolFailure) -> Step {
    var parser = FieldParser(limit: tuning.fieldCount)
    guard case .complete(let end) = try parser.parse(bytes, from: start) else {
      guard bytes.count - start <= tuning.headBytes else { throw ProtocolFailure(431, "trailers that are too long") }
      return .needsMore
    }
    guard end - start <= tuning.headBytes else { throw ProtocolFailure(431, "trailers that are too long") }
    // Fields that say where a message ends have no place after it.
    guard parser.facts == FieldParser.Facts() else { throw ProtocolFailure("a field that may not be a trailer") }
    state = .plain(left: 0)
    let fields =
      parser.spans.isEmpty ? HTTPFields() : HTTPFields(buffer: Array(bytes[start..<end]), spans: parser.spans)
    return .end(trailers: fields, used: end - start)
  }
}
