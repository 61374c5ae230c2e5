public import VestaBytes

/// The failure of a cryptographic operation or of a codec of this package.
///
/// The message is for a developer: it names the wrong part and its position. It never holds key material,
/// passwords or the bytes of a token.
///
/// ```swift
/// do {
///   try verifier.verify(token, at: now, keys: keys)
/// } catch CryptoError.Code.expired {
///   // ask the client for a fresh token
/// }
/// ```
public struct CryptoError: Error, Sendable, CustomStringConvertible {
  /// The kind of a `CryptoError`; more may be added, so keep a `default` where you switch.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The stable name of the code, such as "invalid-key".
    public let description: String

    private init(_ description: String) { self.description = description }

    /// Text or bytes do not follow their format (base64, hex, JSON, PEM, JWK, JWT, a password hash).
    public static let malformed = Code("malformed")
    /// A size, depth or cost is beyond what this package accepts.
    public static let limitExceeded = Code("limit-exceeded")
    /// A key is of the wrong kind, too weak, or not a key at all.
    public static let invalidKey = Code("invalid-key")
    /// A parameter of the call cannot be used.
    public static let invalidParameter = Code("invalid-parameter")
    /// The object has already been used up, such as a finished digest stream.
    public static let invalidState = Code("invalid-state")
    /// The algorithm is not known, or the library that provides it is not installed.
    public static let unsupported = Code("unsupported")
    /// A token's algorithm is not on the list that the verifier allows, or is not its key's algorithm.
    public static let algorithmNotAllowed = Code("algorithm-not-allowed")
    /// No key is known for a token.
    public static let unknownKey = Code("unknown-key")
    /// A token's signature is not that of its key.
    public static let invalidSignature = Code("invalid-signature")
    /// Sealed bytes were changed, or sealed with another key or context.
    public static let notAuthentic = Code("not-authentic")
    /// A token is past its `exp` time.
    public static let expired = Code("expired")
    /// A token's `nbf` or `iat` time is in the future.
    public static let notYetValid = Code("not-yet-valid")
    /// A token was issued by another party.
    public static let wrongIssuer = Code("wrong-issuer")
    /// A token is for another audience.
    public static let wrongAudience = Code("wrong-audience")
    /// A token lacks a claim that the verifier needs, or the claim has the wrong type.
    public static let missingClaim = Code("missing-claim")
    /// The cryptographic library reported an error.
    public static let libraryFailure = Code("library-failure")

    /// Lets `catch CryptoError.Code.expired` match an error by its code.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? CryptoError)?.code == code }
  }

  /// The kind of error.
  public let code: Code

  /// The cause, in a sentence for a developer.
  public let message: String

  /// An error with the given code and message.
  ///
  /// - Parameters:
  ///   - code: The kind of error.
  ///   - message: The cause, without secrets.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The failure of a codec of the ground floor, with the code of the same meaning.
  ///
  /// - Parameter error: The failure.
  public init(_ error: BytesError) {
    let code: Code =
      switch error.code {
      case .malformed: .malformed
      case .limitExceeded: .limitExceeded
      default: .invalidParameter
      }
    self.init(code, error.message)
  }

  /// Runs a codec of the ground floor.
  static func decoding<Value>(_ body: () throws(BytesError) -> Value) throws(CryptoError) -> Value {
    do {
      return try body()
    } catch {
      throw CryptoError(error)
    }
  }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
