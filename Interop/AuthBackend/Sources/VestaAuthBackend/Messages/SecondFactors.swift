/// A second factor to add.
public struct StartMfaEnrollmentRequest: IdentityMessage {
  /// What there is to say of the factor.
  public enum Factor: IdentityMessage {
    /// A phone, which gets a code.
    case phone(number: String, appVerification: AppVerification? = nil)

    /// An authenticator app.
    case totp
  }

  /// The ID token of the account.
  public var idToken: String

  /// What kind of factor.
  public var factor: Factor

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - idToken: The ID token of the account.
  ///   - factor: What kind of factor.
  public init(idToken: String, factor: Factor) {
    self.idToken = idToken
    self.factor = factor
  }
}

/// What the second step of an enrolment needs.
public enum StartMfaEnrollmentResponse: IdentityMessage {
  /// A code is on its way to the phone.
  case phone(sessionInfo: String)

  /// The secret for an authenticator app.
  case totp(TotpSecret)
}

/// A secret for an authenticator app (RFC 6238).
public struct TotpSecret: IdentityMessage {
  /// The secret as Base32 without padding.
  public var sharedSecretKey: String

  /// Names the verification.
  public var sessionInfo: String

  /// How many digits a code has.
  public var verificationCodeLength: Int

  /// The hash function of the codes.
  public var hashingAlgorithm: String

  /// For how many seconds a code is valid.
  public var periodSeconds: Int64

  /// Until when the enrolment has to be finished, in milliseconds since 1970.
  public var finalizeEnrollmentTime: Int64

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - sharedSecretKey: The secret as Base32 without padding.
  ///   - sessionInfo: Names the verification.
  ///   - verificationCodeLength: How many digits a code has.
  ///   - hashingAlgorithm: The hash function of the codes.
  ///   - periodSeconds: For how many seconds a code is valid.
  ///   - finalizeEnrollmentTime: Until when the enrolment has to be finished, in milliseconds since 1970.
  public init(
    sharedSecretKey: String,
    sessionInfo: String,
    verificationCodeLength: Int = 6,
    hashingAlgorithm: String = "SHA1",
    periodSeconds: Int64 = 30,
    finalizeEnrollmentTime: Int64
  ) {
    self.sharedSecretKey = sharedSecretKey
    self.sessionInfo = sessionInfo
    self.verificationCodeLength = verificationCodeLength
    self.hashingAlgorithm = hashingAlgorithm
    self.periodSeconds = periodSeconds
    self.finalizeEnrollmentTime = finalizeEnrollmentTime
  }
}

/// The proof that the user has the second factor.
public struct FinalizeMfaEnrollmentRequest: IdentityMessage {
  /// What proves that the user has the factor.
  public enum Proof: IdentityMessage {
    /// The code that was sent to the phone.
    case phone(sessionInfo: String, code: String)

    /// A code of the authenticator app.
    case totp(sessionInfo: String, code: String)
  }

  /// The ID token of the account.
  public var idToken: String

  /// What the user calls the factor.
  public var displayName: String?

  /// The proof.
  public var proof: Proof

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - idToken: The ID token of the account.
  ///   - displayName: What the user calls the factor.
  ///   - proof: The proof.
  public init(idToken: String, displayName: String? = nil, proof: Proof) {
    self.idToken = idToken
    self.displayName = displayName
    self.proof = proof
  }
}

/// A second factor to take away.
public struct WithdrawMfaEnrollmentRequest: IdentityMessage {
  /// The ID token of the account.
  public var idToken: String

  /// The factor.
  public var mfaEnrollmentID: String

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - idToken: The ID token of the account.
  ///   - mfaEnrollmentID: The factor.
  public init(idToken: String, mfaEnrollmentID: String) {
    self.idToken = idToken
    self.mfaEnrollmentID = mfaEnrollmentID
  }
}

/// A second factor whose code is to be sent.
public struct StartMfaSignInRequest: IdentityMessage {
  /// What the first factor gave.
  public var mfaPendingCredential: String

  /// The factor.
  public var mfaEnrollmentID: String

  /// What proves that the genuine app asks; for backends that want it.
  public var appVerification: AppVerification?

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - mfaPendingCredential: What the first factor gave.
  ///   - mfaEnrollmentID: The factor.
  ///   - appVerification: What proves that the genuine app asks.
  public init(mfaPendingCredential: String, mfaEnrollmentID: String, appVerification: AppVerification? = nil) {
    self.mfaPendingCredential = mfaPendingCredential
    self.mfaEnrollmentID = mfaEnrollmentID
    self.appVerification = appVerification
  }
}

/// That a code is on its way.
public struct StartMfaSignInResponse: IdentityMessage {
  /// Names the verification.
  public var sessionInfo: String

  /// All parts of it.
  ///
  /// - Parameter sessionInfo: Names the verification.
  public init(sessionInfo: String) {
    self.sessionInfo = sessionInfo
  }
}

/// The proof of the second factor.
public struct FinalizeMfaSignInRequest: IdentityMessage {
  /// What proves that the user has the factor.
  public enum Proof: IdentityMessage {
    /// The code that was sent to the phone.
    case phone(sessionInfo: String, code: String)

    /// A code of the authenticator app.
    case totp(mfaEnrollmentID: String, code: String)
  }

  /// What the first factor gave.
  public var mfaPendingCredential: String

  /// The proof.
  public var proof: Proof

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - mfaPendingCredential: What the first factor gave.
  ///   - proof: The proof.
  public init(mfaPendingCredential: String, proof: Proof) {
    self.mfaPendingCredential = mfaPendingCredential
    self.proof = proof
  }
}
