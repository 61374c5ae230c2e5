import VestaAuthBackend

/// The proof that a user has a second factor.
public protocol SecondFactorAssertion: Sendable {
  /// The kind of the factor: "phone" or "totp".
  var factorID: String { get }
}

/// The proof that a user has a second factor.
public typealias MultiFactorAssertion = any SecondFactorAssertion

/// The proof that a user has a phone.
public final class PhoneMultiFactorAssertion: SecondFactorAssertion {
  /// "phone".
  public let factorID = PhoneMultiFactorID

  let credential: PhoneAuthCredential

  init(_ credential: PhoneAuthCredential) { self.credential = credential }
}

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

/// The proof that a user has an authenticator app.
public final class TOTPMultiFactorAssertion: SecondFactorAssertion {
  enum Proof: Sendable {
    case enrollment(TOTPSecret, code: String)
    case signIn(enrollmentID: String, code: String)
  }

  /// "totp".
  public let factorID = TOTPMultiFactorID

  let proof: Proof

  init(_ proof: Proof) { self.proof = proof }
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
