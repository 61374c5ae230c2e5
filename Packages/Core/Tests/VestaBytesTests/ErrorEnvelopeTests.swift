import Testing
import VestaBytes

@Suite struct ErrorEnvelopeTests {
  @Test func `errors are read from all forms that services write`() {
    func read(_ json: String) -> ErrorEnvelope? { ErrorEnvelope(json: Array(json.utf8)) }
    #expect(
      read(#"{"error":{"code":404,"message":"m","status":"NOT_FOUND","details":[{"@type":"t"}]}}"#)
        == ErrorEnvelope(code: 404, message: "m", status: "NOT_FOUND", details: [["@type": "t"]]))
    #expect(read(#"{"error":{"errors":[{"reason":"notFound"}],"x":1}}"#)?.reason == "notFound")
    #expect(read(#"{"error":"Permission denied"}"#) == ErrorEnvelope(code: nil, message: "Permission denied"))
    for json in ["", "{}", "[]", #"{"error":null}"#, #"{"error":[]}"#, "<html>"] { #expect(read(json) == nil) }
  }

  @Test func `errors survive a round trip`() throws {
    let errors = [
      ErrorEnvelope(code: 400, message: "EMAIL_EXISTS", reason: "invalid"),
      ErrorEnvelope(code: 503, message: "", status: "UNAVAILABLE", details: [["a": 1], .null]),
      ErrorEnvelope(code: nil, message: "x"),
    ]
    for error in errors { #expect(try ErrorEnvelope(json: error.object.json()) == error) }
  }
}
