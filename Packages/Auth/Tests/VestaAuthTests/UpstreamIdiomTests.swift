import Foundation
import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaConcurrency
import VestaCredentialInterop
import VestaTesting

@testable import VestaAuth

/// Idioms that code for Firebase's SDK relies on.
@Suite struct UpstreamIdiomTests {
  @Test func `an empty password is a wrong one, and an empty new one is weak`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    #expect(await code { try await test.auth.signIn(withEmail: "ada@example.com", password: "") } == .wrongPassword)
    #expect(await code { try await test.auth.createUser(withEmail: "b@x.com", password: "") } == .weakPassword)
    #expect(await code { try await user.updatePassword(to: "") } == .weakPassword)
  }

  @Test func `a weak password says in the usual place what it lacks`() {
    let cause = AuthServiceError(.weakPassword, "Password should be at least 6 characters")
    let error = AuthErrorTable.error(for: cause) as NSError
    #expect(error.userInfo[NSLocalizedFailureReasonErrorKey] as? String == cause.detail)
    #expect(error.localizedFailureReason == cause.detail)
    let other = AuthErrorTable.error(for: AuthServiceError(.invalidEmail, "x")) as NSError
    #expect(other.userInfo[NSLocalizedFailureReasonErrorKey] == nil)
  }

  @Test func `a phone number is changed with a new credential`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let provider = PhoneAuthProvider.provider(auth: test.auth)
    try await user.link(with: provider.credential(withVerificationID: "+15550000001", verificationCode: "123456"))
    let new = provider.credential(withVerificationID: "+15550000002", verificationCode: "123456")
    #expect(await code { try await user.link(with: new) } == .providerAlreadyLinked)
    try await user.updatePhoneNumber(new)
    #expect(user.phoneNumber == "+15550000002")
    test.backend.state.withLock { $0.phoneInUse = true }
    #expect(await code { try await user.updatePhoneNumber(new) } == .credentialAlreadyInUse)
    let log = Log<AuthErrorCode?>()
    user.updatePhoneNumber(new) { error in log.add((error as? AuthError)?.code) }
    #expect(await log.wait(for: 1) == [.credentialAlreadyInUse])
  }

  @Test func `the language of the device is taken on request`() throws {
    let test = try TestAuth()
    #expect(test.auth.languageCode == nil)
    test.auth.useAppLanguage()
    #expect(test.auth.languageCode == Locale.preferredLanguages.first)
  }

  @Test func `a user of a custom token is not anonymous`() async throws {
    let test = try TestAuth()
    #expect(try await test.auth.signIn(withCustomToken: "bob").user.isAnonymous == false)
  }

  // MARK: Secrets

  @Test func `no mirror shows a secret`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let secrets = ["hunter22", "the-code", "the-token", "the-nonce", user.refreshToken ?? "?"]
    let link = "https://example.com/?mode=signIn&oobCode=the-code&apiKey=k"
    let google = OAuthProvider.credential(
      providerID: .google, idToken: "the-token", rawNonce: "the-nonce", accessToken: "the-token")
    let phone = PhoneAuthProvider.provider(auth: test.auth)
      .credential(withVerificationID: "the-code", verificationCode: "the-code")
    let store = MemoryCredentialStore()
    try store.save(Array("the-token".utf8), for: "key")
    let result = AuthDataResult(user: user, additionalUserInfo: nil, credential: google)
    let values: [Any] = [
      EmailAuthProvider.credential(withEmail: "a@b.c", password: "hunter22"),
      EmailAuthProvider.credential(withEmail: "a@b.c", link: link), google, phone, user, test.auth, result,
      try #require(ActionCodeURL(link: link)), PhoneMultiFactorGenerator.assertion(with: phone),
      TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: "x", oneTimePassword: "the-code"), store,
      try await user.getIDTokenResult(), try await user.multiFactor.session(),
      TOTPSecret(TotpSecret(sharedSecretKey: "the-token", sessionInfo: "the-code", finalizeEnrollmentTime: 0)),
    ]
    for value in values {
      var text = ""
      dump(value, to: &text)
      for secret in secrets { #expect(!text.contains(secret), "\(type(of: value)) shows \(secret)") }
      #expect(!text.contains(try await user.getIDToken()), "\(type(of: value)) shows the ID token")
    }
  }
}

/// Each completion form does what its async form does: the same call of the backend, and its outcome.
@Suite struct CompletionTests {
  struct Form: Sendable, CustomTestStringConvertible {
    let name: String
    let call: String
    let start: @Sendable (TestAuth, User, @escaping @Sendable (Any?, (any Error)?) -> Void) -> Void
    var testDescription: String { name }

    init(
      _ name: String, _ call: String,
      _ start: @escaping @Sendable (TestAuth, User, @escaping @Sendable (Any?, (any Error)?) -> Void) -> Void
    ) {
      (self.name, self.call, self.start) = (name, call, start)
    }
  }

  private static var phone: @Sendable (TestAuth) -> PhoneAuthCredential {
    {
      PhoneAuthProvider.provider(auth: $0.auth)
        .credential(withVerificationID: "+15550000001", verificationCode: "123456")
    }
  }

  private static var google: AuthCredential {
    OAuthProvider.credential(providerID: .google, idToken: "google-user", rawNonce: "")
  }

  private static let link = "https://example.com/?mode=signIn&oobCode=good&apiKey=k"

