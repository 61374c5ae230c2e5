import Foundation
import Testing
import VestaAppCheckInterop
import VestaAppCheckInteropFakes
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaConcurrency
import VestaCore
import VestaServiceInterop
import VestaTesting

@testable import VestaAuth

@Suite struct SignInTests {
  @Test func `a password signs in`() async throws {
    let test = try TestAuth()
    let uid = test.backend.addAccount("ada@example.com")
    let result = try await test.auth.signIn(withEmail: "ada@example.com", password: "secret1")
    #expect(result.user.uid == uid && result.user === test.auth.currentUser)
    #expect(result.user.email == "ada@example.com" && !result.user.isAnonymous && result.user.providerID == "Firebase")
    #expect(result.user.providerData.map(\.providerID) == ["password"])
    #expect(result.user.metadata.creationDate == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(result.user.refreshToken == "refresh-\(uid)")
    #expect(result.additionalUserInfo?.isNewUser == false)
  }

  @Test func `a wrong password changes nothing`() async throws {
    let test = try TestAuth()
    let ada = try await test.signIn()
    await #expect(throws: AuthError.self) {
      try await test.auth.signIn(withEmail: "ada@example.com", password: "wrong")
    }
    let found = await code { try await test.auth.signIn(withEmail: "grace@example.com", password: "x") }
    #expect(found == .userNotFound)
    #expect(test.auth.currentUser === ada)
  }

  @Test func `a sign-up makes an account`() async throws {
    let test = try TestAuth()
    let result = try await test.auth.createUser(withEmail: "ada@example.com", password: "secret1")
    #expect(result.additionalUserInfo?.isNewUser == true && result.user.email == "ada@example.com")
    let again = await code { try await test.auth.createUser(withEmail: "ada@example.com", password: "secret1") }
    #expect(again == .emailAlreadyInUse)
    let noEmail = await code { try await test.auth.createUser(withEmail: "", password: "secret1") }
    let noPassword = await code { try await test.auth.createUser(withEmail: "a@b.c", password: "") }
    #expect(noEmail == .missingEmail && noPassword == .weakPassword)
    #expect(test.auth.currentUser === result.user)
  }

  @Test func `an anonymous user stays the same`() async throws {
    let test = try TestAuth()
    let first = try await test.auth.signInAnonymously()
    #expect(first.user.isAnonymous && first.additionalUserInfo?.isNewUser == true)
    let second = try await test.auth.signInAnonymously()
    #expect(second.user === first.user && second.additionalUserInfo?.isNewUser == false)
    #expect(test.backend.count(of: "signUp") == 1)
    try await first.user.link(with: EmailAuthProvider.credential(withEmail: "ada@example.com", password: "secret1"))
    #expect(!first.user.isAnonymous && first.user === test.auth.currentUser)
  }

  @Test func `a custom token signs in`() async throws {
    let test = try TestAuth()
    let first = try await test.auth.signIn(withCustomToken: "ada")
    let second = try await test.auth.signIn(withCustomToken: "ada")
    #expect(first.user.uid == "ada" && first.additionalUserInfo?.isNewUser == true)
    #expect(second.additionalUserInfo?.isNewUser == false && test.auth.currentUser === second.user)
  }

  @Test func `a link signs in`() async throws {
    let test = try TestAuth()
    let good = "https://x.test/?mode=signIn&oobCode=good"
    #expect(test.auth.isSignIn(withEmailLink: good))
    #expect(!test.auth.isSignIn(withEmailLink: "https://x.test/?mode=resetPassword&oobCode=good"))
    let result = try await test.auth.signIn(withEmail: "ada@example.com", link: good)
    #expect(result.user.isEmailVerified && result.additionalUserInfo?.isNewUser == true)
    let used = await code {
      try await test.auth.signIn(withEmail: "a@b.c", link: "https://x.test/?mode=signIn&oobCode=used")
    }
    let nonsense = await code { try await test.auth.signIn(withEmail: "a@b.c", link: "nonsense") }
    #expect(used == .invalidActionCode && nonsense == .invalidActionCode)
  }

  @Test func `a provider's credential signs in`() async throws {
    let test = try TestAuth()
    let result = try await test.auth.signIn(with: GitHubAuthProvider.credential(withToken: "t7"))
    #expect(result.credential?.accessToken == "access" && result.additionalUserInfo?.username == "ada")
    #expect(result.additionalUserInfo?.profile?["name"] as? String == "Ada")
    #expect(result.additionalUserInfo?.providerID == "github.com")
    let provider = try #require(result.user.providerData.first)
    #expect(provider.uid == "t7" && provider.displayName == "Ada" && provider.photoURL?.path == "/ada")
    #expect(provider.email == nil && provider.phoneNumber == nil)
  }

  @Test func `an account with the same address names the way to sign in`() async throws {
    let test = try TestAuth()
    test.backend.state.withLock {
      $0.idpResponse = IdpSignInResponse(
        providerID: "google.com", federatedID: "7", rawID: "7", email: "ada@example.com", oauthIDToken: "id",
        needsConfirmation: true)
    }
    let error = await #expect(throws: AuthError.self) {
      try await test.auth.signIn(with: GoogleAuthProvider.credential(withIDToken: "i", accessToken: "a"))
    }
    #expect(error?.code == .accountExistsWithDifferentCredential && error?.email == "ada@example.com")
    #expect((error?.updatedCredential as? OAuthCredential)?.idToken == "id")
    #expect(test.auth.currentUser == nil)
  }

  @Test func `a phone signs in`() async throws {
    let test = try TestAuth()
    let provider = PhoneAuthProvider.provider(auth: test.auth)
    let id = try await provider.verifyPhoneNumber("+491234")
    let wrong = provider.credential(withVerificationID: id, verificationCode: "000000")
    let refused = await code { try await test.auth.signIn(with: wrong) }
    #expect(refused == .invalidVerificationCode)
    let right = provider.credential(withVerificationID: id, verificationCode: "123456")
    let result = try await test.auth.signIn(with: right)
    #expect(result.user.phoneNumber == "+491234" && result.additionalUserInfo?.isNewUser == true)
    let missing = await code { _ = try await provider.verifyPhoneNumber("") }
    #expect(missing == .missingPhoneNumber)
  }

  @Test func `a credential of another maker is refused`() async throws {
    struct Forged: SignInCredential { let provider = "password" }
    let test = try TestAuth()
    let found = await code { try await test.auth.signIn(with: Forged()) }
    #expect(found == .invalidCredential && test.backend.calls.isEmpty)
  }

  @Test func `every call says what the app has set`() async throws {
    let options = VestaOptions()
    options.apiKey = "key"
    let appCheck = FakeAppCheck()
    let token = await appCheck.getToken(forcingRefresh: false).token
    let test = try TestAuth(options: options, appCheck: appCheck)
    test.auth.languageCode = "de"
    test.auth.tenantID = "t1"
    test.auth.customAuthDomain = "auth.test"
    let user = try await test.auth.signInAnonymously().user
    #expect(user.tenantID == "t1" && test.auth.customAuthDomain == "auth.test" && test.auth.languageCode == "de")
    for call in test.backend.calls {
      #expect(call.context.locale == "de" && call.context.tenantID == "t1" && call.context.apiKey == "key")
      #expect(call.context.appCheck == .token(token) && !call.observed)
    }
  }

  @Test func `a user stays in the tenant of the sign-in`() async throws {
    let test = try TestAuth()
    test.auth.tenantID = "t1"
    let user = try await test.auth.signInAnonymously().user
    test.auth.tenantID = "t2"
    try await user.reload()
    _ = try await user.getIDToken(forcingRefresh: true)
    #expect(test.backend.calls.suffix(2).map(\.context.tenantID) == ["t1", "t1"])
  }

  @Test func `settings are copied when set`() throws {
    let test = try TestAuth()
    let settings = AuthSettings()
    test.auth.settings = settings
    settings.isAppVerificationDisabledForTesting = true
    #expect(test.auth.settings?.isAppVerificationDisabledForTesting == false)
    test.auth.settings?.isAppVerificationDisabledForTesting = true
    #expect(test.auth.settings?.isAppVerificationDisabledForTesting == true)
  }

  @Test func `an emulator is where the options say`() async throws {
    let embedded = try TestAuth()
    embedded.auth.useEmulator(withHost: "localhost", port: 9099)
    let error = await #expect(throws: AuthError.self) { try await embedded.auth.signInAnonymously() }
    #expect(error?.message.contains("emulator(host:port:)") == true && embedded.backend.calls.isEmpty)
    let options = VestaOptions()
    options.backend = .emulator(host: "localhost", port: 9099)
    let remote = try TestAuth(options: options)
    remote.auth.useEmulator(withHost: "localhost", port: 9099)
    try await remote.auth.signInAnonymously()
  }

  @Test func `an emulator is reached through a library that connects to it, from the first call on`() async throws {
    let (own, emulated) = (ScriptedAuthBackend(), ScriptedAuthBackend())
    let addresses = Log<String>()
    let connection = EmulatorConnection<any AuthBackend> { origin in
      addresses.add(origin)
      return emulated
    }
    let test = try TestAuth(backend: own, emulators: connection)
    test.auth.useEmulator(withHost: "::1", port: 9099)
    #expect(addresses.entries.isEmpty)
    try await test.auth.signInAnonymously()
    _ = try await test.auth.currentUser?.getIDToken(forcingRefresh: true)
    #expect(addresses.entries == ["http://[::1]:9099"] && own.calls.isEmpty && !emulated.calls.isEmpty)
    test.auth.useEmulator(withHost: "other", port: 1)
    try? test.auth.signOut()
    try await test.auth.signInAnonymously()
    #expect(addresses.entries == ["http://[::1]:9099", "http://other:1"])
  }

  @Test func `the emulator of the app's own backend needs no library, whichever form its address has`() async throws {
    let options = VestaOptions()
    options.backend = .emulators(["auth": "127.0.0.1:9099", "storage": "127.0.0.1:9199"])
    let test = try TestAuth(options: options)
    test.auth.useEmulator(withHost: "127.0.0.1", port: 9099)
    try await test.auth.signInAnonymously()
    try test.auth.signOut()
    test.auth.useEmulator(withHost: "127.0.0.1", port: 9199)
    await #expect(throws: AuthError.self) { try await test.auth.signInAnonymously() }
  }

  // MARK: Codes by e-mail

  @Test func `codes are sent with their settings`() async throws {
    let test = try TestAuth()
    let settings = ActionCodeSettings()
    settings.url = URL(string: "https://x.test/go")
    try await test.auth.sendPasswordReset(withEmail: "ada@example.com", actionCodeSettings: settings)
    #expect(test.backend.last(SendOobCodeRequest.self)?.requestType == .passwordReset)
    #expect(test.backend.last(SendOobCodeRequest.self)?.settings.continueURL == "https://x.test/go")
    let refused = await code {
      try await test.auth.sendSignInLink(toEmail: "ada@example.com", actionCodeSettings: settings)
    }
    #expect(refused == .internalError)
    settings.handleCodeInApp = true
    try await test.auth.sendSignInLink(toEmail: "ada@example.com", actionCodeSettings: settings)
    #expect(test.backend.last(SendOobCodeRequest.self)?.requestType == .emailSignIn)
    let user = try await test.signIn()
    try await user.sendEmailVerification(with: settings)
    #expect(test.backend.last(SendOobCodeRequest.self)?.requestType == .verifyEmail)
    try await user.sendEmailVerification(beforeUpdatingEmail: "new@example.com")
    #expect(test.backend.last(SendOobCodeRequest.self)?.newEmail == "new@example.com")
  }

  @Test func `codes are checked and used`() async throws {
    let test = try TestAuth()
    test.backend.state.withLock {
      $0.codes["reset"] = ResetPasswordResponse(requestType: .passwordReset, email: "ada@example.com")
      $0.codes["change"] = ResetPasswordResponse(requestType: .verifyAndChangeEmail, email: "old@x", newEmail: "new@x")
    }
    let email = try await test.auth.verifyPasswordResetCode("reset")
    #expect(email == "ada@example.com")
    let info = try await test.auth.checkActionCode("change")
    #expect(info.operation == .verifyAndChangeEmail && info.email == "new@x" && info.previousEmail == "old@x")
    let wrongKind = await code { _ = try await test.auth.verifyPasswordResetCode("change") }
    let unknown = await code { _ = try await test.auth.checkActionCode("used") }
    #expect(wrongKind == .invalidActionCode && unknown == .invalidActionCode)
    try await test.auth.confirmPasswordReset(withCode: "reset", newPassword: "secret2")
    #expect(test.backend.last(ResetPasswordRequest.self)?.newPassword == "secret2")
    let empty = await code { try await test.auth.confirmPasswordReset(withCode: "reset", newPassword: "") }
    #expect(empty == .weakPassword)
    try await test.auth.applyActionCode("good")
    let bad = await code { try await test.auth.applyActionCode("bad") }
    #expect(bad == .invalidActionCode)
    let methods = try await test.auth.fetchSignInMethods(forEmail: "ada@example.com")
    #expect(methods == ["password", "emailLink"])
  }

  @Test func `revoking needs a user`() async throws {
    let test = try TestAuth()
    let nobody = await code { try await test.auth.revokeToken(withAuthorizationCode: "c") }
    #expect(nobody == .nullUser)
    try await test.signIn()
    try await test.auth.revokeToken(withAuthorizationCode: "c")
    #expect(test.backend.last(RevokeTokenRequest.self)?.token == "c")
  }

  // MARK: The current user

  @Test func `signing out forgets the user`() async throws {
    let test = try TestAuth()
    try await test.signIn()
    try test.auth.signOut()
    #expect(test.auth.currentUser == nil)
    try test.auth.signOut()
  }

  @Test func `users can be switched`() async throws {
    let test = try TestAuth()
    let ada = try await test.signIn("ada@example.com")
    let grace = try await test.signIn("grace@example.com")
    #expect(test.auth.currentUser === grace)
    try await test.auth.updateCurrentUser(ada)
    #expect(test.auth.currentUser === ada)
    let none = await code { try await test.auth.updateCurrentUser(nil) }
    #expect(none == .nullUser)
    test.auth.tenantID = "t1"
    let tenant = await code { try await test.auth.updateCurrentUser(grace) }
    #expect(tenant == .tenantIDMismatch && test.auth.currentUser === ada)
  }

  @Test func `a user of another app becomes one of this app`() async throws {
    let backend = ScriptedAuthBackend()
    let (one, other) = (try TestAuth(backend: backend), try TestAuth(backend: backend))
    let ada = try await one.signIn()
    try await other.auth.updateCurrentUser(ada)
    let copy = try #require(other.auth.currentUser)
    #expect(copy !== ada && copy.uid == ada.uid && one.auth.currentUser === ada)
    backend.fail("lookup", with: .userDisabled)
    try other.auth.signOut()
    let refused = await code { try await other.auth.updateCurrentUser(ada) }
    #expect(refused == .userDisabled && other.auth.currentUser == nil)
  }
}
