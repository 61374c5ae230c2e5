import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop

/// Unsigned tokens, as local test suites issue and take them; see `AuthServiceOptions.usesDevelopmentTokens`.
///
/// ```
/// eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0 . eyJzdWIiOiJhZGEifQ .
/// {"alg":"none","typ":"JWT"}            {"sub":"ada"}        no signature
/// ```
enum DevelopmentTokens {
  private static let longestUID = 128

  /// An unsigned token of claims.
  static func token(_ claims: JWTObject) throws -> String {
    let parts = [#"{"alg":"none","typ":"JWT"}"#, try ClaimsText.write(claims), ""]
    return parts.map { Base64.url.encode(Array($0.utf8)) }.joined(separator: ".")
  }

  /// The claims of an unsigned token, of which nothing is checked; `nil` for anything else.
  static func claims(of token: String) -> JWTObject? {
    guard token.utf8.last == UInt8(ascii: "."), let parsed = try? JWT(unverified: token),
      parsed.header.algorithm == "none"
    else { return nil }
    return parsed.claims
  }

  /// The caller of a credential that proves nothing; `nil` for one that has to be verified.
  static func caller(_ credential: Credential, projectID: String) throws(ServiceStatus) -> CallContext.Caller? {
    let token = credential.token
    if token.utf8.count == 5, token.lowercased() == "owner" { return .owner }
    if token.hasPrefix("ya29.") { return .owner }
    guard let claims = claims(of: token) else { return nil }
    let names = [claims["user_id"]?.string, claims["sub"]?.string]
    guard let uid = names.compactMap(\.self).first(where: { !$0.isEmpty }), uid.utf8.count <= longestUID else {
      throw .unauthenticated
    }
    // Neither an expiry nor a time that is out of range: the times of such a token are not read.
    let time = claims["auth_time"]?.integer.flatMap { seconds in
      let (microseconds, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
      return overflows ? nil : microseconds
    }
    return .user(VerifiedUser(uid: uid, claims: claims, project: projectID, authenticationTime: time))
  }
}
