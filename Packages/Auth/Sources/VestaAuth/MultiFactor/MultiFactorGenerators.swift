/// Makes assertions of phones.
public enum PhoneMultiFactorGenerator {
  /// The proof that a user has a phone.
  ///
  /// - Parameter phoneAuthCredential: The phone with the code that was sent to it.
  /// - Returns: The assertion.
  public static func assertion(with phoneAuthCredential: PhoneAuthCredential) -> PhoneMultiFactorAssertion {
    PhoneMultiFactorAssertion(phoneAuthCredential)
  }
}

/// Makes secrets and assertions of authenticator apps.
public enum TOTPMultiFactorGenerator {
  /// A secret for an authenticator app.
  ///
  /// - Parameter session: See ``MultiFactor/session()``.
  /// - Returns: The secret, to be shown to the user.
  /// - Throws: ``AuthError``: `unverifiedEmail`, `unsupportedFirstFactor`, `maximumSecondFactorCountExceeded`.
  public static func generateSecret(with session: MultiFactorSession) async throws -> TOTPSecret {
    try await session.startTOTPEnrollment()
  }

  /// The proof that the user has put a secret into an authenticator app.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - oneTimePassword: The digits that the authenticator app shows.
  /// - Returns: The assertion.
  public static func assertionForEnrollment(
    with secret: TOTPSecret, oneTimePassword: String
  ) -> TOTPMultiFactorAssertion {
    TOTPMultiFactorAssertion(.enrollment(secret, code: oneTimePassword))
  }

  /// The proof that the user has the authenticator app.
  ///
  /// - Parameters:
  ///   - enrollmentID: The factor, the `uid` of one of the hints of the resolver.
  ///   - oneTimePassword: The digits that the authenticator app shows.
  /// - Returns: The assertion.
  public static func assertionForSignIn(
    withEnrollmentID enrollmentID: String, oneTimePassword: String
  ) -> TOTPMultiFactorAssertion {
    TOTPMultiFactorAssertion(.signIn(enrollmentID: enrollmentID, code: oneTimePassword))
  }
}
