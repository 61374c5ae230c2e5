import Testing
import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFunctionsEndpoints

/// The calls about triggers, and the requests by which functions elsewhere get their events.
@Suite struct TriggerTests {
  /// Keeps triggers by their keys.
  private final class Table: EventTriggers {
    private let table = Locked<[String: EventTrigger]>([:])

    var triggers: [EventTrigger] { table.withLock { $0.values.sorted { $0.key < $1.key } } }

    func set(_ trigger: EventTrigger) async throws(EventTriggerError) { table.withLock { $0[trigger.key] = trigger } }

    func remove(_ key: String) async throws(EventTriggerError) -> Bool {
      table.withLock { $0.removeValue(forKey: key) } != nil
    }

    func resume() {}
  }

  /// The form of one type of events, with the path as an attribute.
  private struct Form: EventTriggerForm {
    func trigger(
      _ key: String, _ definition: JSONObject, project: String
    ) throws(EventTriggerError) -> EventTrigger? {
      guard definition["eventType"] == "created" else { return nil }
      return EventTrigger(key: key, eventType: "created", generation: .cloudEvent, types: [.documentCreated])
    }

    func messages(of event: Event, to trigger: EventTrigger, project: String) throws -> [EventMessage]? {
      ["json", "proto"].map { EventMessage(contentType: $0, attributes: [.init("subject", event.path)], body: []) }
    }
  }

  private let root = "/functions/projects/project/triggers"

  private func answer(
    _ method: HTTPMethod, _ target: String, _ body: String = "", isDevelopment: Bool = true, in table: Table
  ) async throws -> (status: Int, text: String) {
    let host = FakeEndpointHost(project: "project", isDevelopment: isDevelopment)
    host.add((any EventTriggers).self, table)
    let handler = FunctionsEndpoints(forms: { [Form()] }).handler(in: host)
    let request = HTTPRequest(method, target, authority: "localhost", body: .text(body))
    let response: HTTPResponse
    switch handler.reply(to: request) {
    case .response(let made): response = made
    case .task(let work): response = try await work()
    case .webSocket: throw TransportError(.refused, "There is no WebSocket.")
    }
    return (response.status.code, try await response.text())
  }

  @Test func `a trigger is registered, listed and removed`() async throws {
    let table = Table()
    let body = #"{"eventTrigger":{"eventType":"created"}}"#
    #expect(try await answer(.put, "\(root)/us-central1-a%2Fb", body, in: table) == (200, "{}"))
    #expect(table.triggers.map(\.key) == ["us-central1-a/b"])
    let list = try await answer(.get, root, in: table)
    #expect(list.status == 200 && list.text.contains("us-central1-a/b"))
    #expect(try await answer(.delete, "\(root)/other", in: table).status == 404)
    #expect(try await answer(.delete, "\(root)/us-central1-a%2Fb", in: table) == (200, "{}"))
    #expect(table.triggers.isEmpty)
  }

  @Test func `what is no trigger is refused, and a server that is not for development has none`() async throws {
    let table = Table()
    for body in ["", "{}", #"{"eventTrigger":{}}"#, #"{"eventTrigger":{"eventType":"other"}}"#] {
      #expect(try await answer(.put, "\(root)/a", body, in: table).status == 400, "\(body)")
    }
    let body = #"{"eventTrigger":{"eventType":"created"}}"#
    #expect(try await answer(.put, "\(root)/a", body, isDevelopment: false, in: table).status == 404)
    #expect(table.triggers.isEmpty)
    // Others are for the functions emulator, and there is none.
    for (method, target) in [(HTTPMethod.post, "\(root)/a"), (.put, root), (.get, "\(root)/a")] {
      #expect(try await answer(method, target, body, in: table).status == 404, "\(target)")
    }
  }

  @Test(arguments: [
    ("/functions/projects/p%20q/triggers/a%2Fb", "p q", "a/b"), ("/functions/projects/p/triggers?x", "p", nil),
    ("/functions/projects/p/trigger_multicast", "p", nil), ("/functions/projects/p/triggers/a/b", "p", "a/b"),
  ])
  func `a path of triggers has a project and perhaps a function`(_ target: String, _ project: String, _ key: String?) {
    #expect(TriggerPath(target: target) == TriggerPath(project: project, key: key))
    #expect(FunctionsEndpoints().serves(HTTPRequestHead(method: .put, target: target, fields: [:])))
  }

  @Test(arguments: [
    "/functions/projects//triggers/a", "/functions/projects/p", "/functions/projects/p/other",
    "/p/us-central1/triggers", "/functions/project/p/triggers",
  ])
  func `other paths are not of triggers`(_ target: String) { #expect(TriggerPath(target: target) == nil) }

  // MARK: Sending

  private let event = Event(
    id: "e", type: .documentCreated, source: "//firestore.googleapis.com/d", path: "rooms/a~b é\u{7F}\u{1F}c", time: 1,
    data: [:])
  private let trigger = EventTrigger(
    key: "a/b", eventType: "created", generation: .cloudEvent, types: [.documentCreated])

  private func sender(_ seen: Log<HTTPRequest>, _ statuses: [String: Int] = [:]) throws -> TriggerSender {
    let network = FakeNetwork()
    let host = HTTPClosureHandler { request in
      seen.add(request)
      let status = statuses[request.fields[.contentType] ?? ""] ?? 204
      return .response(HTTPResponse(HTTPStatus(status)))
    }
    try network.serve(host, at: .internet(host: "localhost", port: 80))
    return TriggerSender(
      address: HTTPURL("http://localhost/"), keepsTriggers: false, forms: { [Form()] }, client: { network })
  }

  @Test func `an event is sent once in each form, with attributes that a field may have`() async throws {
    let seen = Log<HTTPRequest>()
    try await sender(seen).deliver(event, to: trigger, of: "p")
    #expect(seen.entries.map(\.target) == Array(repeating: "/functions/projects/p/triggers/a%2Fb", count: 2))
    #expect(seen.entries.map { $0.fields[.contentType] } == ["json", "proto"])
    #expect(seen.entries.allSatisfy { $0.fields["ce-subject"] == "rooms/a~b %C3%A9%7F%1Fc" })
    var plain = event
    plain.path = "rooms/a b~"
    try await sender(seen).deliver(plain, to: trigger, of: "p")
    #expect(seen.entries.last?.fields["ce-subject"] == "rooms/a b~")
    for character in ["\u{1F}", "\u{7F}"] {
      plain.path = "rooms/\(character)"
      try await sender(seen).deliver(plain, to: trigger, of: "p")
      #expect(seen.entries.last?.fields["ce-subject"]?.hasPrefix("rooms/%") == true)
    }
  }

  @Test(arguments: [
    (["json": 500], ServiceCode.internal, 2), (["json": 503], .unavailable, 1), (["proto": 404], .unavailable, 2),
    (["json": 500, "proto": 429], .unavailable, 2),
  ])
  func `a function that fails keeps no event from those of the other form`(
    _ statuses: [String: Int], _ code: ServiceCode, _ count: Int
  ) async throws {
    let seen = Log<HTTPRequest>()
    let sender = try sender(seen, statuses)
    let error = await #expect(throws: ServiceStatus.self) { try await sender.deliver(event, to: trigger, of: "p") }
    #expect(error?.code == code && seen.entries.count == count)
    sender.isEnabled = false
    try await sender.deliver(event, to: trigger, of: "p")
    #expect(seen.entries.count == count)
  }
}
