/// A message of a WebSocket.
public enum WebSocketMessage: Sendable, Hashable {
  /// A message of UTF-8.
  case text(String)
  /// A message of bytes.
  case binary([UInt8])

  /// The number of bytes that the message has on the wire, without its frame.
  public var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let bytes): bytes.count
    }
  }
}

/// The end of a WebSocket: a code and a reason.
public struct WebSocketClose: Sendable, Hashable, CustomStringConvertible {
  /// The code, as RFC 6455 numbers them in section 7.4.1.
  public struct Code: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// The number.
    public let number: UInt16

    /// A code.
    public init(_ number: UInt16) { self.number = number }

    /// A code written as a literal.
    public init(integerLiteral number: UInt16) { self.number = number }

    /// 1000: the purpose of the connection is fulfilled.
    public static let normal: Code = 1000
    /// 1001: the server shuts down, or a page is left.
    public static let goingAway: Code = 1001
    /// 1002: the peer broke the protocol.
    public static let protocolError: Code = 1002
    /// 1003: the peer sent a kind of message that is not accepted.
    public static let unsupportedData: Code = 1003
    /// 1005: the peer closed without a code; never sent.
    public static let noCode: Code = 1005
    /// 1006: the connection ended without a close frame; never sent.
    public static let abnormal: Code = 1006
    /// 1007: a text message is not UTF-8.
    public static let invalidPayload: Code = 1007
    /// 1008: the peer broke a rule of the application.
    public static let policyViolation: Code = 1008
    /// 1009: a message is larger than the limit.
    public static let messageTooBig: Code = 1009
    /// 1011: the server failed.
    public static let internalError: Code = 1011

    /// Whether a peer may send the code in a close frame.
    public var isSendable: Bool {
      switch number {
      case 1000...1003, 1007...1014, 3000...4999: true
      default: false
      }
    }
  }

  /// The code.
  public var code: Code

  /// The reason, for logs.
  public var reason: String

  /// An end.
  public init(_ code: Code, _ reason: String = "") {
    self.code = code
    self.reason = reason
  }

  /// The code and the reason.
  public var description: String { reason.isEmpty ? "\(code.number)" : "\(code.number): \(reason)" }
}
