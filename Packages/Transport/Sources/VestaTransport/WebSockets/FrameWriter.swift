import VestaTransportInterop

/// Writes the frames of a WebSocket into one buffer.
enum FrameWriter {
  /// Writes a message as one frame.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - mask: The mask of a client; `nil` for a server.
  ///   - out: The buffer.
  static func message(_ message: WebSocketMessage, mask: UInt32?, into out: inout [UInt8]) {
    switch message {
    case .text(let text):
      header(opcode: 1, length: text.utf8.count, mask: mask, into: &out)
      let start = out.count
      out.append(contentsOf: text.utf8)
      if let mask { WebSocketMask.apply(mask, to: &out, from: start, phase: 0) }
    case .binary(let bytes): frame(opcode: 2, bytes, mask: mask, into: &out)
    }
  }

  /// Writes what precedes the bytes of a binary message of a server.
  static func head(ofBinary count: Int, into out: inout [UInt8]) {
    header(opcode: 2, length: count, mask: nil, into: &out)
  }

  /// Writes a close frame; a code that may not be sent is left out, and so is the reason then.
  static func close(_ end: WebSocketClose, mask: UInt32?, into out: inout [UInt8]) {
    guard end.code.isSendable else { return frame(opcode: 8, [], mask: mask, into: &out) }
    var payload = [UInt8(end.code.number >> 8), UInt8(end.code.number & 0xFF)]
    // 125 bytes are the most; a character is not cut.
    for character in end.reason where payload.count + character.utf8.count <= 125 { payload += character.utf8 }
    frame(opcode: 8, payload, mask: mask, into: &out)
  }

  static func ping(mask: UInt32?, into out: inout [UInt8]) { frame(opcode: 9, [], mask: mask, into: &out) }

  static func pong(_ payload: [UInt8], mask: UInt32?, into out: inout [UInt8]) {
    frame(opcode: 10, payload, mask: mask, into: &out)
  }

  private static func frame(opcode: UInt8, _ payload: [UInt8], mask: UInt32?, into out: inout [UInt8]) {
    header(opcode: opcode, length: payload.count, mask: mask, into: &out)
    let start = out.count
    out.append(contentsOf: payload)
    if let mask { WebSocketMask.apply(mask, to: &out, from: start, phase: 0) }
  }

  private static func header(opcode: UInt8, length: Int, mask: UInt32?, into out: inout [UInt8]) {
    let bit: UInt8 = mask == nil ? 0 : 0x80
    out.append(0x80 | opcode)
    if length < 126 {
      out.append(bit | UInt8(length))
    } else if length <= 65_535 {
      out.append(bit | 126)
      out.append(UInt8(length >> 8))
      out.append(UInt8(length & 0xFF))
    } else {
      out.append(bit | 127)
      for shift in stride(from: 56, through: 0, by: -8) { out.append(UInt8(truncatingIfNeeded: length >> shift)) }
    }
    if let mask { for shift in [0, 8, 16, 24] as [UInt32] { out.append(UInt8(truncatingIfNeeded: mask >> shift)) } }
  }
}
