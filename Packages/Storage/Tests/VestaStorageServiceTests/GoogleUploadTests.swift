import Testing
import VestaBytes
import VestaTransportInterop

/// Uploads by Google's API, as the emulator of Firebase takes them.
@Suite struct GoogleUploadTests {
  private static let place = "/upload/storage/v1/b/demo.appspot.com/o"

  private let server: EndpointServer

  init() throws { server = try EndpointServer() }

  private func serve() async throws { try await server.listen(server.host(server.engine())) }

  private func send(
    _ target: String, _ fields: HTTPFields, _ body: String
  ) async throws -> (status: Int, body: JSONObject) {
    let answer = try await server.send(.post, target, fields, Array(body.utf8))
    return (answer.status, try JSONObject(json: answer.body))
  }

  private static let parts =
    "--x\r\ncontent-type: application/json\r\n\r\n{\"name\":\"a\"}\r\n"
    + "--x\r\ncontent-type: text/plain\r\n\r\nhello\r\n--x--\r\n"

  @Test func `an object has the metadata that was sent with it, and none that is Firebase's`() async throws {
    try await serve()
    let made = try await send("\(Self.place)?name=a", ["content-type": "text/plain"], "hello").body
    #expect(made["contentType"] == "text/plain" && made["timeStorageClassUpdated"] == made["timeCreated"])
    #expect(made["contentDisposition"] == nil && made["contentEncoding"] == nil)
    let read = try await server.send(.get, "/storage/v1/b/demo.appspot.com/o/a?alt=media")
    #expect(read.fields["content-disposition"] == "attachment; filename*=utf-8''a")
    #expect(read.fields["content-encoding"] == nil)
    let other = try await send("/v0/b/demo.appspot.com/o?name=b", ["content-type": "text/plain"], "hello").body
    #expect(other["contentDisposition"] == "inline; filename*=utf-8''b" && other["contentEncoding"] == "identity")
  }

  @Test(arguments: [nil, "image/png"])
  func `a header says that there are two parts, and another one the type`(type: String?) async throws {
    try await serve()
    var fields: HTTPFields = [
      "x-goog-upload-protocol": "multipart", "content-type": "multipart/related; boundary=x",
    ]
    if let type { fields.append("x-upload-content-type", type) }
    let made = try await send(Self.place, fields, Self.parts)
    #expect(made.status == 200 && made.body["name"] == "a" && made.body["size"] == "5")
    #expect(made.body["contentType"]?.string == type ?? "text/plain")
  }

  @Test func `two parts of another type are refused`() async throws {
    try await serve()
    let refused = try await send(
      "\(Self.place)?name=a", ["x-goog-upload-protocol": "multipart", "content-type": "foo"], Self.parts)
    #expect(refused.status == 400)
    #expect(refused.body["error"]?.object?["message"]?.string?.contains("Bad content type.") == true)
  }
}
