import VestaTransportInterop

/// Reads the frames of a WebSocket (RFC 6455) and joins the frames of a message.
///
/// Pure. A frame's size is checked when its header is there, before anything of it is kept; a message in fragments
/// counts as a whole, and a text is checked as it arrives. Bytes that are kept were received, so a header that promises
/// much costs nothing.
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
    /// The peer broke the protocol after the events before; nothing more is read.
    case failed(Failure)
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
  /// The check of a text of which a part is there, and the number of its bytes that were checked.
  private var text = UTF8Machine()
  private var checked = 0
  private var hasFailed = false

  init(_ role: Role, messageLimit: Int) {
    self.role = role
    self.messageLimit = messageLimit
  }

  /// Reads bytes, all of them.
  ///
  /// - Returns: The events up to a failure, which is the last one: how the network cuts the stream changes nothing.
  mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) -> [Event] {
    var events: [Event] = []
    guard !hasFailed else { return events }
    do throws(Failure) {
      try read(bytes, &events)
    } catch {
      hasFailed = true
      message = []
      events.append(.failed(error))
    }
    return events
  }

  private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>, _ events: inout [Event]) throws(Failure) {
    var index = 0
    while true {
      if frame == nil {
        while index < bytes.count, frame == nil {
          headerBytes.append(bytes[index])
          index += 1
          frame = try header()
        }
        guard let frame else { return }
        headerBytes.removeAll(keepingCapacity: true)
        read = 0
        try check(frame)
      }
      guard let frame else { return }
      let count = min(frame.length - read, bytes.count - index)
      if count > 0 {
        take(UnsafeBufferPointer(rebasing: bytes[index..<index + count]), of: frame)
        index += count
      }
      if frame.opcode < 8, read < frame.length || !frame.isFinal { try checkText() }
      guard read == frame.length else { return }
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

  /// Checks what is there of a text, so that its peer is notified at the first wrong byte.
  private mutating func checkText() throws(Failure) {
    guard messageOpcode == 1, checked < message.count else { return }
    let isText = message.withUnsafeBufferPointer { text.accepts(UnsafeBufferPointer(rebasing: $0[checked...])) }
    guard isText else { throw Self.noText }
    checked = message.count
  }

  private static let noText = Failure(code: .invalidPayload, reason: "a text that is not UTF-8")

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
    (text, checked) = (UTF8Machine(), 0)
    guard let whole = String(validating: message, as: UTF8.self) else { throw Self.noText }
    return .message(.text(whole))
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
