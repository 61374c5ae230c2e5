import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaFirestoreReference
import VestaServiceInterop
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFirestoreEndpoints

/// The handler, without a connection.
@Suite struct EndpointTests {
  private let host: FakeEndpointHost
  private let handler: any HTTPHandler

  init() {
    host = FakeEndpointHost(project: "demo")
    let backend = ReferenceBackend()
    host.add((any FirestoreBackend).self, backend)
    host.add((any FirestoreAdminBackend).self, FakeFirestoreAdmin(backend))
    handler = FirestoreEndpoints().handler(in: host)
  }

  private func send(
    _ method: HTTPMethod, _ target: String, _ body: String = "", to handler: (any HTTPHandler)? = nil,
    fields: HTTPFields = [:]
  ) async throws -> (status: Int, body: JSONValue?, fields: HTTPFields) {
    let request = HTTPRequest(method, target, authority: "h", fields: fields, body: .text(body))
    let response: HTTPResponse
    switch (handler ?? self.handler).reply(to: request) {
    case .response(let made): response = made
    case .task(let work): response = try await work()
    case .webSocket: throw ServiceStatus(.internal, "a socket was opened")
    }
    let bytes = try await response.body.collect(upTo: 1 << 20)
    return (response.status.code, try? JSONValue(json: bytes), response.fields)
  }

  private let root = "/v1/projects/demo/databases/(default)/documents"

  private func write(_ path: String, _ fields: String = "{}") async throws -> Int {
    let name = "projects/demo/databases/(default)/documents/\(path)"
    return try await send(
      .post, "\(root):commit", #"{"writes":[{"update":{"name":"\#(name)","fields":\#(fields)}}]}"#
    ).status
  }

  @Test func `a document that was written over REST can be read`() async throws {
    #expect(try await write("a/b", #"{"x":{"integerValue":"7"}}"#) == 200)
    let got = try await send(.get, "\(root)/a/b")
    #expect(got.status == 200 && got.body?.object?["fields"] == ["x": ["integerValue": "7"]])
    #expect(try await send(.delete, "\(root)/a/b").body == [:])
    let missing = try await send(.get, "\(root)/a/b")
    #expect(missing.status == 404 && missing.body?.object?["error"]?.object?["status"] == "NOT_FOUND")
  }

  @Test func `an error of a call with an array is in an array`() async throws {
    let failed = try await send(.post, "\(root):batchGet", #"{"documents":["x"]}"#)
    #expect(failed.status == 400 && failed.body?.array?.count == 1)
    let other = try await send(.get, "/v1/projects/none/databases/d/documents/a/b")
    #expect(other.status == 404 && other.body?.object?["error"]?.object?["message"] == "There is no project none.")
  }

  @Test func `requests that are for other products are left to them`() {
    let endpoints = FirestoreEndpoints()
    func serves(_ method: HTTPMethod, _ target: String) -> Bool {
      endpoints.serves(HTTPRequestHead(method: method, target: target, fields: [:]))
    }
    #expect(serves(.get, "\(root)/a/b") && serves(.post, "/google.firestore.v1.Firestore/Commit"))
    #expect(serves(.post, "/google.firestore.v1.Firestore/Listen/channel?VER=8"))
    #expect(serves(.delete, "/emulator/v1/projects/p/databases/d/documents"))
    for target in ["/", "/v1/projects/p/messages:send", "/v1/accounts:lookup", "/emulator/v1/projects/p/accounts"] {
      #expect(!serves(.delete, target) && !serves(.post, target))
    }
  }

  @Test func `clearing is for development alone`() async throws {
    for number in 0..<7 { #expect(try await write("a/\(number)/b/c") == 200) }
    let production = FakeEndpointHost(project: "demo", isDevelopment: false)
    let refused = try await send(
      .delete, "/emulator/v1/projects/demo/databases/(default)/documents",
      to: FirestoreEndpoints().handler(in: production))
    #expect(refused.status == 404)
    let cleared = try await send(
      .delete, "/emulator/v1/projects/demo/databases/(default)/documents",
      to: FirestoreEndpoints().handler(in: host))
    #expect(cleared.status == 200 && cleared.body == [:])
    for number in 0..<7 { #expect(try await send(.get, "\(root)/a/\(number)/b/c").status == 404) }
  }

  @Test func `a response beyond the limit is refused, and no memory is the limit`() async throws {
    let text = String(repeating: "y", count: 2_000)
    #expect(try await write("a/b", #"{"x":{"stringValue":"\#(text)"}}"#) == 200)
    var tuning = FirestoreEndpointTuning()
    tuning.responseBytes = 1_000
    let small = FirestoreEndpoints(tuning: tuning).handler(in: host)
    let query = #"{"structuredQuery":{"from":[{"collectionId":"a"}]}}"#
    #expect(try await send(.post, "\(root):runQuery", query, to: small).status == 429)
    #expect(try await send(.post, "\(root):runQuery", query).status == 200)
  }

  @Test func `no channel is opened beyond the limit, or when the server ends`() async throws {
    var tuning = FirestoreEndpointTuning()
    tuning.webChannels = 1
    let small = FirestoreEndpoints(tuning: tuning).handler(in: host)
    let target = "/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=1&database=projects/demo/databases/d"
    let opened = try await send(.post, target, "count=0", to: small)
    #expect(opened.status == 200 && opened.fields.first("x-http-session-id")?.utf8.count == 32)
    #expect(try await send(.post, target, "count=0", to: small).status == 503)
    #expect(try await send(.post, target, "count=0").status == 200)
    host.shutDown()
    #expect(try await send(.post, target, "count=0").status == 503)
  }
}
