import ListenerInterop
import IdentityInterop
import AuthInterop
import Foundation
import Testing
import VestaConcurrency

@testable import VestaAuth

/// Everything at the same moment, for Thread Sanitizer above all.
@Suite struct AuthStressTests {
  @Test func sixtyFourThreadsCallEverythingWhileUsersComeAndGo() async throws {
    let seed = UInt64.random(in: 1...UInt64.max)
    let test = try TestAuth()
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
            var random = SeededGenerator(seed: seed &+ UInt64(thread))
            for _ in 0..<200 {
              Self.callSomething(test, &random) { calls.withLock { $0 += 1 } }
            }
          }
        }
      }
    }
    // Whatever is still under way may end, one way or another.
    let last = try await test.auth.signIn(withCustomToken: "last")
    test.backend.fail("refresh", with: nil)
    #expect(last.user.uid == "last", "seed \(seed)")
    await test.auth.appWillBeDeleted(test.app)
    for reader in readers { await reader.value }
    #expect(test.auth.userChanges.count == 0 && test.auth.tokenChanges.count == 0, "seed \(seed)")
    #expect(heard.withLock { $0 } > 0 && calls.withLock { $0 } > 0, "seed \(seed)")
  }

  private static func callSomething(
    _ test: TestAuth, _ random: inout SeededGenerator, _ done: @escaping @Sendable () -> Void
  ) {
    let auth = test.auth
    let email = "user\(Int.random(in: 0..<4, using: &random))@example.com"
    switch Int.random(in: 0..<24, using: &random) {
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
    default: _ = try? auth.loadCurrentUser()
    }
  }
}
