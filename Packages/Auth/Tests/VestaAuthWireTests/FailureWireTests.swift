import Testing
import VestaAuthBackend
import VestaBytes

@testable import VestaAuthWire

/// Failures of servers in between, and addresses of blocking functions.
@Suite struct FailureWireTests {
  @Test(arguments: [
    (500, AuthServiceError.Code.internalError), (501, .unavailable), (429, .unavailable), (503, .unavailable),
    (499, .internalError), (428, .internalError),
  ])
  func `a status without a body is the service's, or one that passes`(_ status: Int, _ code: AuthServiceError.Code) {
    #expect(AuthErrorWire.error(status: status, body: []).code == code)
  }

  @Test func `a code may have digits, and a sentence is none`() {
    func code(_ message: String) -> String {
      AuthErrorWire.error(status: 400, body: Array(#"{"error":{"code":400,"message":"\#(message)"}}"#.utf8)).code
        .rawValue
    }
    #expect(code("SECOND_FACTOR_2_LOST") == "SECOND_FACTOR_2_LOST")
    #expect(code("Something is wrong.") == "INVALID_ARGUMENT")
  }

  @Test(arguments: [
    ("http://localhost:5001/f", true), ("https://a.example/f", true), ("ftp://a/f", false), ("", false), ("f", false),
  ])
  func `a blocking function has an address of HTTP`(_ url: String, _ isTaken: Bool) throws {
    let object: JSONObject = ["triggers": ["beforeCreate": ["functionUri": .string(url)]]]
    #expect(BlockingFunctionsWire.settings(object)?.beforeCreate == (isTaken ? url : nil))
    #expect((BlockingFunctionsWire.settings(object) != nil) == isTaken)
  }

  @Test func `the token of a question is valid for ten minutes from its time on`() throws {
    let question = BlockingQuestion(
      event: .beforeSignIn, url: "https://a.example/f", project: "p", user: AuthUser(localID: "ada"),
      signInMethod: "password")
    let body = try JSONObject(json: BlockingFunctionsWire.body(of: question, id: "e", now: 1_700_000_000))
    let parts = body["data"]?.object?["jwt"]?.string?.split(separator: ".", omittingEmptySubsequences: false) ?? []
    #expect(parts.count == 3 && parts.last == "")
    let claims = try JSONObject(json: Base64.url.decode(String(try #require(parts.dropFirst().first))))
    #expect(claims["iat"] == 1_700_000_000 && claims["exp"] == 1_700_000_600)
    #expect(claims["iss"] == "https://securetoken.google.com/p" && claims["aud"] == "https://a.example/f")
    #expect(claims["event_id"] == "e" && claims["event_type"] == "beforeSignIn" && claims["sub"] == "ada")
  }
}
