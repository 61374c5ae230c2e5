import Glibc
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// A frame of a WebSocket as a peer sees it, valid or not.
struct SocketFrame: Equatable, CustomStringConvertible, Sendable {
  var opcode: UInt8
  var payload: [UInt8]
  var isFinal = true
  var reserved: UInt8 = 0

  static func text(_ text: String, isFinal: Bool = true) -> Self {
    Self(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
  }
  static func text(_ bytes: [UInt8], isFinal: Bool = true) -> Self { Self(opcode: 1, payload: bytes, isFinal: isFinal) }
  static func binary(_ bytes: [UInt8], isFinal: Bool = true) -> Self {
    Self(opcode: 2, payload: bytes, isFinal: isFinal)
  }
  static func more(_ bytes: [UInt8], isFinal: Bool) -> Self { Self(opcode: 0, payload: bytes, isFinal: isFinal) }
  static func more(_ text: String, isFinal: Bool) -> Self { .more(Array(text.utf8), isFinal: isFinal) }
  static func ping(_ bytes: [UInt8] = []) -> Self { Self(opcode: 9, payload: bytes) }
  static func pong(_ bytes: [UInt8] = []) -> Self { Self(opcode: 10, payload: bytes) }
  static func close(_ code: UInt16, _ reason: [UInt8] = []) -> Self {
    Self(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 255)] + reason)
  }

  /// The code of a close frame; 1005 for one without.
  var code: UInt16 { payload.count < 2 ? 1005 : UInt16(payload[0]) << 8 | UInt16(payload[1]) }

  var description: String { "opcode \(opcode), \(payload.count) bytes" }

  func bytes(mask: UInt32?) -> [UInt8] {
    var out: [UInt8] = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
    let bit: UInt8 = mask == nil ? 0 : 0x80
    switch payload.count {
    case ..<126: out.append(bit | UInt8(payload.count))
    case ...65_535: out += [bit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    default: out += [bit | 127, 0, 0, 0, 0] + HTTP2Frame.number(UInt32(payload.count))
    }
    guard let mask else { return out + payload }
    let key = HTTP2Frame.number(mask)
    // A mask of zeros changes nothing: large messages are not masked byte by byte without optimization.
    return out + key + (mask == 0 ? payload : payload.enumerated().map { $1 ^ key[$0 & 3] })
  }
}

/// One end of a WebSocket that is spoken by hand.
final class SocketPeer {
  enum Cut: CaseIterable { case frames, whole, octets }

  private let peer: RawPeer
  var mask: UInt32?
  private var received: [UInt8] = []

  /// A client of a server.
  init(client peer: RawPeer) {
    self.peer = peer
    mask = 0x1F2E_3D4C
    peer.send(
      "GET /socket HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
        + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    _ = head()
  }

  /// A server of a client.
  init(server peer: RawPeer) {
    self.peer = peer
    mask = nil
    let key =
      head().split(separator: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key:") }?
      .split(separator: " ").last.map(String.init) ?? ""
    peer.send(
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        + "sec-websocket-accept: \(WebSocketHandshake.accept(key))\r\n\r\n")
  }

  private func head() -> String {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let index = received.indices.first(where: { received[$0...].starts(with: end) }) {
        let head = String(decoding: received[..<index], as: UTF8.self)
        received.removeFirst(index + 4)
        return head
      }
      guard let bytes = peer.receive(), !bytes.isEmpty else { return "" }
      received += bytes
    }
  }

  func send(_ frames: [SocketFrame], _ cut: Cut) {
    switch cut {
    case .frames: for frame in frames { peer.send(frame.bytes(mask: mask)) }
    case .whole: peer.send(frames.flatMap { $0.bytes(mask: mask) })
    case .octets: for byte in frames.flatMap({ $0.bytes(mask: mask) }) { peer.send([byte]) }
    }
  }

  /// Sends frames in pieces of a number of octets.
  func send(_ frames: [SocketFrame], pieces: Int) {
    let bytes = frames.flatMap { $0.bytes(mask: mask) }
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      peer.send(Array(bytes[start..<min(start + pieces, bytes.count)]))
    }
  }

  /// The next frame; `nil` at the end of the connection.
  func next() -> SocketFrame? {
    while true {
      if let (frame, size) = parsed() {
        received.removeFirst(size)
        return frame
      }
      guard let bytes = peer.receive(), !bytes.isEmpty else { return nil }
      received += bytes
    }
  }

  private func parsed() -> (SocketFrame, Int)? {
    guard received.count >= 2 else { return nil }
    let short = Int(received[1] & 127)
    let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
    // A client masks its frames, and a server does not.
    let maskBytes = received[1] & 128 == 0 ? 0 : 4
    let start = 2 + lengthBytes + maskBytes
    guard received.count >= start else { return nil }
    let length = lengthBytes == 0 ? short : received[2..<2 + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
    guard received.count >= start + length else { return nil }
    var payload = Array(received[start..<start + length])
    if maskBytes > 0 {
      let key = Array(received[start - 4..<start])
      if payload.count > 10_000 {
        WebSocketMask.apply(key.reversed().reduce(0) { $0 << 8 | UInt32($1) }, to: &payload, from: 0, phase: 0)
      } else {
        for index in payload.indices { payload[index] ^= key[index & 3] }
      }
    }
    let first = received[0]
    let frame = SocketFrame(opcode: first & 15, payload: payload, isFinal: first & 128 != 0, reserved: first >> 4 & 7)
    return (frame, start + length)
  }

  func close() { peer.close() }
}
