import Testing
import VestaAuthBackend

@Suite struct AuthServiceErrorTests {
  @Test func `the wire form is read and written`() {
    let error = AuthServiceError(wireMessage: "WEAK_PASSWORD : Password should be at least 6 characters")
    #expect(error.code == .weakPassword)
    #expect(error.detail == "Password should be at least 6 characters")
    #expect(error.wireMessage == "WEAK_PASSWORD : Password should be at least 6 characters")
    #expect(AuthServiceError(wireMessage: "EMAIL_EXISTS") == AuthServiceError(.emailExists))
    #expect(AuthServiceError(wireMessage: "A:b : c") == AuthServiceError(.init("A"), "b : c"))
    #expect(AuthServiceError(wireMessage: "A : ") == AuthServiceError(.init("A")))
    #expect(AuthServiceError(wireMessage: "").code.rawValue == "")
  }

  @Test func `a code matches in a catch clause`() {
    do {
      throw AuthServiceError(.emailExists)
    } catch AuthServiceError.Code.userNotFound {
      Issue.record("matched another code")
    } catch AuthServiceError.Code.emailExists {
    } catch {
      Issue.record("did not match")
    }
  }

  @Test func `messages never show their content`() {
    let messages: [Any] = [
      SignUpRequest(email: "a@b.c", password: "secret"),
      AuthTokens(idToken: "secret", refreshToken: "secret"),
      SignInOutcome.signedIn(AuthTokens(idToken: "secret", refreshToken: "secret")),
      PhoneProof.code(sessionInfo: "secret", code: "secret"),
    ]
    var dumped = ""
    dump(messages, to: &dumped)
    #expect(!"\(messages)".contains("secret"))
    #expect(!dumped.contains("secret"))
    #expect("\(messages[0])" == "SignUpRequest")
  }
}
