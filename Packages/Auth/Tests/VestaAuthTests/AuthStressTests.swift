import Foundation
import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaAuthInterop
import VestaConcurrency
import VestaCore
import VestaTesting

@testable import VestaAuth

/// Everything at once, for Thread Sanitizer above all.
@Suite struct AuthStressTests {
  @Test func `64 threads call everything while users sign in and out`() async throws {
    let seed = UInt64.random(in: 1...UInt64.max)
    // So that `useEmulator` agrees with it.
    let test = try TestAuth(options: VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 9099)))
    for number in 0..<4 { test.backend.addAccount("user\(number)@example.com") }
    let heard = Locked(0)
    let calls = Locked(0)
    let readers = (0..<4).map { number in
      Task {
        if number % 2 == 0 {
          for await _ in test.auth.authStateChanges { heard.withLock { $0 += 1 } }
        } else {
          for await _ in test.auth.idTokenChanges { heard.withLock { $0 += 1 } }
        }
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<64 {
        group.addTask {
          await onThread {
            var random = SplitMix(seed: seed &+ UInt64(thread))
            for _ in 0..<500 {
              Self.callSomething(test, &random) { calls.withLock { $0 += 1 } }
            }
          }
        }
      }
    }
    // Calls that are still under way may succeed or fail.
    let last = try await test.auth.signIn(withCustomToken: "last")
    test.backend.fail("refresh", with: nil)
    #expect(last.user.uid == "last", "seed \(seed)")
    await test.auth.appWillBeDeleted(test.app)
    for reader in readers { await reader.value }
    #expect(test.auth.userChanges.count == 0 && test.auth.tokenChanges.count == 0, "seed \(seed)")
    #expect(heard.withLock { $0 } > 0 && calls.withLock { $0 } > 0, "seed \(seed)")
  }

  private static func callSomething(
    _ test: TestAuth, _ random: inout SplitMix, _ done: @escaping @Sendable () -> Void
  ) {
    let auth = test.auth
    let email = "user\(Int.random(in: 0..<4, using: &random))@example.com"
    switch Int.random(in: 0..<36, using: &random) {
    case 0: auth.signIn(withEmail: email, password: "secret1") { _, _ in done() }
    case 1: auth.signInAnonymously { _, _ in done() }
    case 2: auth.signIn(withCustomToken: email) { _, _ in done() }
    case 3: try? auth.signOut()
    case 4: auth.languageCode = email
    case 5: auth.tenantID = nil
    case 6: _ = (auth.languageCode, auth.tenantID, auth.customAuthDomain, auth.getUserID())
    case 7: auth.settings?.isAppVerificationDisabledForTesting.toggle()
    case 8:
      let handle = auth.addStateDidChangeListener { auth, user in _ = (auth.currentUser, user?.email) }
      auth.removeStateDidChangeListener(handle)
    case 9:
      let handle = Locked<(any NSObjectProtocol & Sendable)?>(nil)
      let added = auth.addIDTokenDidChangeListener { auth, _ in
        if let handle = handle.withLock({ $0.take() }) { auth.removeIDTokenDidChangeListener(handle) }
      }
      handle.withLock { $0 = added }
    case 10:
      let registration = auth.addTokenListener { _ in _ = auth.getUserID() }
      registration.cancel()
    case 11: Task { for await _ in auth.authStateChanges { break } }
    case 12: auth.getToken(forcingRefresh: Bool.random(using: &random)) { _, _ in done() }
    case 13: auth.sendPasswordReset(withEmail: email) { _ in done() }
    case 14: auth.updateCurrentUser(auth.currentUser) { _ in done() }
    case 15: auth.currentUser?.getIDTokenForcingRefresh(true) { _, _ in done() }
    case 16: auth.currentUser?.reload { _ in done() }
    case 17:
      let user = auth.currentUser
      _ = (user?.email, user?.displayName, user?.photoURL, user?.isAnonymous, user?.metadata.creationDate)
      _ = (user?.providerData.count, user?.refreshToken, user?.multiFactor.enrolledFactors.count, user?.tenantID)
    case 18:
      guard let request = auth.currentUser?.createProfileChangeRequest() else { return }
      request.displayName = email
      request.commitChanges { _ in done() }
    case 19: auth.currentUser?.link(with: GitHubAuthProvider.credential(withToken: email)) { _, _ in done() }
    case 20: auth.currentUser?.unlink(fromProvider: "github.com") { _, _ in done() }
    case 21: test.backend.fail("refresh", with: Bool.random(using: &random) ? .unavailable : nil)
    case 22: test.clock.advance(by: 600)
    case 23: _ = try? auth.loadCurrentUser()
    case 24..<28: callWithCode(auth, email, &random, done)
    default:
      guard let user = auth.currentUser else { return }
      callOfUser(user, test, email, &random, done)
    }
  }

  /// Calls with codes and links, and the remaining calls of `Auth`.
  private static func callWithCode(
    _ auth: Auth, _ email: String, _ random: inout SplitMix, _ done: @escaping @Sendable () -> Void
  ) {
    let settings = ActionCodeSettings()
    settings.handleCodeInApp = true
    let link = "https://x.test/?mode=signIn&oobCode=good"
    switch Int.random(in: 0..<16, using: &random) {
    case 0: auth.createUser(withEmail: "new." + email, password: "secret1") { _, _ in done() }
    case 1: auth.signIn(withEmail: email, link: link) { _, _ in done() }
    case 2: auth.signIn(with: GitHubAuthProvider.credential(withToken: email)) { _, _ in done() }
    case 3: auth.sendPasswordReset(withEmail: email, actionCodeSettings: settings) { _ in done() }
    case 4: auth.confirmPasswordReset(withCode: "good", newPassword: "secret1") { _ in done() }
    case 5: auth.verifyPasswordResetCode("good") { _, _ in done() }
    case 6: auth.checkActionCode("good") { _, _ in done() }
    case 7: auth.applyActionCode("good") { _ in done() }
    case 8: auth.sendSignInLink(toEmail: email, actionCodeSettings: settings) { _ in done() }
    case 9: auth.fetchSignInMethods(forEmail: email) { _, _ in done() }
    case 10: auth.revokeToken(withAuthorizationCode: "c") { _ in done() }
    case 11: PhoneAuthProvider.provider(auth: auth).verifyPhoneNumber("+49") { _, _ in done() }
    case 12: auth.useEmulator(withHost: "localhost", port: 9099)
    case 13: auth.customAuthDomain = email
    case 14: auth.languageCode = nil
    default: _ = auth.isSignIn(withEmailLink: link)
    }
  }

  /// Calls that change a user or second factors.
  private static func callOfUser(
    _ user: User, _ test: TestAuth, _ email: String, _ random: inout SplitMix,
    _ done: @escaping @Sendable () -> Void
  ) {
    let password = EmailAuthProvider.credential(withEmail: email, password: "secret1")
    switch Int.random(in: 0..<16, using: &random) {
    case 0: user.getIDToken { _, _ in done() }
    case 1: user.getIDTokenResult { _, _ in done() }
    case 2: user.getIDTokenResult(forcingRefresh: true) { _, _ in done() }
    case 3: user.updatePassword(to: "secret1") { _ in done() }
    case 4: user.updateEmail(to: email) { _ in done() }
    case 5: user.sendEmailVerification { _ in done() }
    case 6: user.sendEmailVerification(with: ActionCodeSettings()) { _ in done() }
    case 7: user.sendEmailVerification(beforeUpdatingEmail: email) { _ in done() }
    case 8: user.reauthenticate(with: password) { _, _ in done() }
    case 9: user.link(with: password) { _, _ in done() }
    case 10:
      user.multiFactor.getSessionWithCompletion { session, _ in
        guard let session else { return done() }
        TOTPMultiFactorGenerator.generateSecret(with: session) { secret, _ in
          guard let secret else { return done() }
          let proof = TOTPMultiFactorGenerator.assertionForEnrollment(with: secret, oneTimePassword: "123456")
          user.multiFactor.enroll(with: proof, displayName: email) { _ in done() }
        }
      }
    case 11, 12:
      for factor in user.multiFactor.enrolledFactors { user.multiFactor.unenroll(with: factor) { _ in done() } }
    case 13: user.multiFactor.unenroll(withFactorUID: "factor1") { _ in done() }
    case 14: resolve(test.auth, email, done)
    default:
      // Rarely, so that the others find users.
      if Int.random(in: 0..<20, using: &random) == 0 { user.delete { _ in done() } }
    }
  }

  /// Signs in, with a second factor where the account has one.
  private static func resolve(_ auth: Auth, _ email: String, _ done: @escaping @Sendable () -> Void) {
    auth.signIn(withEmail: email, password: "secret1") { _, error in
      guard let resolver = (error as? AuthError)?.resolver, let hint = resolver.hints.first else { return done() }
      let code = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: hint.uid, oneTimePassword: "123456")
      resolver.resolveSignIn(with: code) { _, _ in done() }
    }
  }
}
