import VestaAuthBackend

/// A phone number with the code that was sent to it.
public final class PhoneAuthCredential: SignInCredential {
  /// The id of the provider.
  public let provider = PhoneAuthProviderID

  let proof: PhoneProof

  init(_ proof: PhoneProof) { self.proof = proof }
}
