import Testing
import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFunctionsEndpoints
@testable import VestaFunctionsService

/// Requests as clients of others send them.
@Suite(.timeLimit(.minutes(10))) struct EndpointTests {
  private let path = "/project/us-central1/echo"
  private let json: HTTPFields = [.contentType: "application/json; charset=utf-8"]

  @Test func `a call has the bytes of the protocol in both forms of address`() async throws {
    let served = try await Served.onFakeNetwork()
    _ = served.subject()
    for (target, authority) in [(path, "localhost:5001"), ("/echo", "us-central1-project.cloudfunctions.net")] {
      let answer = try await served.answer(.post, target, json, #"{"data":{"a":1}}"#, authority: authority)
      #expect(answer.status == .ok && answer.fields["content-type"] == "application/json; charset=utf-8")
      #expect(try await answer.text() == #"{"result":{"a":1}}"#)
    }
    for (rest, status) in [("/", 200), ("?a=b", 200), ("/x", 400)] {
      #expect(try await served.answer(.post, path + rest, json, #"{"data":1}"#).status.code == status, "\(rest)")
    }
  }

  @Test(arguments: [
    (HTTPMethod.get, "application/json", ""), (.post, "text/plain", #"{"data":1}"#),
    (.post, "application/json", #"{"data":1,"more":2}"#), (.post, "application/json", "{"),
    (.post, "application/json", "[]"),
  ])
  func `what is no call is a bad request`(method: HTTPMethod, type: String, body: String) async throws {
    let served = try await Served.onFakeNetwork()
    _ = served.subject()
    let answer = try await served.answer(method, path, [.contentType: type, .origin: "https://a.example"], body)
    #expect(answer.status == .badRequest && answer.fields["access-control-allow-origin"] == "*")
    #expect(try await answer.text() == #"{"error":{"message":"Bad Request","status":"INVALID_ARGUMENT"}}"#)
  }

  @Test func `a body beyond the limit is refused, of a stream as well`() async throws {
    var tuning = FunctionsEndpointsTuning()
    tuning.bodyLimit = 20
    let served = try await Served.onFakeNetwork(tuning: tuning)
    _ = served.subject()
    let long = #"{"data":"0123456789"}"#
    #expect(try await served.answer(.post, path, json, long).status == .badRequest)
    var fields = json
    fields.append(.accept, "text/event-stream")
    let answer = try await served.answer(.post, path, fields, long)
    #expect(answer.status == .ok)
    #expect(try await answer.text().hasPrefix(#"data: {"error":{"#))
  }

  @Test func `a stream is events alone, without names and comments`() async throws {
    let served = try await Served.onFakeNetwork()
    _ = served.subject()
    var fields = json
    fields.append(.accept, "text/event-stream")
    let answer = try await served.answer(.post, "/project/us-central1/count", fields, #"{"data":2}"#)
    #expect(answer.status == .ok && answer.fields["content-type"] == "text/event-stream")
    #expect(
      try await answer.text() == "data: {\"message\":1}\n\ndata: {\"message\":2}\n\ndata: {\"result\":\"done\"}\n\n")
    let failed = try await served.answer(.post, "/project/us-central1/nobody", fields, #"{"data":2}"#)
    #expect(failed.status == .ok)
    let text = try await failed.text()
    #expect(text.hasPrefix("data: {\"error\":{\"message\":\"There is no function \\\"nobody\\\" in us-central1. "))
    #expect(text.hasSuffix("\"status\":\"NOT_FOUND\"}}\n\n"))
    // Clients that merely accept events among others take one answer.
    fields.set(.accept, "application/json, text/event-stream")
    let plain = try await served.answer(.post, path, fields, #"{"data":2}"#)
    #expect(try await plain.text() == #"{"result":2}"#)
  }

  @Test func `a browser may call from every page, and a token that is not valid is refused`() async throws {
    let served = try await Served.onFakeNetwork()
    _ = served.subject()
    let question: HTTPFields = [
      .origin: "https://a.example", "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,authorization,firebase-instance-id-token",
    ]
    let allowed = try await served.answer(.options, path, question)
    #expect(allowed.status == .noContent && allowed.fields["access-control-allow-origin"] == "*")
    #expect(allowed.fields["access-control-allow-headers"]?.contains("firebase-instance-id-token") == true)
    let fields: HTTPFields = [
      .contentType: "application/json", .authorization: "Bearer a.b.c", .origin: "https://a.example",
    ]
    let refused = try await served.answer(.post, path, fields, #"{"data":1}"#)
    #expect(refused.status.code == 401 && refused.fields["access-control-allow-origin"] == "*")
    #expect(
      try await refused.text() == #"{"error":{"message":"Unauthenticated","status":"UNAUTHENTICATED"}}"#)
  }

  @Test func `a function that answers requests gets what follows its path, and streams`() async throws {
    let served = try await Served.onFakeNetwork()
    served.registry.onRequest("page") { request in
      HTTPResponse(201, fields: ["x-place": "\(request.method) \(request.target)"], body: request.body)
    }
    for (rest, place) in [("", "/"), ("?a=b", "/?a=b"), ("/", "/"), ("/x%20y/z?a", "/x%20y/z?a")] {
      let answer = try await served.answer(.patch, "/project/us-central1/page\(rest)", [:], "sent")
      #expect(answer.status.code == 201 && answer.fields["x-place"] == "PATCH \(place)", "\(rest)")
      #expect(try await answer.text() == "sent")
    }
    var open = RequestFunctionOptions()
    open.crossOrigin = CrossOriginRules(origins: .these(["https://a.example"]))
    served.registry.onRequest("page", options: open) { _ in HTTPResponse(.ok) }
    let question: HTTPFields = [.origin: "https://a.example", "access-control-request-method": "GET"]
    let allowed = try await served.answer(.options, "/project/us-central1/page", question)
    #expect(allowed.fields["access-control-allow-origin"] == "https://a.example")
    // A name is of one kind.
    served.registry.onCall("page") { _ in "called" }
    let called = try await served.answer(.post, "/project/us-central1/page", json, #"{"data":null}"#)
    #expect(try await called.text() == #"{"result":"called"}"#)
  }

  @Test func `a response to HEAD has the length that the function says`() async throws {
    let network = FakeNetwork()
    let worker = HTTPClosureHandler { request in
      let length = ["/project/us-central1/f/long": "5000", "/project/us-central1/f/none": "0"][request.path]
      return .response(HTTPResponse(fields: length.map { ["content-length": $0] } ?? [:], body: .empty))
    }
    _ = try await network.listen(at: .internet(host: "worker", port: 9_001), handler: worker)
    let served = try await Served.onFakeNetwork(network)
    served.host.add(FunctionPlaces.self, try FunctionPlaces(["*": "http://worker:9001"]))
    #expect(try await served.answer(.head, "/project/us-central1/f/long", [:]).body.length == 5_000)
    #expect(try await served.answer(.head, "/project/us-central1/f/none", [:]).body.length == 0)
    #expect(try await served.answer(.head, "/project/us-central1/f", [:]).body.length == nil)
  }

  @Test func `requests for a function elsewhere are passed on with their bodies, and so are the responses`()
    async throws
  {
    let network = FakeNetwork()
    let seen = Log<HTTPRequest>()
    let worker = HTTPClosureHandler(body: .streamed) { request in
      seen.add(request)
      return .response(
        HTTPResponse(202, fields: ["x-worker": "yes", "keep-alive": "timeout=5"], body: request.body))
    }
    _ = try await network.listen(at: .internet(host: "worker", port: 9_001), handler: worker)
    let served = try await Served.onFakeNetwork(network)
    _ = served.subject()
    served.host.add(
      FunctionPlaces.self,
      try FunctionPlaces([
        "greet": "http://worker:9001/base/greet", "echo": "http://nowhere", "*": "http://worker:9001",
      ]))
    let fields: HTTPFields = [
      .authorization: "Bearer t", "te": "trailers", .contentType: "application/json", "connection": "close, X-Hop",
      "x-hop": "1", "via": "1.1 proxy",
    ]
    let answer = try await served.answer(.put, "/project/us-central1/greet/a?b=c", fields, "sent")
    #expect(answer.status.code == 202 && answer.fields["x-worker"] == "yes" && answer.fields["keep-alive"] == nil)
    #expect(try await answer.text() == "sent")
    let passed = try #require(seen.entries.first)
    #expect(passed.target == "/base/greet/a?b=c" && passed.fields["authorization"] == "Bearer t")
    #expect(passed.fields["te"] == nil && passed.fields["x-forwarded-host"] == "localhost")
    #expect(passed.fields["x-hop"] == nil && passed.fields.values("via") == ["1.1 proxy", "1.1 vesta"])
    _ = try await served.answer(.get, "/project/europe-west1/other/a", [:])
    #expect(seen.entries.last?.target == "/project/europe-west1/other/a")
    // A function of the process has precedence.
    #expect(try await served.answer(.post, path, json, #"{"data":1}"#).text() == #"{"result":1}"#)
    served.registry.remove("echo")
    let unreachable = try await served.answer(.post, path, json, #"{"data":1}"#)
    #expect(unreachable.status == .serviceUnavailable)
    #expect(try await unreachable.text().contains("UNAVAILABLE"))
  }

  @Test func `a request for a function whose address leads back to the server ends`() async throws {
    let served = try await Served.onFakeNetwork()
    let address = "http://localhost/project/us-central1/loop"
    served.host.add(FunctionPlaces.self, try FunctionPlaces(["loop": address]))
    let answer = try await served.answer(.get, "/project/us-central1/loop", [:])
    #expect(answer.status == .badRequest)
    #expect(try await answer.text().contains("leads back"))
    // It is passed on as often as servers behind one another may be many, and no more.
    let seen = Log<HTTPRequest>()
    let network = FakeNetwork()
    let worker = HTTPClosureHandler { request in
      seen.add(request)
      return .response(HTTPResponse(.ok))
    }
    _ = try await network.listen(at: .internet(host: "worker", port: 9_001), handler: worker)
    let other = try await Served.onFakeNetwork(network)
    other.host.add(FunctionPlaces.self, try FunctionPlaces(["*": "http://worker:9001"]))
    for (count, status) in [(3, 200), (4, 400)] {
      let via = Array(repeating: "1.1 vesta", count: count).joined(separator: ", ")
      #expect(try await other.answer(.get, "/project/us-central1/f", ["via": via]).status.code == status)
    }
    #expect(seen.entries.count == 1)
  }

  @Test func `addresses of functions are checked`() {
    for text in ["nowhere", "ws://host/x", "http://host/x?y", ""] {
      #expect(throws: ServiceStatus.self) { try FunctionPlaces(["greet": text]) }
    }
  }

  @Test func `paths with a region in their second place are served at a port for all products`() {
    let endpoints = FunctionsEndpoints()
    func serves(_ target: String) -> Bool {
      endpoints.serves(HTTPRequestHead(method: .post, target: target, fields: [:]))
    }
    #expect(serves("/demo/us-central1/greet") && serves("/demo/northamerica-northeast1/greet/a?b"))
    #expect(!serves("/v1/projects/demo/messages:send") && !serves("/v0/b/bucket/o") && !serves("/demo/us-central1"))
  }
}
