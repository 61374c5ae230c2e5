/// A failure of a connection or of an exchange on it.
///
/// ``mayHaveBeenProcessed`` says whether a request can be sent again without a second effect.
public struct TransportError: Error, Sendable, CustomStringConvertible {
  /// The kind of a failure; compare with `==`, or catch by it.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the kind.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// No address belongs to the name of the host.
    public static let hostNotFound = Code("hostNotFound")
    /// No connection could be opened: the host refused it or did not answer.
    public static let cannotConnect = Code("cannotConnect")
    /// The connection ended in the middle of an exchange, or the peer left a stream.
    public static let connectionLost = Code("connectionLost")
    /// The time for the exchange, or for a part of it, is over.
    public static let timedOut = Code("timedOut")
    /// The peer sent something that its protocol forbids.
    public static let protocolViolation = Code("protocolViolation")
    /// A head, a body or a message is larger than its limit.
    public static let tooLarge = Code("tooLarge")
    /// The certificate of the peer is not valid, or no common cipher was found.
    public static let insecure = Code("insecure")
    /// A limit of connections, streams or waiting bytes is reached.
    public static let exhausted = Code("exhausted")
    /// The server, the client, the stream or the socket was closed on this side.
    public static let closed = Code("closed")
    /// The peer refused the exchange, such as a WebSocket with another status than 101.
    public static let refused = Code("refused")
    /// The address is in use, or the process may not listen on it.
    public static let cannotListen = Code("cannotListen")
    /// The host has no address that the request may be sent to; see `HTTPRequest.isForPublicHosts`.
    public static let forbiddenAddress = Code("forbiddenAddress")
    /// The request, the address or an option is not valid.
    public static let invalidArgument = Code("invalidArgument")

    /// Whether an error is a ``TransportError`` of this kind.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? TransportError)?.code == code }
  }

  /// A fault in the security of a connection.
  public enum SecurityProblem: String, Sendable, Hashable {
    /// The certificate has expired.
    case expired
    /// The certificate is not valid yet.
    case notYetValid
    /// The certificate is for another host.
    case wrongName
    /// The certificate is not issued by a trusted root.
    case unknownRoot
    /// The certificate was revoked.
    case revoked
    /// The peer speaks in clear.
    case noTLS
    /// There is no version, cipher or protocol that both ends have.
    case noAgreement
    /// Something else; the sentence says what.
    case other
  }

  /// The kind of the failure.
  public let code: Code

  /// A sentence for developers.
  public let message: String

  /// Whether the peer may have acted on the request: `false` only when it was certainly not sent as a whole.
  public let mayHaveBeenProcessed: Bool

  /// The status with which the peer refused, if it did so by one.
  public let status: HTTPStatus?

  /// The fault in the security of the connection, if that is the failure.
  public let problem: SecurityProblem?

  /// A failure.
  public init(
    _ code: Code, _ message: String, mayHaveBeenProcessed: Bool = true, status: HTTPStatus? = nil,
    problem: SecurityProblem? = nil
  ) {
    self.code = code
    self.message = message
    self.mayHaveBeenProcessed = mayHaveBeenProcessed
    self.status = status
    self.problem = problem
  }

  /// The kind and the sentence.
  public var description: String { "\(code): \(message)" }
}