  static let forms: [Form] = [
    Form("signIn(withEmail:password:)", "signInWithPassword") { test, _, done in
      test.auth.signIn(withEmail: "ada@example.com", password: "secret1") { done($0, $1) }
    },
    Form("createUser", "signUp") { test, _, done in
      test.auth.createUser(withEmail: "new@example.com", password: "secret1") { done($0, $1) }
    },
    Form("signIn(withEmail:link:)", "signInWithEmailLink") { test, _, done in
      test.auth.signIn(withEmail: "ada@example.com", link: link) { done($0, $1) }
    },
    Form("signIn(with:)", "signInWithIdp") { test, _, done in test.auth.signIn(with: google) { done($0, $1) } },
    Form("signInAnonymously", "signUp") { test, _, done in test.auth.signInAnonymously { done($0, $1) } },
    Form("signIn(withCustomToken:)", "signInWithCustomToken") { test, _, done in
      test.auth.signIn(withCustomToken: "bob") { done($0, $1) }
    },
    Form("sendPasswordReset(withEmail:)", "sendOobCode") { test, _, done in
      test.auth.sendPasswordReset(withEmail: "ada@example.com") { done(nil, $0) }
    },
    Form("sendPasswordReset(withEmail:actionCodeSettings:)", "sendOobCode") { test, _, done in
      test.auth.sendPasswordReset(withEmail: "ada@example.com", actionCodeSettings: nil) { done(nil, $0) }
    },
    Form("confirmPasswordReset", "resetPassword") { test, _, done in
      test.auth.confirmPasswordReset(withCode: "reset", newPassword: "secret2") { done(nil, $0) }
    },
    Form("verifyPasswordResetCode", "resetPassword") { test, _, done in
      test.auth.verifyPasswordResetCode("reset") { done($0, $1) }
    },
    Form("checkActionCode", "resetPassword") { test, _, done in
      test.auth.checkActionCode("reset") { done($0, $1) }
    },
    Form("applyActionCode", "update") { test, _, done in test.auth.applyActionCode("good") { done(nil, $0) } },
    Form("sendSignInLink", "sendOobCode") { test, _, done in
      let settings = ActionCodeSettings()
      settings.handleCodeInApp = true
      test.auth.sendSignInLink(toEmail: "ada@example.com", actionCodeSettings: settings) { done(nil, $0) }
    },
    Form("fetchSignInMethods", "createAuthURI") { test, _, done in
      test.auth.fetchSignInMethods(forEmail: "ada@example.com") { done($0, $1) }
    },
    Form("revokeToken", "revokeToken") { test, _, done in
      test.auth.revokeToken(withAuthorizationCode: "code") { done(nil, $0) }
    },
    Form("link", "signInWithIdp") { _, user, done in user.link(with: google) { done($0, $1) } },
    Form("unlink", "update") { _, user, done in user.unlink(fromProvider: "password") { done($0, $1) } },
    Form("updatePhoneNumber", "signInWithPhoneNumber") { test, user, done in
      user.updatePhoneNumber(phone(test)) { done(nil, $0) }
    },
    Form("reauthenticate", "signInWithPassword") { _, user, done in
      let credential = EmailAuthProvider.credential(withEmail: "ada@example.com", password: "secret1")
      user.reauthenticate(with: credential) { done($0, $1) }
    },
    Form("updatePassword", "update") { _, user, done in user.updatePassword(to: "secret2") { done(nil, $0) } },
    Form("updateEmail", "update") { _, user, done in user.updateEmail(to: "new@example.com") { done(nil, $0) } },
    Form("reload", "lookup") { _, user, done in user.reload { done(nil, $0) } },
    Form("sendEmailVerification", "sendOobCode") { _, user, done in user.sendEmailVerification { done(nil, $0) } },
    Form("sendEmailVerification(beforeUpdatingEmail:)", "sendOobCode") { _, user, done in
      user.sendEmailVerification(beforeUpdatingEmail: "new@example.com") { done(nil, $0) }
    },
    Form("delete", "delete") { _, user, done in user.delete { done(nil, $0) } },
    Form("getIDTokenForcingRefresh", "refresh") { _, user, done in
      user.getIDTokenForcingRefresh(true) { done($0, $1) }
    },
    Form("getIDTokenResult", "refresh") { _, user, done in
      user.getIDTokenResult(forcingRefresh: true) { done($0, $1) }
    },
    Form("commitChanges", "update") { _, user, done in
      let request = user.createProfileChangeRequest()
      request.displayName = "Ada"
      request.commitChanges { done(nil, $0) }
    },
    Form("multiFactor.enroll", "finalizeMfaEnrollment") { test, user, done in
      let assertion = PhoneMultiFactorGenerator.assertion(with: phone(test))
      user.multiFactor.enroll(with: assertion, displayName: nil) { done(nil, $0) }
    },
    Form("multiFactor.unenroll", "withdrawMfaEnrollment") { test, user, done in
      test.backend.change(user.uid) { $0.mfaInfo = [MfaEnrollment(mfaEnrollmentID: "factor", factor: .totp)] }
      user.multiFactor.unenroll(withFactorUID: "factor") { done(nil, $0) }
    },
    Form("verifyPhoneNumber", "sendVerificationCode") { test, _, done in
      PhoneAuthProvider.provider(auth: test.auth).verifyPhoneNumber("+15550000001") { done($0, $1) }
    },
  ]

  @Test(arguments: forms, [false, true])
  func `a completion form does what its async form does`(form: Form, fails: Bool) async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.state.withLock {
      $0.codes["reset"] = ResetPasswordResponse(requestType: .passwordReset, email: "ada@example.com")
    }
    if fails { test.backend.fail(form.call, with: .unavailable) }
    let before = test.backend.count(of: form.call)
    let log = Log<AuthErrorCode?>()
    form.start(test, user) { _, error in
      #expect(TestAuth.isOnCallbackQueue)
      log.add((error as? AuthError)?.code)
    }
    #expect(await log.wait(for: 1) == [fails ? .networkError : nil])
    #expect(test.backend.count(of: form.call) > before, "nothing was asked of the backend")
  }
}
