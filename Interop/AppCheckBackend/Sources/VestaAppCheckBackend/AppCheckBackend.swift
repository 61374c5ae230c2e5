public import VestaBytes
public import VestaServiceInterop

/// The service that issues tokens to apps for proofs that they are genuine, and verifies the tokens.
///
/// Promises of every implementation (`AppCheckContracts` checks them):
/// - A token is given for a proof that holds, and for no other one.
/// - A token is verified by the keys that ``keys(context:)`` returns, names its app, and ends with its time.
/// - A token is consumed once: every later look at it that consumes says that it was consumed already.
/// - Secrets for development are made and removed by the owner.
public protocol AppCheckBackend: Sendable {
  /// Gives a token for a proof.
  ///
  /// - Parameters:
  ///   - proof: The proof.
  ///   - appID: The app, such as `1:1234:web:5678`.
  ///   - context: The caller.
  /// - Throws: `permissionDenied` for a proof that does not hold.
  func exchange(
    _ proof: AppCheckProof, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) -> AppCheckToken

  /// The keys that verify tokens: a set of JSON Web Keys.
  func keys(context: CallContext) async throws(AppCheckServiceError) -> JSONObject

  /// Verifies a token.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - consumes: Whether the token is used up by this.
  ///   - context: The caller.
  /// - Throws: `unauthenticated` for a token that is not valid.
  func verify(
    token: String, consumes: Bool, context: CallContext
  ) async throws(AppCheckServiceError) -> VerifiedAppCheckToken

  /// Makes a secret with which builds for development and tests prove that they are the app.
  ///
  /// - Parameters:
  ///   - secret: The secret: 36 characters, in the form of a UUID.
  ///   - appID: The app.
  ///   - context: The owner.
  func addDebugSecret(_ secret: String, appID: String, context: CallContext) async throws(AppCheckServiceError)

  /// Removes such a secret; one that is not there is no error.
  func removeDebugSecret(_ secret: String, appID: String, context: CallContext) async throws(AppCheckServiceError)
}

/// A proof that an app is genuine.
public enum AppCheckProof: Sendable, Hashable {
  /// A secret that the owner has made for development and tests.
  case debug(String)
  /// A token that the owner's server has signed for the app.
  case custom(String)
}

/// A token of an app.
public struct AppCheckToken: Sendable, Hashable {
  /// The text.
  public var text: String

  /// How long it is valid.
  public var lifetime: Duration

  /// A token.
  public init(text: String, lifetime: Duration) {
    self.text = text
    self.lifetime = lifetime
  }
}

/// A token that was verified.
public struct VerifiedAppCheckToken: Sendable, Hashable {
  /// The app.
  public var appID: String

  /// The id of the token.
  public var tokenID: String

  /// Whether an earlier look has consumed it.
  public var isAlreadyConsumed: Bool

  /// A token.
  public init(appID: String, tokenID: String, isAlreadyConsumed: Bool = false) {
    self.appID = appID
    self.tokenID = tokenID
    self.isAlreadyConsumed = isAlreadyConsumed
  }
}

/// Why the service refused a call.
public struct AppCheckServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The code, the message and the details.
  public let status: ServiceStatus

  /// The failure for a status.
  public init(_ status: ServiceStatus) { self.status = status }

  /// The canonical code.
  public var code: ServiceCode { status.code }

  /// The cause, for a developer.
  public var message: String { status.message }

  /// The code and the message.
  public var description: String { "\(code.name): \(message)" }
}
