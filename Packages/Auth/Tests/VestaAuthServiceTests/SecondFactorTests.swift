import Testing
import VestaAuthBackend
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

@Suite struct SecondFactorTests {
  private func totp(_ world: World, _ localID: String) async throws -> TOTP {
    let user = try #require(try await world.store.read { try await $0.user("", localID) })
    let secret = try #require(user.factors.first { $0.totpSecret != nil }?.totpSecret)
    return TOTP { try world.crypto.hmac(.sha1, key: secret, message: $0) }
  }

  private func decoded(_ base32: String) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    var (bytes, group, bits) = ([UInt8](), 0, 0)
    for character in base32.utf8 {
      group = (group << 5 | (alphabet.firstIndex(of: character) ?? 0)) & 0xFFFF
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: group >> bits))
      }
    }
    return bytes
  }

  /// Adds an authenticator app to an account.
  private func enrollTotp(_ world: World, _ tokens: AuthTokens) async throws -> AuthTokens {
    let started = try await world.engine.startMfaEnrollment(
      StartMfaEnrollmentRequest(idToken: tokens.idToken, factor: .totp), context: world.context)
    guard case .totp(let secret) = started else { throw AuthServiceError(.internalError, "not TOTP") }
    let key = decoded(secret.sharedSecretKey)
    let code = try TOTP { try world.crypto.hmac(.sha1, key: key, message: $0) }.code(at: world.now / 30_000)
    return try await world.engine.finalizeMfaEnrollment(
      FinalizeMfaEnrollmentRequest(
        idToken: tokens.idToken, displayName: "app", proof: .totp(sessionInfo: secret.sessionInfo, code: code)),
      context: world.context)
  }

  private func enrollPhone(
    _ world: World, _ tokens: AuthTokens, number: String = "+15550000001"
  ) async throws -> AuthTokens {
    let started = try await world.engine.startMfaEnrollment(
      StartMfaEnrollmentRequest(idToken: tokens.idToken, factor: .phone(number: number)), context: world.context)
    guard case .phone(let session) = started else { throw AuthServiceError(.internalError, "not a phone") }
    return try await world.engine.finalizeMfaEnrollment(
      FinalizeMfaEnrollmentRequest(
        idToken: tokens.idToken, proof: .phone(sessionInfo: session, code: try world.textedCode(session))),
      context: world.context)
  }

  private func finish(
    _ world: World, _ pending: PendingSecondFactor, _ proof: FinalizeMfaSignInRequest.Proof
  ) async throws -> AuthTokens {
    try await world.engine.finalizeMfaSignIn(
      FinalizeMfaSignInRequest(mfaPendingCredential: pending.mfaPendingCredential, proof: proof),
      context: world.context)
  }

  @Test func `an authenticator app is asked for after the password`() async throws {
    let world = World()
    let first = try await world.verifiedAccount()
    world.pass(seconds: 1)
    let enrolled = try await enrollTotp(world, first)
    let claims = try world.claims(enrolled)["firebase"]?.object
    #expect(claims?["sign_in_second_factor"] == "totp" && claims?["second_factor_identifier"] != nil)
    #expect(await refusal { try await world.lookup(first) } == .tokenExpired)
    #expect(await refusal { try await world.refresh(first) } == .tokenExpired)
    world.pass(seconds: 60)
    let signedIn = try await world.signIn()
    let pending = try #require(signedIn.outcome.pending)
    #expect(signedIn.outcome.tokens == nil)
    let factor = try #require(pending.factors.first)
    #expect(factor.factor == .totp && factor.displayName == "app")
    let code = try await totp(world, signedIn.localID).code(at: world.now / 30_000)
    let proof = FinalizeMfaSignInRequest.Proof.totp(mfaEnrollmentID: factor.mfaEnrollmentID, code: code)
    let tokens = try await finish(world, pending, proof)
    #expect(try world.claims(tokens)["firebase"]?.object?["sign_in_second_factor"] == "totp")
    #expect(
      try world.claims(try await world.refresh(tokens).tokens)["firebase"]?.object?["sign_in_second_factor"] == "totp")
    // Neither the credential nor the code work again.
    #expect(await refusal { try await finish(world, pending, proof) } == .invalidMfaPendingCredential)
    let again = try #require(try await world.signIn().outcome.pending)
    #expect(await refusal { try await finish(world, again, proof) } == .invalidCode)
  }

  @Test func `a phone is asked for after the password`() async throws {
    let world = World()
    let first = try await world.verifiedAccount()
    _ = try await enrollPhone(world, first)
    let pending = try #require(try await world.signIn().outcome.pending)
    let factor = try #require(pending.factors.first)
    #expect(factor.factor == .phone(number: "+*******0001"))
    let started = try await world.engine.startMfaSignIn(
      StartMfaSignInRequest(
        mfaPendingCredential: pending.mfaPendingCredential, mfaEnrollmentID: factor.mfaEnrollmentID),
      context: world.context)
    let code = try world.textedCode(started.sessionInfo)
    let wrong = code == "000000" ? "000001" : "000000"
    #expect(
      await refusal { try await finish(world, pending, .phone(sessionInfo: started.sessionInfo, code: wrong)) }
        == .invalidCode)
    let tokens = try await finish(world, pending, .phone(sessionInfo: started.sessionInfo, code: code))
    #expect(try world.claims(tokens)["firebase"]?.object?["sign_in_second_factor"] == "phone")
  }

  @Test func `wrong codes end the pending sign-in and then the guessing`() async throws {
    let world = World {
      $0.verificationAttempts = 3
      $0.accountGuesses = RateLimit(burst: 8, refillInterval: .milliseconds(60_000))
    }
    _ = try await enrollTotp(world, try await world.verifiedAccount())
    for _ in 0..<2 {
      let pending = try #require(try await world.signIn().outcome.pending)
      let id = try #require(pending.factors.first).mfaEnrollmentID
      for _ in 0..<3 {
        #expect(
          await refusal { try await finish(world, pending, .totp(mfaEnrollmentID: id, code: "x")) } == .invalidCode)
      }
      #expect(
        await refusal { try await finish(world, pending, .totp(mfaEnrollmentID: id, code: "x")) }
          == .invalidMfaPendingCredential)
    }
    let pending = try #require(try await world.signIn().outcome.pending)
    let id = try #require(pending.factors.first).mfaEnrollmentID
    for expected in [AuthServiceError.Code.invalidCode, .invalidCode, .tooManyAttempts] {
      #expect(await refusal { try await finish(world, pending, .totp(mfaEnrollmentID: id, code: "x")) } == expected)
    }
  }

  @Test func `only some accounts may have second factors`() async throws {
    let world = World()
    let start = { (tokens: AuthTokens) in
      try await world.engine.startMfaEnrollment(
        StartMfaEnrollmentRequest(idToken: tokens.idToken, factor: .phone(number: "bad")), context: world.context)
    }
    let anonymous = try await world.engine.signUp(SignUpRequest(), context: world.context).tokens
    #expect(await refusal { try await start(anonymous) } == .unsupportedFirstFactor)
    let unverified = try await world.signUp("bob@example.com").tokens
    #expect(await refusal { try await start(unverified) } == .unverifiedEmail)
    let tokens = try await world.verifiedAccount()
    #expect(await refusal { try await start(tokens) } == .invalidPhoneNumber)
    var config = try await world.engine.administration.projectConfig(context: .owner)
    config.signIn.allowsPhoneFactors = false
    try await world.engine.administration.setProjectConfig(config, context: .owner)
    #expect(await refusal { try await start(tokens) } == .operationNotAllowed)
  }

  @Test func `an account has each factor once and five at the most`() async throws {
    let world = World()
    var tokens = try await enrollTotp(world, try await world.verifiedAccount())
    #expect(await refusal { try await enrollTotp(world, tokens) } == .secondFactorExists)
    for index in 0..<4 { tokens = try await enrollPhone(world, tokens, number: "+1555000000\(index)") }
    #expect(await refusal { try await enrollPhone(world, tokens, number: "+15550000000") } == .secondFactorExists)
    #expect(
      await refusal { try await enrollPhone(world, tokens, number: "+15550000009") } == .secondFactorLimitExceeded)
  }

  @Test func `a factor can be withdrawn`() async throws {
    let world = World()
    let tokens = try await enrollTotp(world, try await world.verifiedAccount())
    let id = try #require(try await world.lookup(tokens).mfaInfo.first).mfaEnrollmentID
    let withdraw = { (id: String) in
      try await world.engine.withdrawMfaEnrollment(
        WithdrawMfaEnrollmentRequest(idToken: tokens.idToken, mfaEnrollmentID: id), context: world.context)
    }
    #expect(await refusal { try await withdraw("") } == .missingMfaEnrollmentID)
    #expect(await refusal { try await withdraw("other") } == .mfaEnrollmentNotFound)
    let left = try await withdraw(id)
    #expect(try world.claims(left)["firebase"]?.object?["sign_in_second_factor"] == nil)
    #expect(try await world.lookup(left).mfaInfo.isEmpty)
    #expect(try await world.signIn().outcome.tokens != nil)
  }

  @Test func `a pending sign-in expires`() async throws {
    let world = World()
    _ = try await enrollTotp(world, try await world.verifiedAccount())
    let signedIn = try await world.signIn()
    let pending = try #require(signedIn.outcome.pending)
    world.pass(seconds: 900)
    let code = try await totp(world, signedIn.localID).code(at: world.now / 30_000)
    let proof = FinalizeMfaSignInRequest.Proof.totp(
      mfaEnrollmentID: try #require(pending.factors.first).mfaEnrollmentID, code: code)
    #expect(await refusal { try await finish(world, pending, proof) } == .invalidMfaPendingCredential)
  }

  @Test func `what is missing is named`() async throws {
    let world = World()
    let start = { (credential: String, id: String) in
      try await world.engine.startMfaSignIn(
        StartMfaSignInRequest(mfaPendingCredential: credential, mfaEnrollmentID: id), context: world.context)
    }
    #expect(await refusal { try await start("", "") } == .missingMfaPendingCredential)
    #expect(await refusal { try await start("x", "") } == .missingMfaEnrollmentID)
    #expect(await refusal { try await start("x", "y") } == .invalidMfaPendingCredential)
    let request = FinalizeMfaSignInRequest(mfaPendingCredential: "", proof: .totp(mfaEnrollmentID: "", code: ""))
    #expect(
      await refusal { try await world.engine.finalizeMfaSignIn(request, context: world.context) } == .missingCredential)
  }

  @Test func `a phone of the first factor and second factors exclude one another`() async throws {
    let world = World()
    _ = try await enrollTotp(world, try await world.verifiedAccount())
    let signedIn = try await world.signIn()
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: signedIn.localID, phoneNumber: "+15550000007"), context: .owner)
    #expect(
      await refusal {
        try await world.engine.sendVerificationCode(
          SendVerificationCodeRequest(phoneNumber: "+15550000007"), context: world.context)
      } == .unsupportedFirstFactor)
  }
}
