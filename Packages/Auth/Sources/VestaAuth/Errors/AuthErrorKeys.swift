/// The domain of Auth's errors as `NSError`s.
public let AuthErrorDomain: String = "FIRAuthErrorDomain"

/// The key of an error's name in its `userInfo`, such as "ERROR_WRONG_PASSWORD".
public let AuthErrorUserInfoNameKey: String = "FIRAuthErrorUserInfoNameKey"

/// The key of the e-mail address in question.
public let AuthErrorUserInfoEmailKey: String = "FIRAuthErrorUserInfoEmailKey"

/// The key of a credential to sign in with instead.
public let AuthErrorUserInfoUpdatedCredentialKey: String = "FIRAuthErrorUserInfoUpdatedCredentialKey"

/// The key of the ``MultiFactorResolver`` of a sign-in that needs a second factor.
public let AuthErrorUserInfoMultiFactorResolverKey: String = "FIRAuthErrorUserInfoMultiFactorResolverKey"

/// The domain and the keys of Auth's errors, gathered.
public enum AuthErrors {
  /// The domain of Auth's errors as `NSError`s.
  public static let domain: String = AuthErrorDomain

  /// The key of an error's name in its `userInfo`.
  public static let userInfoNameKey: String = AuthErrorUserInfoNameKey

  /// The key of the e-mail address in question.
  public static let userInfoEmailKey: String = AuthErrorUserInfoEmailKey

  /// The key of a credential to sign in with instead.
  public static let userInfoUpdatedCredentialKey: String = AuthErrorUserInfoUpdatedCredentialKey

  /// The key of the ``MultiFactorResolver`` of a sign-in that needs a second factor.
  public static let userInfoMultiFactorResolverKey: String = AuthErrorUserInfoMultiFactorResolverKey
}
