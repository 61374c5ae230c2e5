import VestaTransportInterop

@testable import VestaTransport

/// A frame of HTTP/2 as a peer sees it.
struct HTTP2Frame: Equatable, CustomStringConvertible {
  enum Kind: UInt8 {
    case data, headers, priority, reset, settings, push, ping, goAway, window, continuation, unknown = 200
  }

  var kind: UInt8
  var flags: UInt8 = 0
  var stream: UInt32 = 0
  var payload: [UInt8] = []

  init(_ kind: Kind, _ flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = []) {
    self.kind = kind.rawValue
    self.flags = flags
    self.stream = stream
    self.payload = payload
  }

  static let endStream: UInt8 = 1
  static let acknowledged: UInt8 = 1
  static let endHeaders: UInt8 = 4
  static let padded: UInt8 = 8

  var bytes: [UInt8] {
    Self.number(UInt32(payload.count)).dropFirst() + [kind, flags] + Self.number(stream) + payload
  }

  /// The error code of a frame that has one.
  var code: HTTP2Code? {
    switch Kind(rawValue: kind) {
    case .reset: HTTP2Code(Self.number(payload[0..<4]))
    case .goAway: HTTP2Code(Self.number(payload[4..<8]))
    default: nil
    }
  }

  var description: String {
    let name = Kind(rawValue: kind).map { "\($0)" } ?? "\(kind)"
    return "\(name)(\(stream), flags \(flags), \(payload.count) bytes\(code.map { ", \($0)" } ?? ""))"
  }

  static func number(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

  static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  static func settings(_ entries: [(UInt16, UInt32)] = []) -> HTTP2Frame {
    HTTP2Frame(.settings, 0, on: 0, entries.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 255)] + number($0.1) })
  }

  static func window(_ stream: UInt32, _ increment: UInt32) -> HTTP2Frame {
    HTTP2Frame(.window, 0, on: stream, number(increment))
  }

  static func reset(_ stream: UInt32, _ code: HTTP2Code = .cancel) -> HTTP2Frame {
    HTTP2Frame(.reset, 0, on: stream, number(code.rawValue))
  }

  /// Fields as HPACK writes them without a table: literal, without indexing.
  static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { [0] + text($0.0) + text($0.1) }
  }

  private static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    var (length, rest) = ([UInt8(127)], bytes.count - 127)
    while rest >= 128 {
      length.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    return length + [UInt8(rest)] + bytes
  }

  static func get(
    _ stream: UInt32, _ path: String = "/", method: String = "GET", ends: Bool = true, _ more: [(String, String)] = []
  ) -> HTTP2Frame {
    let fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "h")]
    return HTTP2Frame(.headers, endHeaders | (ends ? endStream : 0), on: stream, block(fields + more))
  }
}

/// A peer on a socket that sends the frames that a test wants.
final class HTTP2Peer {
  let peer: RawPeer
  private var received: [UInt8] = []

  init(_ server: TestServer, settings: [(UInt16, UInt32)] = [], preface: Bool = true) throws {
    peer = try server.peer()
    if preface { peer.send(HTTP2Preface.bytes + HTTP2Frame.settings(settings).bytes) }
  }

  /// A server on a connection, which reads over the preface of the client.
  init(accepted peer: RawPeer) {
    self.peer = peer
    while received.count < HTTP2Preface.bytes.count, let bytes = peer.receive(), !bytes.isEmpty { received += bytes }
    received.removeFirst(min(received.count, HTTP2Preface.bytes.count))
  }

  func send(_ frames: HTTP2Frame...) { peer.send(frames.flatMap(\.bytes)) }

  func send(_ frames: [HTTP2Frame]) { peer.send(frames.flatMap(\.bytes)) }

  /// The next frame; `nil` at the end of the connection.
  func next() -> HTTP2Frame? {
    while true {
      if received.count >= 9 {
        let length = Int(HTTP2Frame.number(received[0..<3]))
        if received.count >= 9 + length {
          var frame = HTTP2Frame(.data)
          frame.kind = received[3]
          frame.flags = received[4]
          frame.stream = HTTP2Frame.number(received[5..<9]) & 0x7FFF_FFFF
          frame.payload = Array(received[9..<9 + length])
          received.removeFirst(9 + length)
          return frame
        }
      }
      guard let bytes = peer.receive(), !bytes.isEmpty else { return nil }
      received += bytes
    }
  }

  /// The frames until one that is wanted, that one included; all until the end if none is.
  func frames(until isWanted: (HTTP2Frame) -> Bool) -> [HTTP2Frame] {
    var frames: [HTTP2Frame] = []
    while let frame = next() {
      frames.append(frame)
      if isWanted(frame) { break }
    }
    return frames
  }

  /// The first frame with an error code, on the stream or of the connection.
  func error(on stream: UInt32? = nil) -> HTTP2Code? {
    frames { $0.code != nil && (stream == nil || $0.stream == stream || $0.stream == 0) }.last?.code
  }

  /// The body of a response on a stream, until its end.
  func body(of stream: UInt32) -> String {
    let frames = frames {
      $0.stream == stream
        && ($0.flags & HTTP2Frame.endStream != 0 && $0.kind <= 1 || $0.kind == HTTP2Frame.Kind.reset.rawValue)
    }
    let bytes = frames.filter { $0.kind == 0 && $0.stream == stream }.flatMap(\.payload)
    return String(decoding: bytes, as: UTF8.self)
  }
}
