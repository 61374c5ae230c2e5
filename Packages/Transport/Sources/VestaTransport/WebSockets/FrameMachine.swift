import VestaTransportInterop

/// Reads the frames of a WebSocket (RFC 6455) and joins the frames of a message.
///
/// Pure. A frame's size is checked when its header is there, before anything of it is kept; a message in fragments
/// counts as a whole. Bytes that are kept were received, so a header that promises much costs nothing.
struct FrameMachine {
  enum Role {
    case server
    case client
  }

  enum Event: Equatable {
    case message(WebSocketMessage)
    case ping([UInt8])
    case pong([UInt8])
    case close(WebSocketClose)
  }

  /// A frame that the protocol forbids; the connection is closed with its code.
  struct Failure: Error, Equatable {
    let code: WebSocketClose.Code
    let reason: String
  }

  private struct Header {
    var opcode: UInt8
    var isFinal: Bool
    var mask: UInt32?
    var length: Int
    var size: Int
  }

  private let role: Role
  private let messageLimit: Int
  /// The header of the frame that is being read, and the number of its bytes that were.
  private var frame: Header?
  private var read = 0
  private var control: [UInt8] = []
  private var message: [UInt8] = []
  /// The opcode of the message that is being read in fragments.
  private var messageOpcode: UInt8?
  /// Bytes of an incomplete header.
  private var headerBytes: [UInt8] = []

  init(_ role: Role, messageLimit: Int) {
    self.role = role
    self.messageLimit = messageLimit
  }

  /// Reads bytes, all of them.
  mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) throws(Failure) -> [Event] {
    var events: [Event] = []
    var index = 0
    while true {
      if frame == nil {
        while index < bytes.count, frame == nil {
          headerBytes.append(bytes[index])
          index += 1
          frame = try header()
        }
        guard let frame else { return events }
        headerBytes.removeAll(keepingCapacity: true)
        read = 0
        try check(frame)
      }
      guard let frame else { return events }
      let count = min(frame.length - read, bytes.count - index)
      if count > 0 {
        take(UnsafeBufferPointer(rebasing: bytes[index..<index + count]), of: frame)
        index += count
      }
      guard read == frame.length else { return events }
      self.frame = nil
      if let event = try complete(frame) { events.append(event) }
    }
  }

  /// The header, as soon as all of it is there.
  private func header() throws(Failure) -> Header? {
    guard headerBytes.count >= 2 else {
      if let first = headerBytes.first, first & 0x70 != 0 { throw Self.broken("a reserved bit") }
      return nil
    }
    let (first, second) = (headerBytes[0], headerBytes[1])
    let isMasked = second & 0x80 != 0
    guard isMasked == (role == .server) else {
      throw Self.broken(isMasked ? "a masked frame of a server" : "an unmasked frame of a client")
    }
    let short = Int(second & 0x7F)
    let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
    let size = 2 + lengthBytes + (isMasked ? 4 : 0)
    guard headerBytes.count == size else { return nil }
    var length = short
    if lengthBytes > 0 {
      var number: UInt64 = 0
      for byte in headerBytes[2..<2 + lengthBytes] { number = number << 8 | UInt64(byte) }
      guard number <= UInt64(Int.max) else { throw Self.broken("a length with its highest bit") }
      guard number > (lengthBytes == 2 ? 125 : 65_535) else { throw Self.broken("a length that is not the shortest") }
      length = Int(number)
    }
    var mask: UInt32?
    if isMasked { mask = headerBytes[(size - 4)...].reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    return Header(opcode: first & 0x0F, isFinal: first & 0x80 != 0, mask: mask, length: length, size: size)
  }

  private mutating func check(_ frame: Header) throws(Failure) {
    switch frame.opcode {
    case 0:
      guard messageOpcode != nil else { throw Self.broken("a continuation of nothing") }
    case 1, 2:
      guard messageOpcode == nil else { throw Self.broken("a message within another one") }
      messageOpcode = frame.opcode
    case 8, 9, 10:
      guard frame.isFinal else { throw Self.broken("a control frame in fragments") }
      guard frame.length <= 125 else { throw Self.broken("a control frame that is too long") }
      control.removeAll(keepingCapacity: true)
      return
    default: throw Self.broken("an unknown opcode")
    }
    guard frame.length <= messageLimit - message.count else {
      throw Failure(code: .messageTooBig, reason: "a message of more than \(messageLimit) bytes")
    }
  }

  private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, of frame: Header) {
    let offset = read
    read += bytes.count
    if frame.opcode >= 8 {
      let start = control.count
      control.append(contentsOf: bytes)
      if let mask = frame.mask { WebSocketMask.apply(mask, to: &control, from: start, phase: offset) }
    } else {
      let start = message.count
      message.append(contentsOf: bytes)
      if let mask = frame.mask { WebSocketMask.apply(mask, to: &message, from: start, phase: offset) }
    }
  }

  private mutating func complete(_ frame: Header) throws(Failure) -> Event? {
    switch frame.opcode {
    case 9: return .ping(control)
    case 10: return .pong(control)
    case 8: return .close(try Self.close(control))
    default: break
    }
    guard frame.isFinal else { return nil }
    let isText = messageOpcode == 1
    messageOpcode = nil
    defer { message = [] }
    guard isText else { return .message(.binary(message)) }
    guard let text = String(validating: message, as: UTF8.self) else {
      throw Failure(code: .invalidPayload, reason: "a text that is not UTF-8")
    }
    return .message(.text(text))
  }

  private static func close(_ bytes: [UInt8]) throws(Failure) -> WebSocketClose {
    if bytes.isEmpty { return WebSocketClose(.noCode) }
    guard bytes.count >= 2 else { throw broken("a close frame of one byte") }
    let code = WebSocketClose.Code(UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    guard code.isSendable else { throw broken("a close code that may not be sent") }
    guard let reason = String(validating: bytes[2...], as: UTF8.self) else {
      throw Failure(code: .invalidPayload, reason: "a reason that is not UTF-8")
    }
    return WebSocketClose(code, reason)
  }

  private static func broken(_ reason: String) -> Failure { Failure(code: .protocolError, reason: reason) }
}

/// The mask of what clients send, which keeps them from writing bytes of their choice to a network.
enum WebSocketMask {
  /// Masks or unmasks bytes in place, eight at a time.
  ///
  /// - Parameters:
  ///   - mask: The four bytes of the mask, the first one lowest.
  ///   - bytes: The bytes.
  ///   - start: The first one to change.
  ///   - phase: The offset of it in the frame.
  static func apply(_ mask: UInt32, to bytes: inout [UInt8], from start: Int, phase: Int) {
    let shift = UInt32(phase & 3) * 8
    let turned = shift == 0 ? mask : mask >> shift | mask << (32 - shift)
    let wide = UInt64(turned) | UInt64(turned) << 32
    bytes.withUnsafeMutableBytes { buffer in
      var index = start
      while index + 8 <= buffer.count {
        let word = buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
        buffer.storeBytes(of: (word ^ wide).littleEndian, toByteOffset: index, as: UInt64.self)
        index += 8
      }
      var rest = turned
      while index < buffer.count {
        buffer[index] ^= UInt8(truncatingIfNeeded: rest)
        rest = rest >> 8 | rest << 24
        index += 1
      }
    }
  }
}
