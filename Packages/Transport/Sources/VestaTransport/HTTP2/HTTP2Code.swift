/// An error code of RFC 9113, section 7.
struct HTTP2Code: Equatable, CustomStringConvertible {
  let rawValue: UInt32

  init(_ rawValue: UInt32) { self.rawValue = rawValue }

  static let noError = HTTP2Code(0)
  static let protocolError = HTTP2Code(1)
  static let internalError = HTTP2Code(2)
  static let flowControlError = HTTP2Code(3)
  static let streamClosed = HTTP2Code(5)
  static let frameSizeError = HTTP2Code(6)
  static let refusedStream = HTTP2Code(7)
  static let cancel = HTTP2Code(8)
  static let compressionError = HTTP2Code(9)
  static let enhanceYourCalm = HTTP2Code(11)

  var description: String {
    rawValue < Self.names.count ? Self.names[Int(rawValue)] : "error \(rawValue)"
  }

  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]
}

/// The bytes with which a client of HTTP/2 begins.
enum HTTP2Preface {
  enum Match {
    case whole
    /// More bytes decide.
    case beginning
    case other
  }

  static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  static func match(_ received: UnsafeBufferPointer<UInt8>) -> Match {
    for index in 0..<min(received.count, bytes.count) where received[index] != bytes[index] { return .other }
    return received.count < bytes.count ? .beginning : .whole
  }
}
