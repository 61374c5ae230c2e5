import VestaBytes

/// The claims of an ID token that is known to be genuine; pure.
enum TokenClaims {
  /// The claims; `nil` for a text that is no token.
  static func claims(of token: String) -> JSONObject? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = try? Base64.url.decode(parts[1]) else { return nil }
    return try? JSONObject(json: bytes)
  }

  /// The id of the user.
  static func uid(_ claims: JSONObject) -> String? { claims["user_id"]?.string ?? claims["sub"]?.string }
}
