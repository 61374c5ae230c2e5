public import VestaBytes
public import VestaCryptoInterop

/// The claims of tokens, as Admin SDKs verify them; pure.
///
/// The engine writes and verifies them, and a remote backend verifies them by the public keys.
public struct AppCheckTokenRules: Sendable {
  /// The claims of a verified token.
  public struct Claims: Sendable, Equatable {
    /// The app.
    public let appID: String
    /// The id of the token.
    public let tokenID: String
    /// The end, in microseconds since 1970.
    public let end: Int64
  }

  /// The id of the project.
  public let projectID: String
  /// Its number.
  public let projectNumber: String
  private let lifetime: Duration

  /// The rules of a project.
  ///
  /// - Parameters:
  ///   - projectID: Its id.
  ///   - projectNumber: Its number.
  ///   - lifetime: The time for which a new token is valid.
  public init(projectID: String, projectNumber: String, lifetime: Duration = .seconds(3_600)) {
    self.projectID = projectID
    self.projectNumber = projectNumber
    self.lifetime = lifetime
  }

  /// The audience of tokens that the owner's server signs.
  public static let exchange =
    "https://firebaseappcheck.googleapis.com/google.firebase.appcheck.v1.TokenExchangeService"

  /// Whether a text has the form of an app's id.
  public static func isAppID(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "/") }
  }

  private var issuer: String { "https://firebaseappcheck.googleapis.com/\(projectNumber)" }

  /// The claims of a new token.
  ///
  /// - Parameters:
  ///   - appID: The app.
  ///   - tokenID: The id of the token.
  ///   - now: The time, in microseconds since 1970.
  public func claims(appID: String, tokenID: String, now: Int64) -> JSONObject {
    let seconds = now / 1_000_000
    return [
      "sub": .string(appID), "aud": ["projects/\(projectNumber)".json, "projects/\(projectID)".json],
      "iss": .string(issuer), "exp": .integer(seconds + lifetime.components.seconds), "iat": .integer(seconds),
      "jti": .string(tokenID),
    ]
  }

  /// Verifies a token.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - keys: The keys of the service.
  ///   - now: The time, in microseconds since 1970.
  /// - Returns: Its claims.
  /// - Throws: `CryptoError` for a token that is not valid.
  public func verified(_ token: String, _ keys: [any VerificationKey], now: Int64) throws(CryptoError) -> Claims {
    let verifier = JWTVerifier(issuers: [issuer], audiences: ["projects/\(projectID)"], algorithms: [.rs256])
    let claims = try verifier.verify(token, at: now / 1_000_000, keys: keys).claims
    guard let appID = claims["sub"]?.string, let id = claims["jti"]?.string, let end = claims["exp"]?.integer,
      end < 1 << 40
    else { throw CryptoError(.missingClaim, "JWT: `sub` or `jti` is missing") }
    return Claims(appID: appID, tokenID: id, end: end * 1_000_000)
  }
}

extension String {
  fileprivate var json: JSONValue { .string(self) }
}
