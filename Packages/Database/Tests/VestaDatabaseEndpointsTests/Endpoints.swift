import Testing
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseEndpoints
@testable import VestaDatabaseService

/// The engine behind the routes, over a network in memory.
struct Endpoints {
  /// An answer with its whole body.
  struct Answer {
    let status: Int
    let fields: HTTPFields
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var error: String? { (try? JSONObject(json: body))?["error"]?.string }
  }

  let clock: ManualClock
  let network = FakeNetwork()
  let engine: DatabaseEngine
  let host: FakeEndpointHost
  let handler: any HTTPHandler

  init(
    _ gatekeeper: (any DatabaseGuard)? = nil, verifier: (any CallerVerifier)? = nil, isDevelopment: Bool = true,
    rules: (any RulesAdministration)? = nil, indexes: DatabaseIndexes = DatabaseIndexes(),
    clock: ManualClock = ManualClock(),
    tuning: DatabaseEndpointsTuning = DatabaseEndpointsTuning()
  ) async throws {
    self.clock = clock
    var options = DatabaseServiceOptions()
    (options.clock, options.gatekeeper, options.indexes) = (clock.service, gatekeeper, indexes)
    options.rules = rules
    let callers = CallerCheck(callers: verifier ?? ReadingCallerVerifier())
    engine = DatabaseEngine(store: ModelStore(), options: options, callers: callers)
    host = FakeEndpointHost(project: "demo", clock: clock.service, isDevelopment: isDevelopment)
    host.add((any DatabaseBackend).self, engine)
    host.add((any DatabaseAdminBackend).self, engine)
    handler = DatabaseEndpoints(tuning: tuning).handler(in: host)
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
  }

  func send(
    _ method: HTTPMethod, _ target: String, _ body: String = "", _ fields: HTTPFields = [:],
    authority: String = "localhost"
  ) async throws -> Answer {
    let request = HTTPRequest(
      method, target, authority: authority, fields: fields, body: body.isEmpty ? .empty : .bytes(Array(body.utf8)))
    let response = try await network.send(request, timeout: nil)
    return Answer(
      status: response.status.code, fields: response.fields, body: try await response.body.collect(upTo: 1 << 26))
  }

  /// Opens a stream of events.
  func listen(_ target: String, _ fields: HTTPFields = [:]) async throws -> EventReading {
    var fields = fields
    fields.append("accept", "text/event-stream")
    let response = try await network.send(
      HTTPRequest(.get, target, authority: "localhost", fields: fields), timeout: nil)
    return EventReading(response)
  }

  /// Opens a connection.
  func connect(_ query: String = "v=5&ns=demo") async throws -> SocketReading {
    SocketReading(
      try await network.openWebSocket(
        HTTPRequest(.get, "/.ws?\(query)", authority: "localhost"), subprotocols: [], timeout: nil))
  }
}

/// A stream of events that a test reads.
final class EventReading {
  let response: HTTPResponse
  private var reader = ServerSentEventReader()
  private var events: [ServerSentEvent] = []

  init(_ response: HTTPResponse) { self.response = response }

  /// The next event as `name data`; `nil` at the end.
  func next() async throws -> String? {
    while events.isEmpty {
      guard let bytes = try await response.body.stream.next() else { return nil }
      events += try reader.read(bytes)
    }
    let event = events.removeFirst()
    return "\(event.name ?? "") \(event.data)"
  }
}

/// A connection that a test reads.
struct SocketReading {
  let socket: WebSocket

  init(_ socket: WebSocket) { self.socket = socket }

  func send(_ text: String) async throws { try await socket.send(.text(text)) }

  /// Sends a request.
  func ask(_ id: Int, _ action: String, _ body: String) async throws {
    try await send(#"{"t":"d","d":{"r":\#(id),"a":"\#(action)","b":\#(body)}}"#)
  }

  /// The next frame; `nil` at the end.
  func frame() async throws -> String? {
    guard case .text(let text)? = try await socket.messages.next() else { return nil }
    return text
  }

  /// The next message that arrives in pieces, with the number of its pieces in front.
  func whole(_ first: String? = nil) async throws -> String {
    var first = first ?? ""
    if first.isEmpty { first = try await frame() ?? "" }
    let count = try #require(Int(first), "\(first)")
    var whole = ""
    for _ in 0..<count { whole += try await frame() ?? "" }
    return whole
  }

  /// The content of the next data message.
  func next() async throws -> JSONObject {
    let text = try await frame() ?? ""
    let content = try JSONObject(json: Array(text.utf8))["d"]?.object
    return try #require(content)
  }

  /// The status of the next reply, which has to be that of a request.
  func status(of id: Int) async throws -> String? {
    while true {
      let message = try await next()
      guard let number = message["r"]?.integer else { continue }
      #expect(number == Int64(id), "\(message)")
      return message["b"]?.object?["s"]?.string
    }
  }
}

/// Waits until a condition holds that other threads make true.
func eventually(_ condition: () async throws -> Bool) async throws {
  let end = ContinuousClock.now + .seconds(120)
  while ContinuousClock.now < end {
    if try await condition() { return }
    await Task.yield()
  }
  Issue.record("it did not come true in time")
}
