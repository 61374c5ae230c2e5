import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaBytes
import VestaCrypto
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInteropFakes

@testable import VestaAuthService

/// Passkeys with real keys.
@Suite struct PasskeyTests {
  private let crypto = OpenSSLCrypto()

  private func authenticator(_ algorithm: SignatureAlgorithm) async throws -> VirtualAuthenticator {
    let key = try await crypto.generateSigningKey(algorithm)
    let numbers = try key.verificationKey.jsonWebKey()
    let isPoint = algorithm == .es256
    let publicKey: VirtualAuthenticator.PublicKey =
      isPoint
      ? .p256(x: numbers[.x] ?? [], y: numbers[.y] ?? []) : .rsa(n: numbers[.n] ?? [], e: numbers[.e] ?? [])
    return VirtualAuthenticator(publicKey: publicKey) { try key.signature(for: $0) }
  }

  @Test(arguments: [SignatureAlgorithm.es256, .rs256])
  func `a passkey of either algorithm signs in, time after time`(algorithm: SignatureAlgorithm) async throws {
    let store = ModelStore()
    let engine = AuthEngine(projectID: "demo", crypto: crypto) { store }
    let context = CallContext()
    let made = try await engine.signUp(SignUpRequest(), context: context)
    let creation = try await engine.startPasskeyEnrollment(
      StartPasskeyEnrollmentRequest(idToken: made.tokens.idToken), context: context)
    let authenticator = try await authenticator(algorithm)
    _ = try await engine.finalizePasskeyEnrollment(
      FinalizePasskeyEnrollmentRequest(
        idToken: made.tokens.idToken, registration: authenticator.registration(for: creation)), context: context)
    // The two numbers of a signature have other lengths each time.
    for _ in 0..<(algorithm == .es256 ? 200 : 3) {
      let options = try await engine.startPasskeySignIn(context: context)
      let assertion = try authenticator.assertion(for: options)
      let request = FinalizePasskeySignInRequest(assertion: assertion)
      #expect(try await engine.finalizePasskeySignIn(request, context: context).localID == made.localID)
    }
    let stranger = try await self.authenticator(algorithm)
    let options = try await engine.startPasskeySignIn(context: context)
    let forged = FinalizePasskeySignInRequest(assertion: try stranger.assertion(for: options))
    await #expect(throws: AuthServiceError.self) { try await engine.finalizePasskeySignIn(forged, context: context) }
    try await engine.close()
  }

  // Section 16.2 of Web Authentication, level 3: a credential with ES256 and without an attestation.
  @Test func `the published example of WebAuthn is accepted, and no changed form of it`() throws {
    let party = PasskeyRelyingParty(id: "example.org", name: "")
    let check = PasskeyCheck(party: party, crypto: crypto)
    let id = Base64.url.encode(try Hex.decode("f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4"))
    let registration = FinalizePasskeyEnrollmentRequest.Registration(
      credentialID: id, clientData: try Hex.decode(Published.creation),
      attestationObject: try Hex.decode(Published.attestation))
    let made = try check.registration(registration)
    #expect(made.challenges.first == "AMMPt4UxxGTStncdq417YDwBFi8vpIa-pw8oOuVW4TA")
    #expect(made.signCount == 0)
    let passkey = UserRecord.Passkey(credentialID: id, name: "", publicKey: made.publicKey, createdAt: 0)
    let assertion = FinalizePasskeySignInRequest.Assertion(
      credentialID: id, clientData: try Hex.decode(Published.request),
      authenticatorData: try Hex.decode(Published.authenticatorData), signature: try Hex.decode(Published.signature))
    #expect(try check.assertion(assertion, of: "", passkey).signCount == 0)
    for change in [
      { $0.signature?[70] ^= 1 }, { $0.signature?[8] ^= 1 }, { $0.clientData?[40] ^= 1 },
      { $0.signature?.append(0) }, { $0.authenticatorData?[36] ^= 1 },
    ] as [(inout FinalizePasskeySignInRequest.Assertion) -> Void] {
      var changed = assertion
      change(&changed)
      #expect(throws: AuthServiceError.self) { try check.assertion(changed, of: "", passkey) }
    }
    let other = PasskeyCheck(party: PasskeyRelyingParty(id: "example.com", name: ""), crypto: crypto)
    #expect(throws: AuthServiceError.self) { try other.registration(registration) }
    #expect(throws: AuthServiceError.self) { try other.assertion(assertion, of: "", passkey) }
  }

  private enum Published {
    static let creation =
      "7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a22414d4d507434557878475453746e63647134"
      + "313759447742466938767049612d7077386f4f755657345441222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f7267"
      + "222c2263726f73734f726967696e223a66616c73652c22657874726144617461223a22636c69656e74446174614a534f4e206d6179206265"
      + "20657874656e6465642077697468206164646974696f6e616c206669656c647320696e20746865206675747572652c207375636820617320"
      + "746869733a20426b5165446a646354427258426941774a544c453551227d"
    static let attestation =
      "a363666d74646e6f6e656761747453746d74a068617574684461746158a4bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0"
      + "f01452b2e4b559000000008446ccb9ab1db374750b2367ff6f3a1f0020f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3e"
      + "c330084be4a5010203262001215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61225820930a56b87a2f"
      + "ca66334b03458abf879717c12cc68ed73290af2e2664796b9220"
    static let authenticatorData =
      "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b51900000000"
    static let request =
      "7b2274797065223a22776562617574686e2e676574222c226368616c6c656e6765223a224f63446e55685158756c5455506f334a55585430"
      + "49393770767a7a59425039745a63685879617630314167222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f7267222c"
      + "2263726f73734f726967696e223a66616c73657d"
    static let signature =
      "3046022100f50a4e2e4409249c4a853ba361282f09841df4dd4547a13a87780218deffcd380221008480ac0f0b93538174f575bf11a1dd5d78"
      + "c6e486013f937295ea13653e331e87"
  }
}
