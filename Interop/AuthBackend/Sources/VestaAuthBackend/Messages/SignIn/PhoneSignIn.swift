/// A phone to send a code to.
public struct SendVerificationCodeRequest: AuthMessage {
  /// The number in the international form, such as "+4930123456".
  public var phoneNumber: String

  /// The proof that the genuine app calls; for backends that require it.
  public var appVerification: AppVerification?

  /// Creates a value with these properties.
  public init(phoneNumber: String, appVerification: AppVerification? = nil) {
    self.phoneNumber = phoneNumber
    self.appVerification = appVerification
  }
}

/// The proof that a genuine app, or a human, calls.
public struct AppVerification: AuthMessage {
  /// The answer to a challenge.
  public var recaptchaToken: String?

  /// The receipt of a silent push notification.
  public var appToken: String?

  /// The secret of a silent push notification.
  public var appSecret: String?

  /// Creates a value with these properties.
  public init(recaptchaToken: String? = nil, appToken: String? = nil, appSecret: String? = nil) {
    self.recaptchaToken = recaptchaToken
    self.appToken = appToken
    self.appSecret = appSecret
  }
}

/// The response to a code that is on its way.
public struct SendVerificationCodeResponse: AuthMessage {
  /// Names the verification.
  public var sessionInfo: String

  /// Creates a value with these properties.
  public init(sessionInfo: String) {
    self.sessionInfo = sessionInfo
  }
}

/// The proof that the user has a phone number.
public enum PhoneProof: AuthMessage {
  /// The code that was sent to it.
  case code(sessionInfo: String, code: String)

  /// The proof that an earlier call returned because another account has the number.
  case temporaryProof(phoneNumber: String, proof: String)
}

/// A phone number that is proven, to sign in with or to link.
public struct PhoneSignInRequest: AuthMessage {
  /// The proof.
  public var proof: PhoneProof

  /// The ID token of the account to link to; `nil` to sign in.
  public var idToken: String?

  /// Creates a value with these properties.
  public init(proof: PhoneProof, idToken: String? = nil) {
    self.proof = proof
    self.idToken = idToken
  }
}

/// The outcome of a proven phone number.
public enum PhoneSignInResponse: AuthMessage {
  /// The user is signed in, or the number is linked.
  case signedIn(localID: String, phoneNumber: String, isNewUser: Bool, tokens: AuthTokens)

  /// Another account has the number, which therefore was not linked. The proof signs in to that account, for the
  /// seconds that it is valid.
  case numberInUse(phoneNumber: String, temporaryProof: String, expiresIn: Int64)
}
