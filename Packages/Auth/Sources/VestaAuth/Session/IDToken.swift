import VestaCryptoInterop

/// The claims of an ID token that Auth itself reads.
///
/// It is not verified: the backend that made it sent it.
struct IDToken: Equatable {
  /// The user's id.
  let uid: String

  init(_ text: String) throws(AuthError) {
    do {
      let claims = try JWT(unverified: text).claims
      guard let uid = claims["sub"]?.string ?? claims["user_id"]?.string else {
        throw AuthError(.malformedJWT, "The token does not say whose it is.")
      }
      self.uid = uid
    } catch let error as AuthError {
      throw error
    } catch {
      throw AuthError(.malformedJWT, underlying: error)
    }
  }
}
