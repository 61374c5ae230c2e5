import Testing
import VestaAuthBackend
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

@Suite struct CodeTests {
  private func send(
    _ type: OobRequestType, in world: World, email: String? = "ada@example.com", newEmail: String? = nil,
    idToken: String? = nil, url: String? = nil
  ) async throws -> SendOobCodeResponse {
    let request = SendOobCodeRequest(
      requestType: type, email: email, newEmail: newEmail, idToken: idToken,
      settings: OobLinkSettings(continueURL: url))
    return try await world.engine.sendOobCode(request, context: world.context)
  }

  @Test func `codes expire`() async throws {
    let world = World()
    try await world.signUp()
    _ = try await send(.passwordReset, in: world)
    let code = try world.emailedCode(.passwordReset)
    #expect(code.utf8.count == 54)
    world.pass(seconds: 3600)
    let before = try await world.contents()
    let request = ResetPasswordRequest(oobCode: code, newPassword: "another horse")
    #expect(await refusal { try await world.engine.resetPassword(request, context: world.context) } == .expiredOobCode)
    #expect(try await world.contents() == before)
    try await world.signIn()
  }

  @Test func `expired codes are cleared away by later ones`() async throws {
    let world = World()
    for index in 0..<20 { _ = try await send(.emailSignIn, in: world, email: "user\(index)@example.com") }
    world.pass(seconds: 40 * 86_400)
    for index in 0..<3 { _ = try await send(.emailSignIn, in: world, email: "user\(index)@example.com") }
    let tables = try await world.contents().map { $0.key.first }
    #expect(tables.count { $0 == Keys.Table.ticket.rawValue } == 3)
    #expect(tables.count { $0 == Keys.Table.ticketExpiry.rawValue } == 3)
  }

  @Test func `whether an address has an account is hidden`() async throws {
    let world = World()
    try await world.signUp()
    #expect(try await send(.passwordReset, in: world, email: "nobody@example.com").email == "nobody@example.com")
    #expect(world.sender.recordedEmails.isEmpty)
    let asked = try await world.engine.createAuthURI(
      CreateAuthURIRequest(identifier: "ada@example.com"), context: world.context)
    #expect(asked.isRegistered == nil && asked.allProviders.isEmpty && asked.sessionID.utf8.count == 27)
  }

