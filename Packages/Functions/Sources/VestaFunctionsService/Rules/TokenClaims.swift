import VestaBytes

/// The claims of an ID token that is known to be genuine; pure.
enum TokenClaims {
  /// The claims; `nil` for a string that is no token.
  static func claims(of token: String) -> JSONObject? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = try? Base64.url.decode(parts[1]) else { return nil }
    return try? JSONObject(json: bytes)
  }

  /// Whether the token's time has passed; one without a time does not expire.
  static func hasExpired(_ claims: JSONObject, now: Int64) -> Bool {
    claims["exp"]?.integer.map { $0 <= now / 1_000_000 } ?? false
  }

  /// The id of the user.
  static func uid(_ claims: JSONObject) -> String? { claims["user_id"]?.string ?? claims["sub"]?.string }
}
