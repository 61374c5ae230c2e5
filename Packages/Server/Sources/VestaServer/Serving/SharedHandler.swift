import VestaBytes
import VestaConcurrency
import VestaTransportInterop

/// All products at one port: the first one that serves a request gets it.
struct SharedHandler: HTTPHandler {
  let products: [(provider: any EndpointProvider, handler: any HTTPHandler)]

  /// The products of methods of gRPC, by path: each would be asked about every call.
  private let methods = Locked<[String: Int]>([:])
  private let tuning: ServerTuning

  init(
    products: [(provider: any EndpointProvider, handler: any HTTPHandler)], tuning: ServerTuning = ServerTuning()
  ) {
    (self.products, self.tuning) = (products, tuning)
  }

  /// The number of methods whose product is known, for tests.
  var methodCount: Int { methods.withLock { $0.count } }

  private func handler(for head: HTTPRequestHead) -> (any HTTPHandler)? {
    let isMethod = head.method == .post && GRPCHandler.isGRPC(head)
    if isMethod, let known = methods.withLock({ $0[head.target] }) { return products[known].handler }
    var asked = head
    // Pages of other origins ask first whether they may make a call: the product of that call answers.
    if head.method == .options, let method = head.fields["access-control-request-method"] {
      asked.method = HTTPMethod(method)
    }
    guard let index = products.firstIndex(where: { $0.provider.serves(asked) }) else { return nil }
    if isMethod {
      methods.withLock { methods in
        // A client that sends paths that are no methods must not keep those out that are.
        if methods.count >= tuning.knownMethods { methods.removeAll(keepingCapacity: true) }
        methods[head.target] = index
      }
    }
    return products[index].handler
  }

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery {
    handler(for: head)?.bodyDelivery(for: head) ?? .collected(upTo: 65_536)
  }

  func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
    handler(for: head)?.refusal(of: head, limit: limit) ?? HTTPResponse(.contentTooLarge)
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    let head = HTTPRequestHead(method: request.method, target: request.target, fields: request.fields)
    if let handler = handler(for: head) { return handler.reply(to: request) }
    if request.path == "/", request.method == .get || request.method == .head {
      return .response(HTTPResponse(fields: [.contentType: "text/plain; charset=utf-8"], body: .text("Ok\n")))
    }
    return .response(JSONResponse.failure(404, "No product of this server serves \(request.path.prefix(200))."))
  }
}

/// Responses of the server itself.
enum JSONResponse {
  static func success(_ object: JSONObject) -> HTTPResponse { response(.ok, object) }

  static func message(_ text: String, _ status: HTTPStatus) -> HTTPResponse {
    response(status, ["message": .string(text)])
  }

  static func error(_ text: String, _ status: HTTPStatus) -> HTTPResponse {
    response(status, ["error": .string(text)])
  }

  static func failure(_ status: HTTPStatus, _ message: String) -> HTTPResponse {
    response(status, ErrorEnvelope(code: status.code, message: message, status: "NOT_FOUND").object)
  }

  static func forbidden(_ message: String) -> HTTPResponse {
    response(HTTPStatus(403), ErrorEnvelope(code: 403, message: message, status: "PERMISSION_DENIED").object)
  }

  private static func response(_ status: HTTPStatus, _ object: JSONObject) -> HTTPResponse {
    let json = try? JSONValue.object(object).json()
    return HTTPResponse(
      status, fields: [.contentType: "application/json; charset=utf-8"], body: .bytes(json ?? []))
  }
}
