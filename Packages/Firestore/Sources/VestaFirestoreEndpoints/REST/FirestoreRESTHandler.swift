import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// Serves REST: one JSON message in, one message or an array of them out.
struct FirestoreRESTHandler: Sendable {
  private let host: any EndpointHost
  private let calls: CallTable
  private let administration: AdminCallTable

  init(_ host: any EndpointHost, _ calls: CallTable, _ administration: AdminCallTable) {
    self.host = host
    self.calls = calls
    self.administration = administration
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    .task {
      do {
        return try await served(request.body.length ?? 0, upTo: calls.tuning.loopBytes) {
          try await response(to: request)
        }
      } catch {
        return RESTResponse.failure(status(of: error))
      }
    }
  }

  /// - Throws: What is wrong with the request.
  private func response(to request: HTTPRequest) async throws -> HTTPResponse {
    let clock = host.clock
    let (message, call, isArray) = try self.call(request)
    do {
      let bytes = try await call(message) { CallContext(request, project: $0, clock: clock) }
      return RESTResponse.success(bytes)
    } catch {
      return RESTResponse.failure(status(of: error), isArray: isArray)
    }
  }

  /// The call that a request means, with its message.
  private func call(
    _ request: HTTPRequest
  ) throws(ServiceStatus) -> (message: JSONValue, call: CallTable.RESTCall, isArray: Bool) {
    let method = Self.method(of: request)
    let body = request.body.bytes ?? []
    if AdminRESTRequest.isMeant(by: request.path) {
      let parsed = try AdminRESTRequest(method, path: request.path, query: request.query, body: body)
      guard let call = administration.rest[parsed.call] else { throw Self.unserved(parsed.call) }
      return (parsed.message, call, false)
    }
    let parsed = try FirestoreRESTRequest(method, path: request.path, query: request.query, body: body)
    guard let (call, isArray) = calls.rest[parsed.call] else { throw Self.unserved(parsed.call) }
    return (parsed.message, call, isArray)
  }

  /// The method that a request means: behind a proxy that refuses some methods, clients send a POST that names one.
  private static func method(of request: HTTPRequest) -> HTTPMethod {
    guard request.method == .post, let name = request.fields.first("x-http-method-override") else {
      return request.method
    }
    return HTTPMethod(name.uppercased())
  }

  private static func unserved(_ call: String) -> ServiceStatus {
    ServiceStatus(.unimplemented, "\(call) is not served.")
  }
}

/// Responses of REST.
enum RESTResponse {
  private static let fields: HTTPFields = [
    .contentType: "application/json; charset=UTF-8", "vary": "Origin, X-Origin, Referer",
    "x-content-type-options": "nosniff",
  ]

  static func success(_ json: [UInt8]) -> HTTPResponse { HTTPResponse(fields: fields, body: .bytes(json)) }

  /// The envelope of Google's APIs; in an array where the call answers with one.
  static func failure(_ status: ServiceStatus, isArray: Bool = false, status code: HTTPStatus? = nil) -> HTTPResponse {
    let code = code ?? HTTPStatus(status.code.httpStatus)
    let envelope = ErrorEnvelope(code: code.code, message: status.message, status: status.code.name)
    let value = JSONValue.object(envelope.object)
    let json = try? (isArray ? JSONValue.array([value]) : value).json()
    return HTTPResponse(code, fields: fields, body: .bytes(json ?? []))
  }
}
