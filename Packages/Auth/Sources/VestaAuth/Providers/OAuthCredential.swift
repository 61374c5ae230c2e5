import Foundation
import VestaAuthBackend

/// A credential of an OAuth or OpenID Connect provider.
public final class OAuthCredential: SignInCredential {
  /// The id of the provider.
  public let provider: String

  /// The ID token, where the provider issues one.
  public let idToken: String?

  /// The access token, where the provider issues one.
  public let accessToken: String?

  /// The secret of the access token, of OAuth 1 providers.
  public let secret: String?

  let rawNonce: String?
  let pendingToken: String?
  let fullName: PersonNameComponents?

  init(
    provider: String, idToken: String? = nil, accessToken: String? = nil, secret: String? = nil,
    rawNonce: String? = nil, pendingToken: String? = nil, fullName: PersonNameComponents? = nil
  ) {
    self.provider = provider
    self.idToken = idToken
    self.accessToken = accessToken
    self.secret = secret
    self.rawNonce = rawNonce
    self.pendingToken = pendingToken
    self.fullName = fullName
  }

  /// The credential as the backend takes it.
  var message: IdpCredential {
    IdpCredential(
      providerID: provider,
      idToken: idToken,
      accessToken: accessToken,
      oauthTokenSecret: secret,
      rawNonce: rawNonce,
      pendingToken: pendingToken,
      givenName: fullName?.givenName,
      familyName: fullName?.familyName
    )
  }

  /// The credential that the provider issued with a sign-in; `nil` if it issued none.
  convenience init?(_ response: IdpSignInResponse) {
    let hasSomething =
      response.oauthIDToken != nil || response.oauthAccessToken != nil || response.pendingToken != nil
    guard hasSomething else { return nil }
    self.init(
      provider: response.providerID,
      idToken: response.oauthIDToken,
      accessToken: response.oauthAccessToken,
      secret: response.oauthTokenSecret,
      rawNonce: response.nonce,
      pendingToken: response.pendingToken
    )
  }
}
