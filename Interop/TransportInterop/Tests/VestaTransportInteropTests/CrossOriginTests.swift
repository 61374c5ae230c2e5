import Testing
import VestaTransportInterop

struct CrossOriginTests {
  private func preflight(_ fields: HTTPFields) -> HTTPRequest {
    HTTPRequest(.options, "/x", authority: "h", fields: fields)
  }

  private let question: HTTPFields = [
    .origin: "https://app.example", "access-control-request-method": "PUT",
    "access-control-request-headers": "authorization,x-own",
  ]

  @Test func `a question of a browser is answered with what it may do, and for how long`() throws {
    let rules = CrossOriginRules(maximumAge: 600)
    let answer = try #require(rules.preflight(for: preflight(question)))
    #expect(answer.status == .noContent)
    #expect(answer.fields["access-control-allow-origin"] == "*")
    #expect(answer.fields["access-control-allow-methods"] == "GET, HEAD, POST, PUT, PATCH, DELETE")
    #expect(answer.fields["access-control-allow-headers"] == "authorization,x-own")
    #expect(answer.fields["access-control-max-age"] == "600")
    #expect(!answer.fields.contains("access-control-allow-credentials"))
    #expect(!answer.fields.contains("access-control-allow-private-network"))
  }

  @Test func `with credentials the origin is named, never all of them, and caches are told`() throws {
    let rules = CrossOriginRules(exposedFields: ["etag", "x-b"], allowsCredentials: true)
    let answer = try #require(rules.preflight(for: preflight(question)))
    #expect(answer.fields["access-control-allow-origin"] == "https://app.example")
    #expect(answer.fields["access-control-allow-credentials"] == "true")
    let request = HTTPRequest(.get, "/", authority: "h", fields: [.origin: "https://app.example"])
    let response = rules.allowing(request, HTTPResponse(fields: ["vary": "accept-encoding"]))
    #expect(response.fields["access-control-allow-origin"] == "https://app.example")
    #expect(response.fields["access-control-expose-headers"] == "etag, x-b")
    #expect(response.fields["vary"] == "accept-encoding, origin")
    // A cache keeps also what was asked for without an origin.
    #expect(rules.allowing(HTTPRequest(.get, "/", authority: "h"), HTTPResponse()).fields["vary"] == "origin")
  }

  @Test(arguments: ["https://other.example", "null", "https://app.example.evil", "http://app.example", ""])
  func `an origin that is not listed is allowed nothing`(origin: String) throws {
    let rules = CrossOriginRules(origins: .these(["https://app.example"]))
    var asked = question
    asked.set(.origin, origin)
    let answer = try #require(rules.preflight(for: preflight(asked)))
    #expect(!answer.fields.contains("access-control-allow-origin"))
    let request = HTTPRequest(.get, "/", authority: "h", fields: [.origin: origin])
    #expect(!rules.allowing(request, HTTPResponse()).fields.contains("access-control-allow-origin"))
    let socket = CrossOriginHandler(rules: rules, HTTPClosureHandler { _ in .webSocket(WebSocketService { _ in }) })
    guard case .response(let refusal) = socket.reply(to: request) else {
      Issue.record("the socket was opened")
      return
    }
    #expect(refusal.status.code == 403)
  }

  @Test func `methods and fields beyond the rules are not allowed`() throws {
    let rules = CrossOriginRules(methods: [.get], allowedFields: ["authorization"])
    let refused = try #require(rules.preflight(for: preflight(question)))
    #expect(!refused.fields.contains("access-control-allow-origin"))
    var asked = question
    asked.set("access-control-request-method", "GET")
    let answer = try #require(rules.preflight(for: preflight(asked)))
    #expect(answer.fields["access-control-allow-headers"] == "authorization")
  }

  @Test func `a private network is reached only where the rules say so, and the browser asks`() throws {
    let rules = CrossOriginRules(allowsPrivateNetwork: true)
    #expect(rules.preflight(for: preflight(question))?.fields["access-control-allow-private-network"] == nil)
    var asked = question
    asked.append("access-control-request-private-network", "true")
    #expect(rules.preflight(for: preflight(asked))?.fields["access-control-allow-private-network"] == "true")
    #expect(CrossOriginRules().preflight(for: preflight(asked))?.fields["access-control-allow-private-network"] == nil)
  }

  @Test func `OPTIONS that is no question reaches the handler, and an error of a task can be read by the page`()
    async throws
  {
    struct Failure: Error {}
    let inner = HTTPClosureHandler { request in
      request.method == .options ? .response(HTTPResponse(fields: ["allow": "GET"])) : .task { throw Failure() }
    }
    let handler = CrossOriginHandler(rules: CrossOriginRules(), inner)
    guard case .response(let response) = handler.reply(to: preflight([:])) else {
      Issue.record("no response")
      return
    }
    #expect(response.fields["allow"] == "GET")
    let request = HTTPRequest(.get, "/", authority: "h", fields: [.origin: "https://a"])
    guard case .task(let work) = handler.reply(to: request) else {
      Issue.record("no task")
      return
    }
    let failed = try await work()
    #expect(failed.status == .internalServerError && failed.fields["access-control-allow-origin"] == "*")
  }

  @Test func `a refusal of a large body is the one of the handler inside, and pages can read it`() {
    struct Inner: HTTPHandler {
      func reply(to request: HTTPRequest) -> HTTPReply { .response(HTTPResponse()) }
      func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
        HTTPResponse(.contentTooLarge, body: .text("{\(limit)}"))
      }
    }
    let handler = CrossOriginHandler(rules: CrossOriginRules(allowsCredentials: true), Inner())
    let head = HTTPRequestHead(method: .post, target: "/x", fields: [.origin: "https://app.example"])
    let refusal = handler.refusal(of: head, limit: 7)
    #expect(refusal.body.bytes == Array("{7}".utf8))
    #expect(refusal.fields["access-control-allow-origin"] == "https://app.example")
  }
}
