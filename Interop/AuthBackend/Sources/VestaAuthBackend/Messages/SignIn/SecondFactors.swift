/// A second factor to add.
public struct StartMfaEnrollmentRequest: AuthMessage {
  /// The description of the factor.
  public enum Factor: AuthMessage {
    /// A phone, which gets a code.
    case phone(number: String, appVerification: AppVerification? = nil)

    /// An authenticator app.
    case totp
  }

  /// The ID token of the account.
  public var idToken: String

  /// The kind of factor.
  public var factor: Factor

  /// Creates a value with these properties.
  public init(idToken: String, factor: Factor) {
    self.idToken = idToken
    self.factor = factor
  }
}

/// The response to the first step of an enrolment.
public enum StartMfaEnrollmentResponse: AuthMessage {
  /// A code is on its way to the phone.
  case phone(sessionInfo: String)

  /// The secret for an authenticator app.
  case totp(TotpSecret)
}

/// A secret for an authenticator app (RFC 6238).
public struct TotpSecret: AuthMessage {
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

  /// Creates a value with these properties.
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
public struct FinalizeMfaEnrollmentRequest: AuthMessage {
  /// The proof that the user has the factor.
  public enum Proof: AuthMessage {
    /// The code that was sent to the phone.
    case phone(sessionInfo: String, code: String)

    /// A code of the authenticator app.
    case totp(sessionInfo: String, code: String)
  }

  /// The ID token of the account.
  public var idToken: String

  /// The name that the user gave the factor.
  public var displayName: String?

  /// The proof.
  public var proof: Proof

  /// Creates a value with these properties.
  public init(idToken: String, displayName: String? = nil, proof: Proof) {
    self.idToken = idToken
    self.displayName = displayName
    self.proof = proof
  }
}

/// A second factor to take away.
public struct WithdrawMfaEnrollmentRequest: AuthMessage {
  /// The ID token of the account.
  public var idToken: String

  /// The factor.
  public var mfaEnrollmentID: String

  /// Creates a value with these properties.
  public init(idToken: String, mfaEnrollmentID: String) {
    self.idToken = idToken
    self.mfaEnrollmentID = mfaEnrollmentID
  }
}

/// A second factor whose code is to be sent.
public struct StartMfaSignInRequest: AuthMessage {
  /// The credential that the first factor returned.
  public var mfaPendingCredential: String

  /// The factor.
  public var mfaEnrollmentID: String

  /// The proof that the genuine app calls; for backends that require it.
  public var appVerification: AppVerification?

  /// Creates a value with these properties.
  public init(mfaPendingCredential: String, mfaEnrollmentID: String, appVerification: AppVerification? = nil) {
    self.mfaPendingCredential = mfaPendingCredential
    self.mfaEnrollmentID = mfaEnrollmentID
    self.appVerification = appVerification
  }
}

/// The response to a code that is on its way.
public struct StartMfaSignInResponse: AuthMessage {
  /// Names the verification.
  public var sessionInfo: String

  /// Creates a value with these properties.
  public init(sessionInfo: String) {
    self.sessionInfo = sessionInfo
  }
}

/// The proof of the second factor.
public struct FinalizeMfaSignInRequest: AuthMessage {
  /// The proof that the user has the factor.
  public enum Proof: AuthMessage {
    /// The code that was sent to the phone.
    case phone(sessionInfo: String, code: String)

    /// A code of the authenticator app.
    case totp(mfaEnrollmentID: String, code: String)
  }

  /// The credential that the first factor returned.
  public var mfaPendingCredential: String

  /// The proof.
  public var proof: Proof

  /// Creates a value with these properties.
  public init(mfaPendingCredential: String, proof: Proof) {
    self.mfaPendingCredential = mfaPendingCredential
    self.proof = proof
  }
}
