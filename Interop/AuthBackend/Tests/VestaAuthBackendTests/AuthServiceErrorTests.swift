import VestaAuthBackend
import Testing

@Suite struct IdentityErrorTests {
  @Test func theWireFormIsReadAndWritten() {
    let error = IdentityError(wireMessage: "WEAK_PASSWORD : Password should be at least 6 characters")
    #expect(error.code == .weakPassword)
    #expect(error.detail == "Password should be at least 6 characters")
    #expect(error.wireMessage == "WEAK_PASSWORD : Password should be at least 6 characters")
    #expect(IdentityError(wireMessage: "EMAIL_EXISTS") == IdentityError(.emailExists))
    #expect(IdentityError(wireMessage: "A:b : c") == IdentityError(.init("A"), "b : c"))
    #expect(IdentityError(wireMessage: "A : ") == IdentityError(.init("A")))
    #expect(IdentityError(wireMessage: "").code.rawValue == "")
  }

  @Test func aCodeMatchesInACatchClause() {
    do {
      throw IdentityError(.emailExists)
    } catch IdentityError.Code.userNotFound {
      Issue.record("matched another code")
    } catch IdentityError.Code.emailExists {
    } catch {
      Issue.record("did not match")
    }
  }

  @Test func messagesNeverShowTheirContent() {
    let messages: [Any] = [
      SignUpRequest(email: "a@b.c", password: "secret"),
      IdentityTokens(idToken: "secret", refreshToken: "secret"),
      SignInOutcome.signedIn(IdentityTokens(idToken: "secret", refreshToken: "secret")),
      PhoneProof.code(sessionInfo: "secret", code: "secret"),
    ]
    var dumped = ""
    dump(messages, to: &dumped)
    #expect(!"\(messages)".contains("secret"))
    #expect(!dumped.contains("secret"))
    #expect("\(messages[0])" == "SignUpRequest")
  }
}