  @Test func `a project may say which ways to sign in there are`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    try await world.signUp()
    #expect(await refusal { try await send(.passwordReset, in: world, email: "nobody@example.com") } == .emailNotFound)
    _ = try await world.engine.administration.createUser(CreateUserRequest(localID: "bob"), context: .owner)
    let google = ProviderUserInfo(providerID: "google.com", rawID: "1", email: "Bob@example.com")
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: "bob", linkProvider: google), context: .owner)
    let ada = try await world.engine.createAuthURI(
      CreateAuthURIRequest(identifier: "ada@example.com"), context: world.context)
    #expect(ada.isRegistered == true && ada.signInMethods == ["password"])
    let bob = try await world.engine.createAuthURI(
      CreateAuthURIRequest(identifier: "bob@example.com"), context: world.context)
    #expect(bob.isRegistered == true && bob.signInMethods == ["google.com"])
  }

  @Test func `an address is verified and changed and the change taken back`() async throws {
    let world = World()
    let tokens = try await world.verifiedAccount()
    _ = try await send(.verifyAndChangeEmail, in: world, newEmail: "New@example.com", idToken: tokens.idToken)
    let code = try world.emailedCode(.verifyAndChangeEmail, to: "new@example.com")
    world.pass(seconds: 1)
    let changed = try await world.engine.update(UpdateRequest(oobCode: code), context: world.context)
    #expect(changed.email == "new@example.com" && changed.newEmail == "new@example.com" && changed.emailVerified)
    #expect(await refusal { try await world.lookup(tokens) } == .tokenExpired)
    #expect(await refusal { try await world.signIn() } == .invalidLoginCredentials)
    try await world.signIn("new@example.com")
    let recovery = try world.emailedCode(.recoverEmail)
    let recovered = try await world.engine.update(UpdateRequest(oobCode: recovery), context: world.context)
    #expect(recovered.email == "ada@example.com")
    // A thief of the password changed the address: the owner sets a new one.
    #expect(await refusal { try await world.signIn() } == .invalidLoginCredentials)
    try await world.send(.passwordReset)
    try await world.reset(try world.emailedCode(.passwordReset), "another horse")
    try await world.signIn("ada@example.com", "another horse")
  }

  /// The lifetimes of codes in seconds.
  private static let lifetimes: [(OobRequestType, Int64)] = [
    (.passwordReset, 3_600), (.emailSignIn, 21_600), (.verifyEmail, 259_200), (.verifyAndChangeEmail, 259_200),
    (.recoverEmail, 2_592_000),
  ]

  @Test(arguments: lifetimes)
  func `a code works until its lifetime is over`(type: OobRequestType, lifetime: Int64) async throws {
    for isOver in [false, true] {
      let world = World()
      let tokens = type == .recoverEmail ? try await world.verifiedAccount() : try await world.signUp().tokens
      if type == .recoverEmail {
        _ = try await send(.verifyAndChangeEmail, in: world, newEmail: "new@example.com", idToken: tokens.idToken)
        let code = try world.emailedCode(.verifyAndChangeEmail, to: "new@example.com")
        _ = try await world.engine.update(UpdateRequest(oobCode: code), context: world.context)
      } else {
        let isChange = type == .verifyAndChangeEmail, needsToken = isChange || type == .verifyEmail
        _ = try await send(
          type, in: world, newEmail: isChange ? "new@example.com" : nil, idToken: needsToken ? tokens.idToken : nil)
      }
      let code =
        type == .verifyAndChangeEmail
        ? try world.emailedCode(type, to: "new@example.com") : try world.emailedCode(type)
      world.pass(seconds: isOver ? lifetime + 1 : lifetime - 1)
      let request = ResetPasswordRequest(oobCode: code)
      let refusal = await refusal { try await world.engine.resetPassword(request, context: world.context) }
      #expect(refusal == (isOver ? .expiredOobCode : nil), "\(type)")
    }
  }

  @Test func `a code is used up also where it is refused`() async throws {
    let world = World()
    let tokens = try await world.signUp().tokens
    _ = try await send(.verifyAndChangeEmail, in: world, newEmail: "new@example.com", idToken: tokens.idToken)
    try await world.signUp("new@example.com")
    let request = UpdateRequest(oobCode: try world.emailedCode(.verifyAndChangeEmail, to: "new@example.com"))
    #expect(await refusal { try await world.engine.update(request, context: world.context) } == .emailExists)
    #expect(await refusal { try await world.engine.update(request, context: world.context) } == .invalidOobCode)
  }

  @Test func `a code for an address that was changed since verifies nothing`() async throws {
    let world = World()
    let made = try await world.signUp()
    _ = try await send(.verifyEmail, in: world, idToken: made.tokens.idToken)
    let code = try world.emailedCode(.verifyEmail)
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: made.localID, email: "new@example.com"), context: .owner)
    #expect(
      await refusal { try await world.engine.update(UpdateRequest(oobCode: code), context: world.context) }
        == .invalidOobCode)
    let users = try await world.engine.administration.getUsers(
      GetUsersRequest(localIDs: [made.localID]), context: .owner)
    #expect(users.users.first?.emailVerified == false)
  }

  @Test func `a mailbox takes an unverified account over without its password`() async throws {
    let world = World()
    let made = try await world.signUp()
    _ = try await send(.emailSignIn, in: world)
    let request = EmailLinkSignInRequest(email: "ada@example.com", oobCode: try world.emailedCode(.emailSignIn))
    let signedIn = try await world.engine.signInWithEmailLink(request, context: world.context)
    #expect(!signedIn.isNewUser && signedIn.localID == made.localID)
    #expect(await refusal { try await world.signIn() } == .invalidLoginCredentials)
    #expect(await refusal { try await world.refresh(made.tokens) } == .tokenExpired)
  }

  @Test func `a reset takes providers away`() async throws {
    let world = World()
    let made = try await world.signUp()
    let google = ProviderUserInfo(providerID: "google.com", rawID: "1")
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: made.localID, linkProvider: google), context: .owner)
    _ = try await send(.passwordReset, in: world)
    let request = ResetPasswordRequest(oobCode: try world.emailedCode(.passwordReset), newPassword: "another horse")
    _ = try await world.engine.resetPassword(request, context: world.context)
    let tokens = try #require(try await world.signIn("ada@example.com", "another horse").outcome.tokens)
    let user = try await world.lookup(tokens)
    #expect(user.emailVerified && user.providerUserInfo.map(\.providerID) == ["password"])
  }

  @Test func `links lead to allowed pages only`() async throws {
    let world = World()
    try await world.signUp()
    for url in ["nowhere", "/path", "localhost/path", ""] {
      #expect(await refusal { try await send(.passwordReset, in: world, url: url) } == .invalidContinueURI)
    }
    #expect(
      await refusal { try await send(.passwordReset, in: world, url: "https://evil.example/") } == .unauthorizedDomain)
    _ = try await send(.passwordReset, in: world, url: "http://localhost/done?a=b&c=d")
    let link = try #require(world.sender.recordedEmails.last).link
    #expect(link.hasPrefix("http://localhost/__/auth/action?mode=resetPassword&lang=en&oobCode="))
    #expect(link.hasSuffix("&continueUrl=http%3A%2F%2Flocalhost%2Fdone%3Fa%3Db%26c%3Dd"))
  }

  @Test func `a phone's code ends after some wrong ones`() async throws {
    let world = World()
    let sent = try await world.engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: "+15550000001"), context: world.context)
    #expect(sent.sessionInfo.utf8.count == 226)
    let right = try world.textedCode(sent.sessionInfo)
    let wrong = right == "000000" ? "000001" : "000000"
    let request = { PhoneSignInRequest(proof: .code(sessionInfo: sent.sessionInfo, code: $0)) }
    for _ in 0..<5 {
      #expect(
        await refusal { try await world.engine.signInWithPhoneNumber(request(wrong), context: world.context) }
          == .invalidCode)
    }
    #expect(
      await refusal { try await world.engine.signInWithPhoneNumber(request(right), context: world.context) }
        == .invalidSessionInfo)
  }

  @Test func `a phone's code expires`() async throws {
    let world = World()
    let sent = try await world.engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: "+15550000001"), context: world.context)
    world.pass(seconds: 900)
    let proof = PhoneProof.code(sessionInfo: sent.sessionInfo, code: try world.textedCode(sent.sessionInfo))
    #expect(
      await refusal {
        try await world.engine.signInWithPhoneNumber(PhoneSignInRequest(proof: proof), context: world.context)
      } == .sessionExpired)
  }

  @Test func `codes to one mailbox are limited`() async throws {
    let world = World { $0.codesPerRecipient = RateLimit(burst: 2, refillInterval: .milliseconds(60_000)) }
    for _ in 0..<2 { _ = try await send(.passwordReset, in: world) }
    #expect(await refusal { try await send(.passwordReset, in: world) } == .resetPasswordExceedLimit)
    _ = try await send(.passwordReset, in: world, email: "bob@example.com")
    world.pass(seconds: 60)
    _ = try await send(.passwordReset, in: world)
  }

  @Test func `developers see the codes that can still be used`() async throws {
    let world = World()
    try await world.signUp()
    _ = try await send(.passwordReset, in: world)
    _ = try await send(.emailSignIn, in: world)
    let sent = try await world.engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: "+15550000001"), context: world.context)
    #expect(
      try await world.engine.administration.sentOobCodes(context: .owner).map(\.requestType) == [
        .passwordReset, .emailSignIn,
      ])
    let texts = try await world.engine.administration.sentVerificationCodes(context: .owner)
    #expect(texts.map(\.sessionInfo) == [sent.sessionInfo])
    let request = EmailLinkSignInRequest(email: "ada@example.com", oobCode: try world.emailedCode(.emailSignIn))
    _ = try await world.engine.signInWithEmailLink(request, context: world.context)
    #expect(try await world.engine.administration.sentOobCodes(context: .owner).map(\.requestType) == [.passwordReset])
  }

  @Test func `an administrator gets a link instead of a message`() async throws {
    let world = World()
    let made = try await world.signUp()
    let request = SendOobCodeRequest(requestType: .verifyEmail, email: "ada@example.com")
    let link = try await world.engine.administration.createOobLink(request, context: .owner)
    #expect(link.oobLink.contains(link.oobCode) && world.sender.recordedEmails.isEmpty)
    let verified = try await world.engine.update(UpdateRequest(oobCode: link.oobCode), context: world.context)
    #expect(verified.emailVerified && verified.localID == made.localID)
    let unknown = SendOobCodeRequest(requestType: .passwordReset, email: "nobody@example.com")
    #expect(
      await refusal { try await world.engine.administration.createOobLink(unknown, context: .owner) } == .emailNotFound)
  }
}
