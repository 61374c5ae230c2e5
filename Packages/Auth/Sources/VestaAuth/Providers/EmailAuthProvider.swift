/// Makes credentials of e-mail addresses.
public enum EmailAuthProvider {
  /// The provider id.
  public static let id = EmailAuthProviderID

  /// An e-mail address with a password.
  ///
  /// - Parameters:
  ///   - email: The address.
  ///   - password: The password.
  /// - Returns: The credential.
  public static func credential(withEmail email: String, password: String) -> AuthCredential {
    PasswordCredential(email: email, password: password)
  }

  /// An e-mail address with the link that was sent to it.
  ///
  /// - Parameters:
  ///   - email: The address.
  ///   - link: The link from the e-mail, see `Auth.sendSignInLink(toEmail:actionCodeSettings:)`.
  /// - Returns: The credential.
  public static func credential(withEmail email: String, link: String) -> AuthCredential {
    EmailLinkCredential(email: email, link: link)
  }
}
