import VestaTransportInterop

/// The framing of a scripted network: a kind, a length, and as many bytes.
struct ScriptedFrames: Sendable {
  enum Frame: Sendable {
    case head(String)
    case piece([UInt8])
    /// With the trailers.
    case end(String)
    /// A message of a WebSocket.
    case message(WebSocketMessage)
    /// The close frame of a WebSocket.
    case close(WebSocketClose)
  }

  private var buffer: [UInt8] = []

  static func bytes(of frame: Frame) -> [UInt8] {
    let (kind, payload): (UInt8, [UInt8]) =
      switch frame {
      case .head(let text): (0, Array(text.utf8))
      case .piece(let bytes): (1, bytes)
      case .end(let text): (2, Array(text.utf8))
      case .message(.text(let text)): (3, Array(text.utf8))
      case .message(.binary(let bytes)): (4, bytes)
      case .close(let end):
        (5, [UInt8(end.code.number >> 8), UInt8(truncatingIfNeeded: end.code.number)] + Array(end.reason.utf8))
      }
    let length = UInt32(payload.count)
    return [kind] + stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> UInt32($0)) }
      + payload
  }

  /// Takes bytes, and returns the frames that they complete.
  mutating func feed(_ bytes: [UInt8]) -> [Frame] {
    buffer += bytes
    var (frames, start): ([Frame], Int) = ([], 0)
    while buffer.count - start >= 5 {
      let length = buffer[(start + 1)..<(start + 5)].reduce(0) { $0 << 8 | Int($1) }
      guard buffer.count - start - 5 >= length else { break }
      let payload = buffer[(start + 5)..<(start + 5 + length)]
      switch buffer[start] {
      case 0: frames.append(.head(String(decoding: payload, as: UTF8.self)))
      case 1: frames.append(.piece(Array(payload)))
      case 2: frames.append(.end(String(decoding: payload, as: UTF8.self)))
      case 3: frames.append(.message(.text(String(decoding: payload, as: UTF8.self))))
      case 4: frames.append(.message(.binary(Array(payload))))
      default:
        let code = payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        frames.append(.close(WebSocketClose(.init(code), String(decoding: payload.dropFirst(2), as: UTF8.self))))
      }
      start += 5 + length
    }
    buffer.removeFirst(start)
    return frames
  }

  static func head(of request: HTTPRequest) -> String {
    ([request.method.name, request.target, request.scheme, request.authority] + lines(request.fields))
      .joined(separator: "\n")
  }

  static func head(of response: HTTPResponse) -> String {
    (["\(response.status.code)"] + lines(response.fields)).joined(separator: "\n")
  }

  static func request(_ text: String) -> HTTPRequest? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.count >= 4 else { return nil }
    return HTTPRequest(
      HTTPMethod(lines[0]), lines[1], scheme: lines[2], authority: lines[3], fields: fields(lines.dropFirst(4)))
  }

  static func response(_ text: String) -> (HTTPStatus, HTTPFields) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return (HTTPStatus(lines.first.flatMap { Int($0) } ?? 500), fields(lines.dropFirst()))
  }

  static func text(of trailers: HTTPFields) -> String { lines(trailers).joined(separator: "\n") }

  static func trailers(_ text: String) -> HTTPFields { fields(text.split(separator: "\n").map(String.init)[...]) }

  private static func lines(_ fields: HTTPFields) -> [String] { fields.map { "\($0.name): \($0.value)" } }

  private static func fields(_ lines: ArraySlice<String>) -> HTTPFields {
    var fields = HTTPFields()
    for line in lines {
      guard let colon = line.firstIndex(of: ":"), let name = HTTPFieldName(String(line[..<colon])) else { continue }
      fields.append(name, String(line[line.index(after: colon)...]))
    }
    return fields
  }
}
