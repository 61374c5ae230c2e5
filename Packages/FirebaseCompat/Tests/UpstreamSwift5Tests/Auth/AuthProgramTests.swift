import FirebaseAuth
import FirebaseCore
import Foundation
import Testing

@Suite(.serialized) struct AuthProgramTests {
  @Test func `a program with Auth runs as it is`() async throws {
    try await withApp("auth") { app in
      let auth = Auth.auth(app: app)
      let model = SignInModel(auth: auth)
      let (addresses, continuation) = AsyncStream.makeStream(of: String?.self)
      model.watch { continuation.yield($0) }
      var iterator = addresses.makeAsyncIterator()
      #expect(await iterator.next() == .some(nil))

      #expect(await answer { model.signUp("jane@example.com", "secret-1", $0) } != nil)
      #expect(await iterator.next() == "jane@example.com")
      #expect(await answer { model.rename("Jane Q. User", $0) } == "Jane Q. User")
      #expect(await answer { model.changePassword(from: "secret-1", to: "secret-2", $0) } == nil)
      #expect(await answer { model.token($0) } != nil)
      #expect(await answer { model.provider($0) } == "password")
      model.signOut()
      #expect(await iterator.next() == .some(nil))
      #expect(await answer { model.signIn("jane@example.com", "secret-1", $0) } == "wrong password")
      #expect(await answer { model.signIn("jane", "secret-1", $0) } == "invalid address")
      #expect(await answer { model.signIn("jane@example.com", "secret-2", $0) } == "signed in")
      let outcome1 = try await model.modern("jane@example.com", "secret-2")
      #expect(outcome1 == ["password", "already in use"])
      model.stop()
      continuation.finish()
      #expect(await answer { model.remove($0) } == nil)
      #expect(auth.currentUser == nil)
      #expect(await answer { model.upgradeGuest("guest@example.com", "secret-3", $0) })
    }
  }
}

extension Optional where Wrapped == any Error {
  /// Whether there is no error; errors cannot be compared.
  static func == (left: Self, right: _OptionalNilComparisonType) -> Bool {
    if case .none = left { true } else { false }
  }
}
