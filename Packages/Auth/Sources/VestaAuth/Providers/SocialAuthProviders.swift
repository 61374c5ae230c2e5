/// Makes credentials of Google.
public enum GoogleAuthProvider {
  /// The provider id.
  public static let id = GoogleAuthProviderID

  /// Returns a credential of Google.
  ///
  /// - Parameters:
  ///   - idToken: The ID token.
  ///   - accessToken: The access token.
  /// - Returns: The credential.
  public static func credential(withIDToken idToken: String, accessToken: String) -> AuthCredential {
    OAuthCredential(provider: id, idToken: idToken, accessToken: accessToken)
  }
}

/// Makes credentials of Facebook.
public enum FacebookAuthProvider {
  /// The provider id.
  public static let id = FacebookAuthProviderID

  /// Returns a credential of Facebook.
  ///
  /// - Parameter accessToken: The access token.
  /// - Returns: The credential.
  public static func credential(withAccessToken accessToken: String) -> AuthCredential {
    OAuthCredential(provider: id, accessToken: accessToken)
  }
}

/// Creates credentials of GitHub.
public enum GitHubAuthProvider {
  /// The provider id.
  public static let id = GitHubAuthProviderID

  /// Returns a credential of GitHub.
  ///
  /// - Parameter token: The access token.
  /// - Returns: The credential.
  public static func credential(withToken token: String) -> AuthCredential {
    OAuthCredential(provider: id, accessToken: token)
  }
}

/// Makes credentials of Twitter.
public enum TwitterAuthProvider {
  /// The provider id.
  public static let id = TwitterAuthProviderID

  /// Returns a credential of Twitter.
  ///
  /// - Parameters:
  ///   - token: The access token.
  ///   - secret: Its secret.
  /// - Returns: The credential.
  public static func credential(withToken token: String, secret: String) -> AuthCredential {
    OAuthCredential(provider: id, accessToken: token, secret: secret)
  }
}
