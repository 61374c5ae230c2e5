import Testing
import VestaAuthBackend
import VestaServiceInterop

@testable import VestaAuthService

@Suite struct GuessTests {
  @Test func `right digits give their guess back, so that later ones may be wrong as often`() async throws {
    let world = World { $0.digitGuesses = RateLimit(burst: 2, refillInterval: .seconds(86_400)) }
    for _ in 0..<5 { try await world.signInByPhone("+15550100") }
    let sent = try await world.engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: "+15550100"), context: world.context)
    let right = try world.textedCode(sent.sessionInfo)
    let wrong = right == "000000" ? "000001" : "000000"
    func guess(_ code: String) async -> AuthServiceError.Code? {
      await refusal {
        try await world.engine.signInWithPhoneNumber(
          PhoneSignInRequest(proof: .code(sessionInfo: sent.sessionInfo, code: code)), context: world.context)
      }
    }
    #expect(await guess(wrong) == .invalidCode)
    #expect(await guess(wrong) == .invalidCode)
    #expect(await guess(wrong) == .tooManyAttempts)
    #expect(await guess(right) == .tooManyAttempts)
  }

  @Test func `an account asks of a limited number of addresses whether they are taken`() async throws {
    let world = World { $0.codesPerRecipient = RateLimit(burst: 3, refillInterval: .seconds(86_400)) }
    for number in 0..<5 { try await world.signUp("taken\(number)@example.com") }
    let guests = [
      try await world.engine.signUp(SignUpRequest(), context: world.context),
      try await world.engine.signUp(SignUpRequest(), context: world.context),
    ]
    func ask(_ guest: Int, _ email: String) async -> AuthServiceError.Code? {
      await refusal {
        try await world.send(.verifyAndChangeEmail, newEmail: email, idToken: guests[guest].tokens.idToken)
      }
    }
    for number in 0..<3 { #expect(await ask(0, "taken\(number)@example.com") == .emailExists) }
    // From here on both answers are the same.
    #expect(await ask(0, "taken3@example.com") == .tooManyAttempts)
    #expect(await ask(0, "free@example.com") == .tooManyAttempts)
    // Another account has its own number.
    #expect(await ask(1, "taken4@example.com") == .emailExists)
    #expect(await ask(1, "free@example.com") == nil)
    #expect(world.sender.recordedEmails.map(\.recipient) == ["free@example.com"])
  }

  @Test(arguments: ["name", "photo"])
  func `a longer name or picture is refused when the ID token would be too large with it`(_ part: String) async throws {
    let world = World()
    let made = try await world.signUp()
    var refused: AuthServiceError.Code?
    var provider = 0
    while refused == nil {
      provider += 1
      let user = ProviderUserInfo(providerID: "oidc.\(provider)", rawID: String(repeating: "\"", count: 60))
      refused = await refusal {
        try await world.engine.administration.updateUser(
          AdminUpdateRequest(localID: made.localID, linkProvider: user), context: .owner)
      }
    }
    #expect(refused == .invalidArgument)
    let name = String(repeating: "\u{1}", count: Checks.longestName / 6)
    let url = "https://example.com/" + String(repeating: "x", count: Checks.longestURL - 20)
    let request =
      part == "name"
      ? AdminUpdateRequest(localID: made.localID, displayName: name)
      : AdminUpdateRequest(localID: made.localID, photoURL: url)
    #expect(
      await refusal { try await world.engine.administration.updateUser(request, context: .owner) } == .invalidArgument)
  }
}
