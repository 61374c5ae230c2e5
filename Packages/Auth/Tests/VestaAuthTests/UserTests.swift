import Foundation
import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaConcurrency
import VestaServiceInterop
import VestaTesting

@testable import VestaAuth

@Suite struct UserTests {
  // MARK: Tokens

  @Test func `a token is kept until five minutes before its end`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let first = try await user.getIDToken()
    test.clock.advance(by: 3299)
    let second = try await user.getIDToken()
    #expect(first == second && test.backend.count(of: "refresh") == 0)
    test.backend.hold("refresh")
    test.clock.advance(by: 2)
    test.backend.release("refresh")
    let third = try await user.getIDToken()
    #expect(third != first)
  }

  @Test func `a thousand forced refreshes make one call`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let old = try await user.getIDToken()
    test.backend.hold("refresh")
    let log = Log<String?>()
    for _ in 0..<1000 { user.getIDTokenForcingRefresh(true) { token, _ in log.add(token) } }
    // All of them have been on the queue once this has been: they wait for the one call, which is still held.
    _ = test.auth.currentUser
    await test.backend.arrival(of: "refresh")
    test.backend.release("refresh")
    let tokens = Set(await log.wait(for: 1000))
    #expect(test.backend.count(of: "refresh") == 1)
    #expect(tokens.count == 1 && tokens.first != old && tokens.first != .some(nil))
  }

  @Test func `a failed refresh is not remembered and signs no user out`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let token = try await user.getIDToken()
    test.backend.fail("refresh", with: .unavailable)
    let failed = await code { _ = try await user.getIDToken(forcingRefresh: true) }
    #expect(failed == .networkError && test.auth.currentUser === user)
    let same = try await user.getIDToken()
    #expect(same == token)
    test.backend.fail("refresh", with: nil)
    let new = try await user.idTokenForcingRefresh(true)
    #expect(new != token)
  }

  @Test(arguments: [
    (AuthServiceError.Code.userNotFound, AuthErrorCode.userNotFound), (.tokenExpired, .userTokenExpired),
    (.userDisabled, .userDisabled), (.invalidRefreshToken, .invalidUserToken),
  ])
  func `a refused user is signed out`(_ name: AuthServiceError.Code, _ expected: AuthErrorCode) async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.fail("refresh", with: name)
    let found = await code { _ = try await user.getIDToken(forcingRefresh: true) }
    #expect(found == expected && test.auth.currentUser == nil)
    #expect(test.clock.alarms.isEmpty)
  }

  @Test func `a refusal in any operation signs out`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.fail("update", with: .weakPassword)
    _ = await code { try await user.updatePassword(to: "x") }
    #expect(test.auth.currentUser === user)
    test.backend.fail("lookup", with: .userDisabled)
    _ = await code { try await user.reload() }
    #expect(test.auth.currentUser == nil)
  }

  @Test func `a refused user who is not the current one signs no user out`() async throws {
    let test = try TestAuth()
    let ada = try await test.signIn("ada@example.com")
    let grace = try await test.signIn("grace@example.com")
    test.backend.fail("lookup", with: .userDisabled)
    _ = await code { try await ada.reload() }
    #expect(test.auth.currentUser === grace)
  }

  @Test func `a refresh that is overtaken does not bring back the old session`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.hold("refresh")
    async let refreshed = user.getIDToken(forcingRefresh: true)
    await test.backend.arrival(of: "refresh")
    await user.adopt(AuthTokens(idToken: "newer", refreshToken: "refresh-newer"))
    test.backend.fail("refresh", with: .tokenExpired)
    test.backend.release("refresh")
    let token = try await refreshed
    #expect(token == "newer" && test.auth.currentUser === user)
  }

  @Test func `a token is refreshed before it is asked for`() async throws {
    let test = try TestAuth()
    try await test.signIn()
    #expect(test.clock.alarms == [test.clock.date + 3300])
    let log = Log<User?>()
    _ = test.auth.addIDTokenDidChangeListener { _, user in log.add(user) }
    test.clock.advance(by: 3300)
    _ = await log.wait(for: 2)
    await test.settle()
    #expect(test.backend.count(of: "refresh") == 1 && test.clock.alarms == [test.clock.date + 3300])
  }

  @Test func `a refresh that failed is tried again`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.fail("refresh", with: .unavailable)
    test.clock.advance(by: 3300)
    await test.backend.arrival(of: "refresh", count: 1)
    while test.clock.alarms != [test.clock.date + 30] { await Task.yield() }
    test.backend.fail("refresh", with: nil)
    test.clock.advance(by: 30)
    await test.backend.arrival(of: "refresh", count: 2)
    while test.clock.alarms != [test.clock.date + 3300] { await Task.yield() }
    #expect(test.auth.currentUser === user)
  }

  @Test func `a token result has the claims of the token`() async throws {
    let test = try TestAuth()
    let result = try await test.signIn().getIDTokenResult()
    #expect(result.signInProvider == "password" && result.signInSecondFactor == "totp")
    #expect(result.issuedAtDate == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(result.expirationDate == Date(timeIntervalSince1970: 1_700_003_600))
    #expect(result.authDate == Date(timeIntervalSince1970: 1_699_999_999))
    #expect(result.claims["admin"] as? Bool == true)
    #expect((result.claims["list"] as? [Any])?.count == 3)
    #expect((result.claims["firebase"] as? [String: Any])?["sign_in_provider"] as? String == "password")
    #expect(result.token == test.backend.last(LookupRequest.self)?.idToken)
  }

  @Test(arguments: ["", "a.b.c", "e30.e30.", "....", "eyJhbGciOiJub25lIn0.e30=."])
  func `what is no token is refused`(_ text: String) {
    let error = #expect(throws: AuthError.self) { try AuthTokenResult(token: text) }
    #expect(error?.code == .malformedJWT)
    #expect(throws: AuthError.self) { try IDToken(text) }
  }

  // MARK: Linking

  @Test func `providers are linked and unlinked`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let github = GitHubAuthProvider.credential(withToken: "t7")
    let result = try await user.link(with: github)
    #expect(result.user === user && user.providerData.map(\.providerID) == ["password", "github.com"])
    let twice = await code { try await user.link(with: github) }
    #expect(twice == .providerAlreadyLinked)
    let same = try await user.unlink(fromProvider: "github.com")
    #expect(same === user && user.providerData.map(\.providerID) == ["password"])
    let missing = await code { _ = try await user.unlink(fromProvider: "github.com") }
    #expect(missing == .noSuchProvider)
  }

  @Test func `every kind of credential can be linked`() async throws {
    let test = try TestAuth()
    let user = try await test.auth.signInAnonymously().user
    let phone = PhoneAuthProvider.provider(auth: test.auth)
    let number = phone.credential(withVerificationID: "+49", verificationCode: "123456")
    try await user.link(with: number)
    #expect(user.phoneNumber == "+49")
    let link = "https://x.test/?mode=signIn&oobCode=good"
    try await user.link(with: EmailAuthProvider.credential(withEmail: "ada@example.com", link: link))
    #expect(user.email == "ada@example.com" && user.isEmailVerified)
    #expect(test.auth.currentUser === user)
  }

  @Test func `a number in use names the way out`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.state.withLock { $0.phoneInUse = true }
    let phone = PhoneAuthProvider.provider(auth: test.auth)
    let credential = phone.credential(withVerificationID: "+49", verificationCode: "123456")
    let error = await #expect(throws: AuthError.self) { try await user.link(with: credential) }
    #expect(error?.code == .credentialAlreadyInUse)
    let other = try #require(error?.updatedCredential)
    let result = try await test.auth.signIn(with: other)
    #expect(result.user.uid != user.uid && result.user.phoneNumber == "+49")
  }

  @Test func `a provider's user in use names the way out`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.state.withLock {
      $0.idpResponse = IdpSignInResponse(
        providerID: "google.com", federatedID: "7", rawID: "7", pendingToken: "pending",
        errorMessage: "FEDERATED_USER_ID_ALREADY_LINKED")
    }
    let error = await #expect(throws: AuthError.self) {
      try await user.link(with: GoogleAuthProvider.credential(withIDToken: "i", accessToken: "a"))
    }
    #expect(error?.code == .credentialAlreadyInUse)
    #expect((error?.updatedCredential as? OAuthCredential)?.message.pendingToken == "pending")
  }

  @Test func `signing in again takes the user only`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.addAccount("grace@example.com")
    let old = try await user.getIDToken()
    let result = try await user.reauthenticate(
      with: EmailAuthProvider.credential(withEmail: "ada@example.com", password: "secret1"))
    let new = try await user.getIDToken()
    #expect(result.user === user && new != old)
    let other = await code {
      try await user.reauthenticate(
        with: EmailAuthProvider.credential(withEmail: "grace@example.com", password: "secret1"))
    }
    let unknown = await code {
      try await user.reauthenticate(with: EmailAuthProvider.credential(withEmail: "x@example.com", password: "x"))
    }
    #expect(other == .userMismatch && unknown == .userMismatch && test.auth.currentUser === user)
  }

  // MARK: The profile

  @Test func `the profile is changed`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let request = user.createProfileChangeRequest()
    request.displayName = "Ada"
    request.photoURL = URL(string: "https://example.com/ada")
    #expect(request.displayName == "Ada" && user.displayName == nil)
    try await request.commitChanges()
    #expect(user.displayName == "Ada" && user.photoURL == URL(string: "https://example.com/ada"))
    let twice = await code { try await request.commitChanges() }
    #expect(twice == .internalError)
    let removal = user.createProfileChangeRequest()
    removal.displayName = nil
    #expect(removal.photoURL == user.photoURL)
    try await removal.commitChanges()
    #expect(user.displayName == nil && user.photoURL != nil)
    let count = test.backend.count(of: "update")
    try await user.createProfileChangeRequest().commitChanges()
    #expect(test.backend.count(of: "update") == count)
  }

  @Test func `password and address are changed`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let old = try await user.getIDToken()
    try await user.updatePassword(to: "secret2")
    let new = try await user.getIDToken()
    #expect(new != old && test.backend.last(UpdateRequest.self)?.password == "secret2")
    try await user.updateEmail(to: "new@example.com")
    #expect(user.email == "new@example.com")
    let noPassword = await code { try await user.updatePassword(to: "") }
    let noAddress = await code { try await user.updateEmail(to: "") }
    #expect(noPassword == .weakPassword && noAddress == .missingEmail)
  }

  @Test func `what changed elsewhere is seen after a reload`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.change(user.uid) { $0.emailVerified = true }
    #expect(!user.isEmailVerified)
    try await user.reload()
    #expect(user.isEmailVerified)
  }

  @Test func `a deleted user is signed out`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.fail("delete", with: .credentialTooOld)
    let old = await code { try await user.delete() }
    #expect(old == .requiresRecentLogin && test.auth.currentUser === user)
    test.backend.fail("delete", with: nil)
    try await user.delete()
    #expect(test.auth.currentUser == nil)
  }

  // MARK: Second factors

  @Test func `a second factor is added and taken away`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let session = try await user.multiFactor.session()
    let secret = try await TOTPMultiFactorGenerator.generateSecret(with: session)
    #expect(secret.sharedSecretKey() == "SECRET")
    #expect(
      secret.generateQRCodeURL(withAccountName: "ada@example.com", issuer: "A B")
        == "otpauth://totp/A%20B:ada%40example%2Ecom?secret=SECRET&issuer=A%20B&algorithm=SHA1&digits=6&period=30")
    let wrong = TOTPMultiFactorGenerator.assertionForEnrollment(with: secret, oneTimePassword: "000000")
    let refused = await code { try await user.multiFactor.enroll(with: wrong, displayName: nil) }
    #expect(refused == .invalidVerificationCode && user.multiFactor.enrolledFactors.isEmpty)
    let right = TOTPMultiFactorGenerator.assertionForEnrollment(with: secret, oneTimePassword: "123456")
    try await user.multiFactor.enroll(with: right, displayName: "app")
    let phone = PhoneAuthProvider.provider(auth: test.auth)
    let id = try await phone.verifyPhoneNumber("+49", multiFactorSession: session)
    let code = phone.credential(withVerificationID: id, verificationCode: "123456")
    try await user.multiFactor.enroll(with: PhoneMultiFactorGenerator.assertion(with: code), displayName: "phone")
    let factors = user.multiFactor.enrolledFactors
    #expect(factors.map(\.displayName) == ["app", "phone"] && factors.map(\.factorID) == ["totp", "phone"])
    #expect((factors[1] as? PhoneMultiFactorInfo)?.phoneNumber == "+49")
    try await user.multiFactor.unenroll(with: factors[0])
    try await user.multiFactor.unenroll(withFactorUID: factors[1].uid)
    #expect(user.multiFactor.enrolledFactors.isEmpty)
    let gone = await VestaAuthTests.code { try await user.multiFactor.unenroll(with: factors[0]) }
    #expect(gone == .multiFactorInfoNotFound)
  }

  @Test func `a second factor finishes a sign-in`() async throws {
    let test = try TestAuth()
    let factors = [
      MfaEnrollment(mfaEnrollmentID: "m1", factor: .phone(number: "+**34")),
      MfaEnrollment(mfaEnrollmentID: "m2", factor: .totp),
    ]
    let uid = test.backend.addAccount("ada@example.com", factors: factors)
    let error = await #expect(throws: AuthError.self) {
      try await test.auth.signIn(withEmail: "ada@example.com", password: "secret1")
    }
    #expect(error?.code == .secondFactorRequired && test.auth.currentUser == nil)
    let refusal = try #require(error as (any Error)?) as NSError
    let resolver = try #require(refusal.userInfo[AuthErrorUserInfoMultiFactorResolverKey] as? MultiFactorResolver)
    #expect(resolver.auth === test.auth && resolver.hints.map(\.uid) == ["m1", "m2"])
    let wrong = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: "m2", oneTimePassword: "0")
    let refused = await code { try await resolver.resolveSignIn(with: wrong) }
    #expect(refused == .invalidVerificationCode)
    let phone = PhoneAuthProvider.provider(auth: test.auth)
    let hint = try #require(resolver.hints[0] as? PhoneMultiFactorInfo)
    let id = try await phone.verifyPhoneNumber(with: hint, multiFactorSession: resolver.session)
    let credential = phone.credential(withVerificationID: id, verificationCode: "123456")
    let result = try await resolver.resolveSignIn(with: PhoneMultiFactorGenerator.assertion(with: credential))
    #expect(result.user.uid == uid && test.auth.currentUser === result.user)
    let noSession = await code { _ = try await phone.verifyPhoneNumber(with: hint, multiFactorSession: nil) }
    #expect(noSession == .missingMultiFactorSession)
  }

  @Test func `a second factor continues in the tenant in which the sign-in began`() async throws {
    let test = try TestAuth()
    let factor = MfaEnrollment(mfaEnrollmentID: "m", factor: .phone(number: "+**34"))
    test.backend.addAccount("ada@example.com", factors: [factor])
    test.auth.tenantID = "t1"
    let error = await #expect(throws: AuthError.self) {
      try await test.auth.signIn(withEmail: "ada@example.com", password: "secret1")
    }
    let resolver = try #require(error?.resolver)
    test.auth.tenantID = "t2"
    let phone = PhoneAuthProvider.provider(auth: test.auth)
    let hint = try #require(resolver.hints[0] as? PhoneMultiFactorInfo)
    let id = try await phone.verifyPhoneNumber(with: hint, multiFactorSession: resolver.session)
    let credential = phone.credential(withVerificationID: id, verificationCode: "123456")
    try await resolver.resolveSignIn(with: PhoneMultiFactorGenerator.assertion(with: credential))
    #expect(test.backend.calls.map(\.name).contains("finalizeMfaSignIn"))
    for call in test.backend.calls { #expect(call.context.tenantID == "t1", "\(call.name)") }
  }

  @Test func `a second factor of a reauthentication continues in the tenant of the user`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.change(user.uid) { $0.mfaInfo = [MfaEnrollment(mfaEnrollmentID: "m", factor: .totp)] }
    test.auth.tenantID = "t2"
    let before = test.backend.calls.count
    let error = await #expect(throws: AuthError.self) {
      try await user.reauthenticate(
        with: EmailAuthProvider.credential(withEmail: "ada@example.com", password: "secret1"))
    }
    let assertion = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: "m", oneTimePassword: "123456")
    try await #require(error?.resolver).resolveSignIn(with: assertion)
    for call in test.backend.calls.dropFirst(before) { #expect(call.context.tenantID == nil, "\(call.name)") }
  }

  @Test func `an account that is sent with the tokens is not looked up`() async throws {
    let test = try TestAuth()
    test.backend.state.withLock { $0.tellsAccounts = true }
    let user = try await test.signIn()
    #expect(user.email == "ada@example.com" && test.backend.count(of: "lookup") == 0)
    try await user.reload()
    #expect(test.backend.count(of: "lookup") == 1)
  }

  @Test func `a second factor finishes a reauthentication`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.change(user.uid) { $0.mfaInfo = [MfaEnrollment(mfaEnrollmentID: "m", factor: .totp)] }
    let error = await #expect(throws: AuthError.self) {
      try await user.reauthenticate(
        with: EmailAuthProvider.credential(withEmail: "ada@example.com", password: "secret1"))
    }
    let resolver = try #require(error?.resolver)
    let assertion = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: "m", oneTimePassword: "123456")
    let result = try await resolver.resolveSignIn(with: assertion)
    #expect(result.user === user && test.auth.currentUser === user)
  }

  @Test func `sessions and assertions of the other kind are refused`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let enrollment = try await user.multiFactor.session()
    let signIn = MultiFactorSession(.signIn(test.auth, tenantID: nil, pendingCredential: "p"))
    let first = await code { _ = try await TOTPMultiFactorGenerator.generateSecret(with: signIn) }
    let second = await code { _ = try await enrollment.startSignIn(factorUID: "m") }
    let assertion = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: "m", oneTimePassword: "1")
    let third = await code { try await user.multiFactor.enroll(with: assertion, displayName: nil) }
    #expect(first == .invalidMultiFactorSession && second == .invalidMultiFactorSession)
    #expect(third == .missingMultiFactorInfo)
  }

  @Test(arguments: [AuthServiceError.Code.invalidIDToken, .tokenExpired])
  func `an ID token that a wrong clock makes invalid is renewed, and signs no user out`(
    code: AuthServiceError.Code
  ) async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.fail("lookup", with: code)
    test.backend.hold("refresh")
    let reloading = Task { try await user.reload() }
    await test.backend.arrival(of: "refresh")
    test.backend.fail("lookup", with: nil)
    test.backend.release("refresh")
    try await reloading.value
    #expect(test.auth.currentUser === user)
  }

  @Test func `a user whose renewed token is refused as well is signed out`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.fail("lookup", with: .invalidIDToken)
    #expect(await code { try await user.reload() } == .invalidUserToken)
    #expect(test.auth.currentUser == nil)
  }

  @Test func `a backend that gives the same token again is asked again`() async throws {
    let test = try TestAuth()
    test.backend.state.withLock {
      $0.lifetime = 120
      $0.repeatsTokens = true
    }
    try await test.signIn()
    for count in 1...5 {
      while test.clock.alarms.isEmpty { await Task.yield() }
      test.clock.advance(by: 60)
      await test.backend.arrival(of: "refresh", count: count)
    }
  }

  @Test func `tokens that live shorter than the margin are not refreshed without a pause`() {
    let now = Date(timeIntervalSince1970: 1_700_000_000)
    func next(_ lifetime: TimeInterval) -> TimeInterval {
      TokenFreshness.nextRefresh(expiration: now + lifetime, failures: 0, now: now).timeIntervalSince(now)
    }
    #expect([next(3600), next(310), next(300), next(40), next(0), next(-5)] == [3300, 30, 30, 20, 0, 0])
    #expect(TokenFreshness.isDue(expiration: now + 299, now: now))
  }
}
