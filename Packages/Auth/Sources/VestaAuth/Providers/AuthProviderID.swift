/// The id of an identity provider.
public struct AuthProviderID: Equatable, Hashable, Sendable {
  /// The id as tokens and requests have it, such as "google.com".
  public let rawValue: String

  init(rawValue: String) { self.rawValue = rawValue }
}

extension AuthProviderID {
  /// Sign in with Apple.
  public static var apple: Self { Self(rawValue: "apple.com") }

  /// An e-mail address with a password or a link.
  public static var email: Self { Self(rawValue: EmailAuthProviderID) }

  /// Facebook.
  public static var facebook: Self { Self(rawValue: FacebookAuthProviderID) }

  /// Apple's Game Center.
  public static var gameCenter: Self { Self(rawValue: "gc.apple.com") }

  /// GitHub.
  public static var gitHub: Self { Self(rawValue: GitHubAuthProviderID) }

  /// Google.
  public static var google: Self { Self(rawValue: GoogleAuthProviderID) }

  /// A phone number.
  public static var phone: Self { Self(rawValue: PhoneAuthProviderID) }

  /// Any other provider, such as "oidc.my-company".
  ///
  /// - Parameter value: Its id.
  /// - Returns: The id.
  public static func custom(_ value: String) -> Self { Self(rawValue: value) }
}
