import FirebaseAuth
import FirebaseCore
import Foundation
import Testing
import VestaAuthBackend

@Suite(.serialized) struct AuthCodesProgramTests {
  @Test func `a program with e-mail links and codes runs as it is`() async throws {
    try await withApp("codes") { app in
      let auth = Auth.auth(app: app)
      let model = AccountModel(auth: auth)
      // Nothing is sent: the embedded engine keeps the codes for developers.
      let admin = try app.container.require((any AuthAdminBackend).self)
      func last() async throws -> SentOobCode { try #require(try await admin.sentOobCodes(context: .owner).last) }

      #expect(await answer { model.sendLink("link@example.com", $0) } == nil)
      let link = try await last().oobLink
      #expect(await answer { model.signIn("link@example.com", link: link, $0) } == true)
      #expect(await answer { model.signIn("link@example.com", link: "http://localhost/other", $0) } == nil)
      let found1 = try await model.sessions()
      #expect(found1 == 1)
      #expect(await answer { model.addPassword("link@example.com", "secret-1", $0) } == ["password"])
      #expect(model.profile() == ["password": "link@example.com"])

      #expect(await answer { model.forgotPassword("link@example.com", $0) } == nil)
      let reset = try await last().oobCode
      #expect(await answer { model.resetPassword(reset, to: "secret-2", $0) } == "link@example.com")
      #expect(await answer { model.resetPassword(reset, to: "secret-3", $0) } == nil)
      #expect(await model.wrong("link@example.com", "secret-1") == "no such user or password")
      #expect(await model.wrong("no address", "secret-1") == "ERROR_INVALID_EMAIL")
      #expect(await model.wrong("link@example.com", "secret-2") == "signed in")
      let (provider, isAdmin) = await answer { done in model.claims { done(($0, $1)) } }
      #expect(provider == "password" && !isAdmin)

      _ = try await auth.createUser(withEmail: "new@example.com", password: "secret-4")
      #expect(await answer { model.verifyAddress($0) } == nil)
      let code = try await last().oobCode
      let (operation, isVerified) = await answer { done in model.apply(code) { done(($0, $1)) } }
      #expect(operation == .verifyEmail && isVerified)
      model.fireAndForget()
      #expect(await answer { model.removePassword($0) } == 0)
    }
  }
}
