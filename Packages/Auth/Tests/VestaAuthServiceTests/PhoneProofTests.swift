import Testing
import VestaAuthBackend

@testable import VestaAuthService

/// Proofs of numbers that another account has.
@Suite struct PhoneProofTests {
  private static let number = "+15550000001"

  private func use(
    _ proof: String, of number: String = number, in world: World, linkTo idToken: String? = nil
  ) async throws -> String {
    let proof = PhoneProof.temporaryProof(phoneNumber: number, proof: proof)
    let response = try await world.engine.signInWithPhoneNumber(
      PhoneSignInRequest(proof: proof, idToken: idToken), context: world.context)
    guard case .signedIn(let uid, _, _, _) = response else { throw AuthServiceError(.internalError) }
    return uid
  }

  @Test func `a proof that cannot be linked signs in to the account of its number, once`() async throws {
    let world = World()
    let uid = try await world.signInByPhone(Self.number).uid
    let caller = try await world.signUp().tokens.idToken
    let sent = try await world.engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: Self.number), context: world.context)
    let code = PhoneProof.code(sessionInfo: sent.sessionInfo, code: try world.textedCode(sent.sessionInfo))
    let inUse = try await world.engine.signInWithPhoneNumber(
      PhoneSignInRequest(proof: code, idToken: caller), context: world.context)
    guard case .numberInUse(_, let proof, _) = inUse else {
      Issue.record("\(inUse)")
      return
    }
    for _ in 0..<2 { #expect(await refusal { try await use(proof, in: world, linkTo: caller) } == .phoneNumberExists) }
    #expect(await refusal { try await use(proof, of: "+15550000002", in: world) } == .invalidTemporaryProof)
    #expect(try await use(proof, in: world) == uid)
    #expect(await refusal { try await use(proof, in: world) } == .invalidTemporaryProof)
  }
}
