/// What a sign-in or a link ends with.
public final class AuthDataResult: Sendable {
  /// The user.
  public let user: User

  /// What the sign-in tells besides.
  public let additionalUserInfo: AdditionalUserInfo?

  /// What the provider has issued, of providers that issue something.
  public let credential: OAuthCredential?

  init(user: User, additionalUserInfo: AdditionalUserInfo?, credential: OAuthCredential? = nil) {
    self.user = user
    self.additionalUserInfo = additionalUserInfo
    self.credential = credential
  }
}
