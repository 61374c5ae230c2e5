import Dispatch
import Foundation
import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaAuthInterop
import VestaConcurrency
import VestaCore
import VestaCredentialInterop
import VestaTesting

@testable import VestaAuth

@Suite struct ThreadingTests {
  @Test func `completion handlers are called on the callback queue and not on the work queue`() async throws {
    let test = try TestAuth()
    let log = Log<Bool>()
    test.auth.signInAnonymously { result, error in
      log.add(TestAuth.isOnCallbackQueue && !AuthActor.queue.isCurrent && result != nil && error == nil)
    }
    test.auth.signIn(withEmail: "x@example.com", password: "x") { result, error in
      log.add(TestAuth.isOnCallbackQueue && !AuthActor.queue.isCurrent && result == nil && error is AuthError)
    }
    let heard = await log.wait(for: 2)
    #expect(heard == [true, true])
  }

  @Test func `without a callback queue, handlers and listeners are called on the main queue`() async throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [])
    let backend = AuthCaller(backend: ScriptedAuthBackend(), appCheck: nil)
    let auth = Auth(app: app, backend: backend, store: MemoryCredentialStore())
    // Asked of the queue and not of the thread: a program without a run loop serves the main queue on any thread.
    let key = DispatchSpecificKey<String>()
    DispatchQueue.main.setSpecific(key: key, value: "main")
    let log = Log<String?>()
    _ = auth.addStateDidChangeListener { _, _ in log.add(DispatchQueue.getSpecific(key: key)) }
    auth.signInAnonymously { _, _ in log.add(DispatchQueue.getSpecific(key: key)) }
    let heard = await log.wait(for: 3)
    #expect(heard == ["main", "main", "main"])
    await app.delete()
  }

  @Test func `operations begin in the order in which they were started`() async throws {
    let test = try TestAuth()
    let log = Log<Int>()
    for number in 0..<200 {
      CompletionForm.start(on: test.queue, nil as (@Sendable ((any Error)?) -> Void)?) { log.add(number) }
    }
    _ = test.auth.currentUser
    #expect(log.entries == Array(0..<200))
  }

  @Test func `an operation is on the queue when its method returns`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    // Nothing else can start on the queue between the two calls but what was started before.
    user.getIDTokenForcingRefresh(true) { _, _ in }
    try test.auth.signOut()
    await test.backend.arrival(of: "refresh")
    #expect(test.auth.currentUser == nil)
  }

  @Test func `synchronous members may be called from a completion handler`() async throws {
    let test = try TestAuth()
    let log = Log<String?>()
    test.auth.signInAnonymously { result, _ in
      let auth = test.auth
      auth.languageCode = "de"
      _ = (auth.tenantID, auth.settings, auth.currentUser?.providerData, result?.user.multiFactor.enrolledFactors)
      try? auth.signOut()
      auth.signIn(withCustomToken: "ada") { result, _ in log.add(result?.user.uid) }
    }
    let heard = await log.wait(for: 1)
    #expect(heard == ["ada"])
  }

  @Test func `synchronous members may be called while many threads do`() async throws {
    let test = try TestAuth()
    try await test.signIn()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          await onThread {
            for _ in 0..<200 {
              _ = test.auth.currentUser?.displayName
              test.auth.languageCode = "de"
            }
          }
        }
      }
    }
    #expect(test.auth.languageCode == "de")
  }

  @Test func `a backend is called off the work queue`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    _ = try await user.getIDToken(forcingRefresh: true)
    try await user.reload()
    #expect(test.backend.calls.count >= 4 && test.backend.calls.allSatisfy { !$0.observed })
  }

  @Test func `a slow backend holds up no other caller`() async throws {
    let test = try TestAuth()
    test.backend.hold("signUp")
    async let held = test.auth.signInAnonymously()
    await test.backend.arrival(of: "signUp")
    let user = try await test.signIn()
    #expect(test.auth.currentUser === user)
    test.backend.release("signUp")
    let last = try await held.user
    #expect(test.auth.currentUser === last)
  }

  @Test func `a cancelled task gets a cancellation`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    test.backend.hold("refresh")
    test.backend.hold("signUp")
    let refresh = Task { try await user.getIDToken(forcingRefresh: true) }
    let signIn = Task { try await test.auth.signInAnonymously() }
    await test.backend.arrival(of: "refresh")
    await test.backend.arrival(of: "signUp")
    refresh.cancel()
    signIn.cancel()
    await #expect(throws: CancellationError.self) { try await refresh.value }
    await #expect(throws: CancellationError.self) { try await signIn.value }
    #expect(test.auth.currentUser === user)
  }

  @Test func `a user of a deleted app reports the deletion`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    await test.auth.appWillBeDeleted(test.app)
    #expect(test.auth.currentUser == nil && user.email == "ada@example.com")
    let reload = await code { try await user.reload() }
    let signIn = await code { try await test.auth.signInAnonymously() }
    #expect(reload == .internalError && signIn == .internalError)
    #expect(throws: AuthError.self) { try test.auth.signOut() }
    #expect(test.clock.alarms.isEmpty)
  }

  /// Each form with a completion handler gives what its async form gives.
  @Test func `every completion handler is called`() async throws {
    let test = try TestAuth()
    test.backend.state.withLock { $0.codes["reset"] = .init(requestType: .passwordReset, email: "ada@example.com") }
    let (auth, log) = (test.auth, Log<String>())
    let settings = ActionCodeSettings()
    settings.handleCodeInApp = true
    @Sendable func done(_ name: String) -> @Sendable ((any Error)?) -> Void { { log.add("\(name) \($0 == nil)") } }
    @Sendable func got<Value>(_ name: String) -> @Sendable (Value?, (any Error)?) -> Void {
      { log.add("\(name) \($0 != nil && $1 == nil)") }
    }
    let link = "https://x.test/?mode=signIn&oobCode=good"
    auth.createUser(withEmail: "ada@example.com", password: "secret1", completion: got("createUser"))
    _ = await log.wait(for: 1)
    auth.signIn(withEmail: "ada@example.com", password: "secret1", completion: got("password"))
    _ = await log.wait(for: 2)
    let user = try #require(auth.currentUser)
    auth.signIn(withEmail: "ada@example.com", link: link, completion: got("link"))
    auth.signIn(with: GitHubAuthProvider.credential(withToken: "t"), completion: got("credential"))
    auth.signIn(withCustomToken: "grace", completion: got("customToken"))
    auth.signInAnonymously(completion: got("anonymous"))
    auth.updateCurrentUser(user, completion: done("updateCurrentUser"))
    auth.sendPasswordReset(withEmail: "ada@example.com", completion: done("reset"))
    auth.sendPasswordReset(withEmail: "a@b.c", actionCodeSettings: nil, completion: done("reset with settings"))
    auth.confirmPasswordReset(withCode: "reset", newPassword: "x", completion: done("confirm"))
    auth.verifyPasswordResetCode("reset", completion: got("verify"))
    auth.checkActionCode("reset", completion: got("check"))
    auth.applyActionCode("good", completion: done("apply"))
    auth.sendSignInLink(toEmail: "a@b.c", actionCodeSettings: settings, completion: done("sendLink"))
    auth.fetchSignInMethods(forEmail: "a@b.c", completion: got("methods"))
    auth.revokeToken(withAuthorizationCode: "c", completion: done("revoke"))
    auth.getToken(forcingRefresh: false, completion: got("interop token"))
    user.getIDToken(completion: got("token"))
    user.getIDTokenForcingRefresh(true, completion: got("forced token"))
    user.getIDTokenResult(completion: got("token result"))
    user.getIDTokenResult(forcingRefresh: true, completion: got("forced token result"))
    user.reload(completion: done("reload"))
    user.updatePassword(to: "secret1", completion: done("password change"))
    user.updateEmail(to: "ada@example.com", completion: done("address change"))
    user.sendEmailVerification(completion: done("verification"))
    user.sendEmailVerification(beforeUpdatingEmail: "n@b.c", completion: done("verification before"))
    user.createProfileChangeRequest().commitChanges(completion: done("profile"))
    let again = EmailAuthProvider.credential(withEmail: "ada@example.com", password: "secret1")
    user.reauthenticate(with: again, completion: got("reauthenticate"))
    let phone = PhoneAuthProvider.provider(auth: auth)
    phone.verifyPhoneNumber("+49", completion: got("verifyPhoneNumber"))
    user.multiFactor.getSessionWithCompletion(got("session"))
    _ = await log.wait(for: 30)
    user.link(with: TwitterAuthProvider.credential(withToken: "t", secret: "s"), completion: got("link with"))
    _ = await log.wait(for: 31)
    user.unlink(fromProvider: "twitter.com", completion: got("unlink"))
    let session = try await user.multiFactor.session()
    let secret = try await TOTPMultiFactorGenerator.generateSecret(with: session)
    TOTPMultiFactorGenerator.generateSecret(with: session, completion: got("generateSecret"))
    let proof = TOTPMultiFactorGenerator.assertionForEnrollment(with: secret, oneTimePassword: "123456")
    user.multiFactor.enroll(with: proof, displayName: nil, completion: done("enroll"))
    _ = await log.wait(for: 34)
    let error = await #expect(throws: AuthError.self) {
      try await auth.signIn(withEmail: "ada@example.com", password: "secret1")
    }
    let resolver = try #require(error?.resolver)
    let factor = try #require(resolver.hints.first)
    let code = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: factor.uid, oneTimePassword: "123456")
    resolver.resolveSignIn(with: code, completion: got("resolve"))
    let record = FactorRecord(.init(mfaEnrollmentID: "m", factor: .phone(number: "+1")))
    phone.verifyPhoneNumber(
      with: PhoneMultiFactorInfo(record, phoneNumber: "+1"), multiFactorSession: resolver.session,
      completion: got("verifyPhoneNumber with"))
    _ = await log.wait(for: 36)
    user.multiFactor.unenroll(with: factor, completion: done("unenroll"))
    user.multiFactor.unenroll(withFactorUID: "none", completion: { log.add("unenroll by id \($0 is AuthError)") })
    _ = await log.wait(for: 38)
    user.delete(completion: done("delete"))
    let heard = await log.wait(for: 39)
    #expect(heard.filter { !$0.hasSuffix(" true") } == [])
    #expect(Set(heard).count == 39)
  }
}
