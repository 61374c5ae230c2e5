import Testing
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop

@testable import VestaServer

/// The products of methods of gRPC on the port of all products.
@Suite struct SharedHandlerTests {
  private static func call(_ method: String) -> HTTPRequest {
    HTTPRequest(.post, "/\(method)", authority: "h", fields: [.contentType: "application/grpc"])
  }

  @Test func `a method is asked about once, and a bounded number are remembered`() async throws {
    let asked = Log<String>()
    let products = ["a", "b"].map { name -> (provider: any EndpointProvider, handler: any HTTPHandler) in
      let product = OneProduct(product: name, asked: asked)
      return (product, product)
    }
    var tuning = ServerTuning()
    tuning.knownMethods = 3
    let handler = SharedHandler(products: products, tuning: tuning)
    func product(of method: String) -> String? {
      guard case .response(let response) = handler.reply(to: Self.call(method)) else { return nil }
      return response.body.bytes.map { String(decoding: $0, as: UTF8.self) }
    }
    for method in ["a.1", "b.1", "a.1", "b.1", "b.2"] { #expect(product(of: method) == String(method.prefix(1))) }
    #expect(asked.drain() == ["a /a.1", "a /b.1", "b /b.1", "a /b.2", "b /b.2"] && handler.methodCount == 3)
    // The fourth one has all found again.
    #expect(product(of: "a.2") == "a" && handler.methodCount == 1)
    #expect(product(of: "b.1") == "b" && product(of: "a.2") == "a" && handler.methodCount == 2)
    #expect(asked.drain() == ["a /a.2", "a /b.1", "b /b.1"])
    _ = product(of: "c.1")
    #expect(handler.methodCount == 2)
  }
}

/// Calls of pages of other origins.
@Suite struct PreflightTests {
  @Test func `a page that asks whether it may make a call has the answer of the product that serves it`() throws {
    struct Posts: EndpointProvider, HTTPHandler {
      let product = "posts"

      func serves(_ head: HTTPRequestHead) -> Bool { head.method == .post && head.target == "/a" }
      func handler(in host: any EndpointHost) -> any HTTPHandler { self }
      func reply(to request: HTTPRequest) -> HTTPReply { .response(HTTPResponse(.noContent)) }
    }
    let handler = SharedHandler(products: [(Posts(), Posts())])
    func status(_ fields: HTTPFields) -> Int? {
      let request = HTTPRequest(.options, "/a", authority: "h", fields: fields)
      return if case .response(let response) = handler.reply(to: request) { response.status.code } else { nil }
    }
    #expect(status(["access-control-request-method": "POST", "origin": "http://x"]) == 204)
    #expect(status(["access-control-request-method": "GET", "origin": "http://x"]) == 404)
    #expect(status([:]) == 404)
  }
}

/// A product that serves the paths that begin with its name.
private struct OneProduct: EndpointProvider, HTTPHandler {
  let product: String
  let asked: Log<String>

  func serves(_ head: HTTPRequestHead) -> Bool {
    asked.add("\(product) \(head.target)")
    return head.target.hasPrefix("/\(product)")
  }

  func handler(in host: any EndpointHost) -> any HTTPHandler { self }

  func reply(to request: HTTPRequest) -> HTTPReply { .response(HTTPResponse(body: .text(product))) }
}
