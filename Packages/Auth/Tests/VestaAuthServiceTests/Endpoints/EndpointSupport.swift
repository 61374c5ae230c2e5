import Testing
import VestaAuthBackend
import VestaAuthEndpoints
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaAuthService

/// The routes over an engine, as a client of a local server reaches them.
struct EndpointWorld: Sendable {
  let world: World
  private let handler: any HTTPHandler

  /// The answer to a request.
  struct Answer {
    let status: Int
    let body: JSONObject
    let fields: HTTPFields

    /// The message of an error, as SDKs read it.
    var message: String? { body["error"]?.object?["message"]?.string }

    subscript(name: String) -> JSONValue? { body[name] }
  }

  init(
    isDevelopment: Bool = true, tuning: AuthEndpointTuning = AuthEndpointTuning(),
    blocking: (any AuthBlockingFunctions)? = nil
  ) {
    world = World {
      $0.initialConfig.hidesEmails = false
      $0.isDevelopment = isDevelopment
      $0.usesDevelopmentTokens = isDevelopment
      if let blocking {
        $0.blockingFunctions = blocking
        $0.initialConfig.blockingFunctions = BlockingFunctionSettings(beforeCreate: "http://localhost:80/f")
      }
    }
    let host = FakeEndpointHost(project: "demo", clock: world.options.clock, isDevelopment: isDevelopment)
    host.add((any AuthBackend).self, world.engine)
    host.add((any AuthAdminBackend).self, world.engine.administration)
    handler = AuthEndpoints(tuning: tuning).handler(in: host)
  }

  func send(
    _ method: HTTPMethod, _ target: String, _ body: [UInt8] = [], fields: HTTPFields = [:]
  ) async throws -> Answer {
    let response = try await response(to: method, target, body, fields: fields)
    let bytes = response.body.bytes ?? []
    return Answer(
      status: response.status.code, body: bytes.isEmpty ? JSONObject() : try JSONObject(json: bytes),
      fields: response.fields)
  }

  /// The text of a page, its status and its fields.
  func page(_ target: String) async throws -> (status: Int, text: String, fields: HTTPFields) {
    let response = try await response(to: .get, target)
    return (response.status.code, String(decoding: response.body.bytes ?? [], as: UTF8.self), response.fields)
  }

  private func response(
    to method: HTTPMethod, _ target: String, _ body: [UInt8] = [], fields: HTTPFields = [:]
  ) async throws -> HTTPResponse {
    let request = HTTPRequest(method, target, authority: "localhost:9099", fields: fields, body: .bytes(body))
    switch handler.reply(to: request) {
    case .response(let done): return done
    case .task(let work): return try await work()
    case .webSocket: throw AuthServiceError(.internalError, "no socket")
    }
  }

  /// A call of a client with an API key.
  func call(_ name: String, _ body: JSONObject = [:], version: String = "v1") async throws -> Answer {
    try await send(
      .post, "/identitytoolkit.googleapis.com/\(version)/\(name)?key=k", try body.json(),
      fields: [.contentType: "application/json"])
  }

  /// A call of an owner on a project.
  func own(
    _ name: String, _ body: JSONObject = [:], method: HTTPMethod = .post, version: String = "v1",
    token: String = "owner"
  ) async throws -> Answer {
    try await send(
      method, "/identitytoolkit.googleapis.com/\(version)/projects/demo\(name)", try body.json(),
      fields: [.authorization: "Bearer \(token)", .contentType: "application/json"])
  }

  /// A call of a local test suite, without any credential.
  func local(_ method: HTTPMethod, _ name: String, _ body: JSONObject = [:]) async throws -> Answer {
    try await send(method, "/emulator/v1/projects/demo/\(name)", try body.json())
  }
}
