import VestaBytes
import VestaServiceInterop

/// Puts the check of development before the one of a project.
struct DevelopmentCallers: CallerVerifierDecorator {
  func decorate(_ verifier: any CallerVerifier) -> any CallerVerifier { DevelopmentCallerVerifier(verifier) }
}

/// Accepts what the tools and libraries of local test suites send, in addition to what another verifier accepts.
///
/// | token | caller |
/// |---|---|
/// | `owner`, in any case | the owner |
/// | a token with `alg: none` and an empty signature | the user that it names, whatever its times and project say |
/// | any other | as the other verifier says |
///
/// It trusts everyone who reaches it. A server has it in development alone.
struct DevelopmentCallerVerifier: CallerVerifier {
  private let signed: any CallerVerifier

  init(_ signed: any CallerVerifier) { self.signed = signed }

  func verify(_ credential: Credential, project: String?) async throws(ServiceStatus) -> VerifiedCaller {
    if credential.token.lowercased() == "owner" { return VerifiedCaller(.owner) }
    guard let token = UnsignedToken(credential.token) else {
      return try await signed.verify(credential, project: project)
    }
    return VerifiedCaller(.user(VerifiedUser(uid: token.uid, claims: token.claims, project: project)))
  }
}

/// An unsigned token; pure.
struct UnsignedToken {
  /// The user: `user_id`, or else `sub`.
  let uid: String
  /// All claims.
  let claims: JSONObject

  /// Reads a token.
  ///
  /// - Parameter text: Three parts with dots between them, of which the last is empty; `nil` for what is no such token,
  ///   or names no user.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2].isEmpty, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      header["alg"]?.string == "none"
    else { return nil }
    guard let uid = claims["user_id"]?.string ?? claims["sub"]?.string, !uid.isEmpty else { return nil }
    self.uid = uid
    self.claims = claims
  }

  private static func object(_ part: Substring) -> JSONObject? {
    guard let bytes = try? Base64.url.decode(String(part)) else { return nil }
    return try? JSONObject(json: bytes)
  }
}
