import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaConcurrency

@testable import VestaAuth

/// Changes that end the other sessions of an account, and this one's old tokens with them, before their answer is here.
@Suite struct TokenChangeTests {
  /// A change, and the call of the backend that makes it.
  struct Change: Sendable, CustomTestStringConvertible {
    var call: String
    var make: @Sendable (User) async throws -> Void
    var testDescription: String { call }
  }

  static let changes = [
    Change(call: "update") { try await $0.updatePassword(to: "another horse") },
    Change(call: "withdrawMfaEnrollment") { try await $0.multiFactor.unenroll(withFactorUID: "factor") },
    Change(call: "signUp") {
      try await $0.link(with: EmailAuthProvider.credential(withEmail: "ada@example.com", password: "a horse"))
    },
  ]

  /// Holds a change until a refresh has been refused, and then releases it.
  ///
  /// - Returns: The ID token from before, and the one that the refresh gave.
  private func refresh(
    _ user: User, _ test: TestAuth, during change: Change, failing failure: AuthServiceError.Code? = nil
  ) async throws -> (old: String, new: String) {
    let old = try await user.getIDToken()
    let earlier = test.backend.count(of: change.call)
    test.backend.hold(change.call)
    let changing = Task { try await change.make(user) }
    await test.backend.arrival(of: change.call, count: earlier + 1)
    test.backend.fail("refresh", with: .tokenExpired)
    let refreshing = Task { try await user.getIDToken(forcingRefresh: true) }
    await test.backend.arrival(of: "refresh")
    await test.settle()
    test.backend.fail(change.call, with: failure)
    test.backend.release(change.call)
    let isChanged = await code { try await changing.value } == nil
    #expect(isChanged == (failure == nil))
    return (old, try await refreshing.value)
  }

  /// Signs a user in who has a second factor and no password, so that all changes are possible.
  private func signIn(_ test: TestAuth) async throws -> User {
    let user = try await test.auth.signInAnonymously().user
    let factor = MfaEnrollment(mfaEnrollmentID: "factor", factor: .totp)
    test.backend.change(user.uid) { $0.mfaInfo = [factor] }
    return user
  }

  @Test(arguments: changes)
  func `a refresh that is refused while a change is under way gives the tokens of the change`(
    _ change: Change
  ) async throws {
    let test = try TestAuth()
    let user = try await signIn(test)
    let tokens = try await refresh(user, test, during: change)
    let current = await user.tokens.idToken
    #expect(tokens.new == current && tokens.new != tokens.old)
    #expect(test.auth.currentUser === user)
  }

  @Test(arguments: changes)
  func `a refresh that is refused while a change fails signs the user out`(_ change: Change) async throws {
    let test = try TestAuth()
    let user = try await signIn(test)
    #expect(
      await code { _ = try await refresh(user, test, during: change, failing: .unavailable) } == .userTokenExpired)
    #expect(test.auth.currentUser == nil)
  }
}
