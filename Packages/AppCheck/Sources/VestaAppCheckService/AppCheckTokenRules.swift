import VestaBytes
import VestaCryptoInterop

/// The claims of tokens, as Admin SDKs verify them; pure.
struct AppCheckTokenRules: Sendable {
  /// What a verified token says.
  struct Claims: Sendable, Equatable {
    let appID: String
    let tokenID: String
    /// The end, in microseconds since 1970.
    let end: Int64
  }

  let projectID: String
  let projectNumber: String
  let lifetime: Duration

  /// The audience of tokens that the owner's server signs.
  static let exchange = "https://firebaseappcheck.googleapis.com/google.firebase.appcheck.v1.TokenExchangeService"

  static func isAppID(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "/") }
  }

  private var issuer: String { "https://firebaseappcheck.googleapis.com/\(projectNumber)" }

  func claims(appID: String, tokenID: String, now: Int64) -> JSONObject {
    let seconds = now / 1_000_000
    return [
      "sub": .string(appID), "aud": ["projects/\(projectNumber)".json, "projects/\(projectID)".json],
      "iss": .string(issuer), "exp": .integer(seconds + lifetime.components.seconds), "iat": .integer(seconds),
      "jti": .string(tokenID),
    ]
  }

  /// - Throws: `CryptoError` for a token that is not valid.
  func verified(_ token: String, _ keys: [any VerificationKey], now: Int64) throws(CryptoError) -> Claims {
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
