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
