import Foundation
import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaCore
import VestaTesting

@testable import VestaAuth

/// Every asynchronous member ends its wait when its task is cancelled, changes nothing, and leaves everything usable.
@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
  /// A member, and the call of the backend in which it is cancelled.
  struct Member: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let call: String
    let run: @Sendable (Auth) async throws -> Void

    init(_ name: String, in call: String, _ run: @escaping @Sendable (Auth) async throws -> Void) {
      (testDescription, self.call, self.run) = (name, call, run)
    }
  }

  private static func user(_ auth: Auth) throws -> User { try #require(auth.currentUser) }
  private static let settings: ActionCodeSettings = {
    let settings = ActionCodeSettings()
    settings.url = URL(string: "https://example.com")
    settings.handleCodeInApp = true
    return settings
  }()
  private static func code(_ auth: Auth) -> PhoneAuthCredential {
    PhoneAuthProvider.provider(auth: auth).credential(withVerificationID: "+49", verificationCode: "123456")
  }
  private static let google = OAuthProvider.credential(providerID: .google, accessToken: "token")
  private static let password = EmailAuthProvider.credential(withEmail: "ada@example.com", password: "secret1")

  private static let members: [Member] = [
    Member("signIn(withEmail:password:)", in: "signInWithPassword") {
      try await $0.signIn(withEmail: "bob@example.com", password: "secret1")
    },
    Member("createUser", in: "signUp") { try await $0.createUser(withEmail: "new@example.com", password: "secret1") },
    Member("signInAnonymously", in: "signUp") {
      try $0.signOut()
      try await $0.signInAnonymously()
    },
    Member("signIn(withCustomToken:)", in: "signInWithCustomToken") { try await $0.signIn(withCustomToken: "token") },
    Member("signIn(with:) by password", in: "signInWithPassword") { try await $0.signIn(with: password) },
    Member("signIn(with:) by provider", in: "signInWithIdp") { try await $0.signIn(with: google) },
    Member("signIn(with:) by phone", in: "signInWithPhoneNumber") { try await $0.signIn(with: code($0)) },
    Member("verifyPhoneNumber", in: "sendVerificationCode") {
      _ = try await PhoneAuthProvider.provider(auth: $0).verifyPhoneNumber("+49")
    },
    Member("sendPasswordReset", in: "sendOobCode") { try await $0.sendPasswordReset(withEmail: "ada@example.com") },
    Member("sendSignInLink", in: "sendOobCode") {
      try await $0.sendSignInLink(toEmail: "ada@example.com", actionCodeSettings: settings)
    },
    Member("fetchSignInMethods", in: "createAuthURI") {
      _ = try await $0.fetchSignInMethods(forEmail: "ada@example.com")
    },
    Member("confirmPasswordReset", in: "resetPassword") {
      try await $0.confirmPasswordReset(withCode: "code", newPassword: "secret2")
    },
    Member("verifyPasswordResetCode", in: "resetPassword") { _ = try await $0.verifyPasswordResetCode("code") },
    Member("checkActionCode", in: "resetPassword") { _ = try await $0.checkActionCode("code") },
    Member("applyActionCode", in: "update") { try await $0.applyActionCode("code") },
    Member("revokeToken", in: "revokeToken") { try await $0.revokeToken(withAuthorizationCode: "code") },
    Member("getToken", in: "refresh") { _ = try await $0.getToken(forcingRefresh: true) },
    Member("getIDToken", in: "refresh") { _ = try await user($0).getIDToken(forcingRefresh: true) },
    Member("idTokenForcingRefresh", in: "refresh") { _ = try await user($0).idTokenForcingRefresh(true) },
    Member("getIDTokenResult", in: "refresh") { _ = try await user($0).getIDTokenResult(forcingRefresh: true) },
    Member("reload", in: "lookup") { try await user($0).reload() },
    Member("updatePassword", in: "update") { try await user($0).updatePassword(to: "secret2") },
    Member("updateEmail", in: "update") { try await user($0).updateEmail(to: "other@example.com") },
    Member("sendEmailVerification", in: "sendOobCode") { try await user($0).sendEmailVerification() },
    Member("sendEmailVerification(beforeUpdatingEmail:)", in: "sendOobCode") {
      try await user($0).sendEmailVerification(beforeUpdatingEmail: "other@example.com")
    },
    Member("commitChanges", in: "update") {
      let request = try user($0).createProfileChangeRequest()
      request.displayName = "Other"
      try await request.commitChanges()
    },
    Member("link", in: "signInWithIdp") { try await user($0).link(with: google) },
    Member("updatePhoneNumber", in: "signInWithPhoneNumber") { try await user($0).updatePhoneNumber(code($0)) },
    Member("unlink", in: "update") { _ = try await user($0).unlink(fromProvider: "password") },
    Member("reauthenticate", in: "signInWithPassword") { try await user($0).reauthenticate(with: password) },
    Member("delete", in: "delete") { try await user($0).delete() },
    Member("TOTPMultiFactorGenerator.generateSecret", in: "startMfaEnrollment") {
      let session = try await user($0).multiFactor.session()
      _ = try await TOTPMultiFactorGenerator.generateSecret(with: session)
    },
  ]

  @Test(arguments: members)
  func `a member that is cancelled ends at once and changes nothing`(_ member: Member) async throws {
    let test = try TestAuth()
    test.backend.addAccount("bob@example.com")
    let user = try await test.signIn()
    let (uid, name, email) = (user.uid, user.displayName, user.email)
    let isAnonymous = member.testDescription == "signInAnonymously"
    test.backend.hold(member.call)
    let count = test.backend.count(of: member.call)
    let task = Task { try await member.run(test.auth) }
    await test.backend.arrival(of: member.call, count: count + 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    test.backend.release(member.call)
    await test.settle()
    #expect(test.auth.currentUser?.uid == (isAnonymous ? nil : uid))
    // The account is what it was, and everything continues.
    let again = try await test.auth.signIn(withEmail: "ada@example.com", password: "secret1").user
    #expect(again.uid == uid && again.displayName == name && again.email == email)
    #expect(try await !again.getIDToken(forcingRefresh: true).isEmpty)
    try await again.reload()
    await test.app.delete()
  }

  @Test(arguments: members)
  func `a member of a task that is cancelled already calls no backend`(_ member: Member) async throws {
    let test = try TestAuth()
    test.backend.addAccount("bob@example.com")
    try await test.signIn()
    let count = test.backend.count(of: member.call)
    let (ready, error) = (Gate(), Log<String>())
    let task = Task {
      await ready.wait()
      do { try await member.run(test.auth) } catch let caught { error.add("\(type(of: caught))") }
    }
    task.cancel()
    ready.open()
    await task.value
    #expect(error.entries == ["CancellationError"])
    // A call that arrives at a backend with a task that is cancelled is refused there.
    #expect(test.backend.count(of: member.call) <= count + 1)
    await test.app.delete()
  }
}
