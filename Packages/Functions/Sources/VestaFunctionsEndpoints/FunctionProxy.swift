import VestaServiceInterop
import VestaTransportInterop

/// Passes requests on to the programs in which functions run, and their responses back, while they travel.
struct FunctionProxy {
  private let handler: FunctionsHandler

  init(_ handler: FunctionsHandler) { self.handler = handler }

  /// Refuses a request that has passed this server too often, as in a cycle.
  private func checkForwards(of request: HTTPRequest) throws(ServiceStatus) {
    let forwards = request.fields.values("via").reduce(0) {
      $0 + $1.split(separator: ",").count { $0.hasSuffix(Self.name) }
    }
    guard forwards < handler.tuning.maximumForwards else {
      throw ServiceStatus(
        .failedPrecondition, "The address of the function leads back to this server: give it another.")
    }
  }

  func forward(_ request: HTTPRequest, to url: HTTPURL, _ target: String) async throws -> HTTPResponse {
    guard let client = try handler.client() else {
      throw ServiceStatus(.unimplemented, "This server has no way to functions of other programs.")
    }
    try checkForwards(of: request)
    var outer = HTTPRequest(request.method, url, fields: Self.passed(request.fields), body: request.body)
    outer.target = target
    outer.fields.set("x-forwarded-host", request.authority)
    outer.fields.append("via", "1.1 \(Self.name)")
    do {
      let answer = try await client.send(outer, timeout: handler.tuning.proxyTimeout)
      let body = request.method == .head ? Self.absentBody(answer.fields) : answer.body
      return HTTPResponse(answer.status, fields: Self.passed(answer.fields), body: body)
    } catch let error as TransportError {
      let code: ServiceCode = error.code == .timedOut ? .deadlineExceeded : .unavailable
      throw ServiceStatus(
        code, "The function at \(url.scheme)://\(url.authority)\(target.prefix { $0 != "?" }): \(error.message)")
    }
  }

  /// The body of a response to HEAD, which has the length that it would have: a response without a length says none.
  private static func absentBody(_ fields: HTTPFields) -> HTTPBody {
    .stream(ByteStream(whole: []), length: fields.first("content-length").flatMap { Int($0) }.map { max(0, $0) })
  }

  private static let name = "vesta"

  /// The fields without the ones that concern one connection.
  private static func passed(_ fields: HTTPFields) -> HTTPFields {
    var fields = fields
    for field in fields.values("connection") {
      for name in field.split(separator: ",") {
        fields.remove(HTTPFieldName(stringLiteral: name.trimmingPrefix(while: { $0 == " " }).lowercased()))
      }
    }
    for name in hops { fields.remove(name) }
    return fields
  }

  private static let hops: [HTTPFieldName] = [
    "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
    "transfer-encoding", "upgrade", "content-length", "expect",
  ]
}
