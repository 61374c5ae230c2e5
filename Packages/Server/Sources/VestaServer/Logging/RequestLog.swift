import VestaCore
import VestaServiceInterop
import VestaTransportInterop

/// Logs one line for each request: its method and path, the status and how long the head of the response took.
///
/// Queries and fields are left out: they have keys and tokens.
struct RequestLog: HTTPHandler {
  let port: String
  let clock: ServiceClock
  let inner: any HTTPHandler

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { inner.bodyDelivery(for: head) }

  func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
    let response = inner.refusal(of: head, limit: limit)
    note(head.method, head.target, "\(response.status.code)", since: clock.now())
    return response
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    let start = clock.now()
    switch inner.reply(to: request) {
    case .response(let response):
      note(request.method, request.target, "\(response.status.code)", since: start)
      return .response(response)
    case .task(let work):
      return .task { try await noting(request, since: start, work) }
    case .webSocket(let service):
      note(request.method, request.target, "socket", since: start)
      return .webSocket(service)
    }
  }

  private func noting(
    _ request: HTTPRequest, since start: Int64, _ work: () async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    do {
      let response = try await work()
      note(request.method, request.target, "\(response.status.code)", since: start)
      return response
    } catch {
      note(request.method, request.target, "cut off (\(type(of: error)))", since: start)
      throw error
    }
  }

  private func note(_ method: HTTPMethod, _ target: String, _ end: String, since start: Int64) {
    log.info("I-SRV000001", Self.line(port, method.name, target, end, clock.now() - start))
  }

  /// The line of a request; control characters of its path are not repeated.
  static func line(_ port: String, _ method: String, _ target: String, _ end: String, _ microseconds: Int64) -> String {
    let path = String(decoding: target.utf8.prefix { $0 != UInt8(ascii: "?") }.prefix(500), as: UTF8.self)
      .filter { !$0.unicodeScalars.contains { $0.value < 32 || $0.value == 127 } }
    let tenths = (max(0, microseconds) + 50) / 100
    return "\(port) \(method) \(path) \(end) \(tenths / 10).\(tenths % 10) ms"
  }
}

private let log = Logger(service: "VestaServer")
