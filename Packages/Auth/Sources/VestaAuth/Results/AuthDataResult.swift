/// The result of a sign-in or a link.
public final class AuthDataResult: Sendable {
  /// The user.
  public let user: User

  /// Further information about the sign-in.
  public let additionalUserInfo: AdditionalUserInfo?

  /// The credential that the provider issued, if it issued one.
  public let credential: OAuthCredential?

  init(user: User, additionalUserInfo: AdditionalUserInfo?, credential: OAuthCredential? = nil) {
    self.user = user
    self.additionalUserInfo = additionalUserInfo
    self.credential = credential
  }
}
