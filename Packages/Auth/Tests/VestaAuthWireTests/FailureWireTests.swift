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
}
