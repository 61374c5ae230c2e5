import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// Serves REST: one JSON message in, one message or an array of them out.
struct FirestoreRESTHandler: Sendable {
  private let host: any EndpointHost
  private let calls: CallTable

  init(_ host: any EndpointHost, _ calls: CallTable) {
    self.host = host
    self.calls = calls
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    let clock = host.clock
    do {
      let parsed = try FirestoreRESTRequest(
        request.method, path: request.path, query: request.query, body: request.body.bytes ?? [])
      guard let (call, isArray) = calls.rest[parsed.call] else {
        throw ServiceStatus(.unimplemented, "\(parsed.call) is not served.")
      }
      return .task {
        do {
          let bytes = try await call(parsed.message) { CallContext(request, project: $0, clock: clock) }
          return RESTResponse.success(bytes)
        } catch {
          return RESTResponse.failure(status(of: error), isArray: isArray)
        }
      }
    } catch {
      return .response(RESTResponse.failure(status(of: error)))
    }
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
