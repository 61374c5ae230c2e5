import Dispatch
import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaConcurrency
import VestaCore
import VestaTesting

@testable import VestaAuth

/// The executor on which an app's code continues after a call of Auth: its own, whether the call succeeds or fails.
@Suite struct ExecutorTests {
  struct Operation: Sendable, CustomTestStringConvertible {
    let name: String
    /// The call of the backend that fails, for the failure.
    let fails: String
    let code: AuthServiceError.Code
    let body: nonisolated(nonsending) @Sendable (TestAuth, User) async throws -> Void
    var testDescription: String { name }

    init(
      _ name: String, _ fails: String, _ code: AuthServiceError.Code = .unavailable,
      _ body: nonisolated(nonsending) @escaping @Sendable (TestAuth, User) async throws -> Void
    ) {
      (self.name, self.fails, self.code, self.body) = (name, fails, code, body)
    }
  }

  /// Every public asynchronous method that throws.
  static let operations: [Operation] = [
    Operation("signIn(withEmail:password:)", "signInWithPassword") { test, _ in
      _ = try await test.auth.signIn(withEmail: "ada@example.com", password: "secret1")
    },
    Operation("createUser", "signUp") { test, _ in
      _ = try await test.auth.createUser(withEmail: "new@example.com", password: "secret1")
    },
    Operation("signIn(withEmail:link:)", "signInWithEmailLink") { test, _ in
      _ = try await test.auth.signIn(withEmail: "ada@example.com", link: link)
    },
    Operation("signIn(with:)", "signInWithIdp") { test, _ in
      _ = try await test.auth.signIn(with: google)
    },
    Operation("signInAnonymously", "signUp") { test, _ in _ = try await test.auth.signInAnonymously() },
    Operation("signIn(withCustomToken:)", "signInWithCustomToken") { test, _ in
      _ = try await test.auth.signIn(withCustomToken: "bob")
    },
    Operation("updateCurrentUser", "", .unavailable) { test, user in
      try await test.auth.updateCurrentUser(test.backend.isFailing ? nil : user)
    },
    Operation("sendPasswordReset", "sendOobCode") { test, _ in
      try await test.auth.sendPasswordReset(withEmail: "ada@example.com")
    },
    Operation("confirmPasswordReset", "resetPassword") { test, _ in
      try await test.auth.confirmPasswordReset(withCode: "reset", newPassword: "secret2")
    },
    Operation("verifyPasswordResetCode", "resetPassword") { test, _ in
      _ = try await test.auth.verifyPasswordResetCode("reset")
    },
    Operation("checkActionCode", "resetPassword") { test, _ in _ = try await test.auth.checkActionCode("reset") },
    Operation("applyActionCode", "update") { test, _ in try await test.auth.applyActionCode("good") },
    Operation("sendSignInLink", "sendOobCode") { test, _ in
      let settings = ActionCodeSettings()
      settings.handleCodeInApp = true
      try await test.auth.sendSignInLink(toEmail: "ada@example.com", actionCodeSettings: settings)
    },
    Operation("fetchSignInMethods", "createAuthURI") { test, _ in
      _ = try await test.auth.fetchSignInMethods(forEmail: "ada@example.com")
    },
    Operation("revokeToken", "revokeToken") { test, _ in
      try await test.auth.revokeToken(withAuthorizationCode: "code")
    },
    Operation("getToken", "refresh") { test, _ in _ = try await test.auth.getToken(forcingRefresh: true) },
    Operation("link", "signInWithIdp") { _, user in _ = try await user.link(with: google) },
    Operation("unlink", "update") { _, user in _ = try await user.unlink(fromProvider: "password") },
    Operation("reauthenticate", "signInWithPassword") { _, user in
      _ = try await user.reauthenticate(
        with: EmailAuthProvider.credential(withEmail: "ada@example.com", password: "secret1"))
    },
    Operation("updatePassword", "update") { _, user in try await user.updatePassword(to: "secret2") },
    Operation("updateEmail", "update") { _, user in try await user.updateEmail(to: "new@example.com") },
    Operation("reload", "lookup") { _, user in try await user.reload() },
    Operation("sendEmailVerification", "sendOobCode") { _, user in try await user.sendEmailVerification() },
    Operation("sendEmailVerification(beforeUpdatingEmail:)", "sendOobCode") { _, user in
      try await user.sendEmailVerification(beforeUpdatingEmail: "new@example.com")
    },
    Operation("delete", "delete") { _, user in try await user.delete() },
    Operation("getIDToken", "refresh") { _, user in _ = try await user.getIDToken(forcingRefresh: true) },
    Operation("idTokenForcingRefresh", "refresh") { _, user in _ = try await user.idTokenForcingRefresh(true) },
    Operation("getIDTokenResult", "refresh") { _, user in _ = try await user.getIDTokenResult(forcingRefresh: true) },
    Operation("commitChanges", "update") { _, user in
      let request = user.createProfileChangeRequest()
      request.displayName = "Ada"
      try await request.commitChanges()
    },
    Operation("multiFactor.session", "refresh") { test, user in
      test.clock.advance(by: 3400)
      _ = try await user.multiFactor.session()
    },
    Operation("multiFactor.enroll", "finalizeMfaEnrollment") { test, user in
      let credential = PhoneAuthProvider.provider(auth: test.auth)
        .credential(withVerificationID: "+15550000001", verificationCode: "123456")
      try await user.multiFactor.enroll(
        with: PhoneMultiFactorGenerator.assertion(with: credential), displayName: nil)
    },
    Operation("multiFactor.unenroll", "withdrawMfaEnrollment") { test, user in
      test.backend.change(user.uid) {
        $0.mfaInfo = [MfaEnrollment(mfaEnrollmentID: "factor", factor: .totp)]
      }
      try await user.multiFactor.unenroll(withFactorUID: "factor")
    },
    Operation("generateSecret", "startMfaEnrollment") { _, user in
      _ = try await TOTPMultiFactorGenerator.generateSecret(with: try await user.multiFactor.session())
    },
    Operation("verifyPhoneNumber", "sendVerificationCode") { test, _ in
      _ = try await PhoneAuthProvider.provider(auth: test.auth).verifyPhoneNumber("+15550000001")
    },
    Operation("verifyPhoneNumber(multiFactorSession:)", "startMfaEnrollment") { test, user in
      _ = try await PhoneAuthProvider.provider(auth: test.auth).verifyPhoneNumber(
        "+15550000001", multiFactorSession: try await user.multiFactor.session())
    },
    Operation("resolveSignIn", "finalizeMfaSignIn") { test, _ in
      test.backend.addAccount(
        "mfa@example.com", factors: [MfaEnrollment(mfaEnrollmentID: "totp", factor: .totp)])
      do {
        _ = try await test.auth.signIn(withEmail: "mfa@example.com", password: "secret1")
      } catch {
        guard let resolver = (error as? AuthError)?.resolver else { throw error }
        _ = try await resolver.resolveSignIn(
          with: TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: "totp", oneTimePassword: "123456"))
      }
    },
  ]

  private static let link = "https://example.com/?mode=signIn&oobCode=good&apiKey=k"
  private static var google: AuthCredential {
    OAuthProvider.credential(providerID: .google, idToken: "google-user", rawNonce: "")
  }

  /// An actor of a test's own, on a queue that can be identified.
  private actor Caller {
    let queue = WorkQueue(label: "caller")
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// Whether the code after the call is where the code before it was; the first is whether it threw.
    func isKept(_ operation: Operation, _ test: TestAuth, _ user: User) async -> (threw: Bool, kept: Bool) {
      do {
        try await operation.body(test, user)
        return (false, isHere)
      } catch {
        return (true, isHere)
      }
    }

    private var isHere: Bool { queue.isCurrent && !AuthActor.queue.isCurrent }
  }

  @MainActor
  private static func isKeptOnMain(
    _ operation: Operation, _ test: TestAuth, _ user: User
  ) async -> (threw: Bool, kept: Bool) {
    do {
      try await operation.body(test, user)
      return (false, isMain)
    } catch {
      return (true, isMain)
    }
  }

  @MainActor private static var isMain: Bool {
    // Asked of the queue and not of the thread: a program without a run loop serves the main queue on any thread.
    DispatchQueue.getSpecific(key: mainKey) == true && !AuthActor.queue.isCurrent
  }

  private static let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  private func prepared(_ operation: Operation, fails: Bool) async throws -> (TestAuth, User) {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.state.withLock {
      $0.codes["reset"] = ResetPasswordResponse(requestType: .passwordReset, email: "ada@example.com")
    }
    if fails { test.backend.fail(operation.fails, with: operation.code) }
    return (test, user)
  }

  @Test(arguments: operations, [false, true])
  func `the caller continues on its executor`(operation: Operation, fails: Bool) async throws {
    do {
      let (test, user) = try await prepared(operation, fails: fails)
      let main = await Self.isKeptOnMain(operation, test, user)
      #expect(main.threw == fails && main.kept, "from the main actor: \(main)")
      // A call of Auth that waits for its queue would stop the process from within that queue.
      _ = test.auth.currentUser
    }
    let (test, user) = try await prepared(operation, fails: fails)
    let own = await Caller().isKept(operation, test, user)
    #expect(own.threw == fails && own.kept, "from an actor: \(own)")
  }

  @Test func `after a failure the handler of an error may ask who is signed in`() async throws {
    let test = try TestAuth()
    let user = try await test.auth.signInAnonymously().user
    try await user.delete()
    do {
      try await user.reload()
      Issue.record("a deleted user was found")
    } catch {
      #expect(test.auth.currentUser == nil)
    }
  }
}
