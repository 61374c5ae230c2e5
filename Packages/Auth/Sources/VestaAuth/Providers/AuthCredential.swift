/// A credential to sign in with: a password, a code, or a token of an identity provider.
///
/// The providers make credentials; nothing outside of Auth conforms.
public protocol SignInCredential: Sendable {
  /// The id of the provider, such as "password" or "google.com".
  var provider: String { get }
}

/// A credential of any kind.
///
/// ```swift
/// let credential: AuthCredential = EmailAuthProvider.credential(withEmail: "ada@example.com", password: password)
/// try await user.link(with: credential)
/// ```
public typealias AuthCredential = any SignInCredential

/// An e-mail address with a password.
final class PasswordCredential: SignInCredential {
  let provider = EmailAuthProviderID
  let email: String
  let password: String

  init(email: String, password: String) { (self.email, self.password) = (email, password) }
}

/// An e-mail address with the link that was sent to it.
final class EmailLinkCredential: SignInCredential {
  let provider = EmailAuthProviderID
  let email: String
  let link: String

  init(email: String, link: String) { (self.email, self.link) = (email, link) }
}
