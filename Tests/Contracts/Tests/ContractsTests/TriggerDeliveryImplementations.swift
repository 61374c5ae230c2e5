import Testing
import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaEventsInteropContracts
import VestaFunctionsEndpoints
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@Suite struct TriggerDeliveryImplementations {
  static let all: [Implementation<EventTriggerDeliverySubject>] = [
    Implementation("TriggerSender on FakeNetwork") { try sender() }
  ]

  @Test(.timeLimit(.minutes(10)), arguments: all)
  func `a delivery keeps every promise`(_ implementation: Implementation<EventTriggerDeliverySubject>) async {
    await implementation.keeps(EventTriggerDeliveryContracts.all)
  }

  /// The host of functions: it notes each call.
  private final class Host: HTTPHandler {
    let calls = Locked<[EventTriggerDeliverySubject.Call]>([])
    let answer = Locked(EventTriggerDeliverySubject.Answer.success)

    func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .collected(upTo: 1 << 20) }

    func reply(to request: HTTPRequest) -> HTTPReply {
      let path = request.target.split(separator: "/").map(String.init)
      calls.withLock {
        $0.append(.init(event: request.fields.first("ce-id") ?? "", function: path[4], project: path[2]))
      }
      switch answer.withLock({ $0 }) {
      case .success: return .response(HTTPResponse(200))
      case .failure, .unreachable: return .response(HTTPResponse(500))
      case .silence:
        return .task {
          try await Gate().pass()
          return HTTPResponse(200)
        }
      }
    }
  }

  /// The form of all events.
  private struct Form: EventTriggerForm {
    func trigger(
      _ key: String, _ definition: JSONObject, project: String
    ) throws(EventTriggerError) -> EventTrigger? { nil }

    func messages(of event: Event, to trigger: EventTrigger, project: String) throws -> [EventMessage]? {
      [EventMessage(contentType: "application/json", attributes: [.init("id", event.id)], body: try event.data.json())]
    }
  }

  private static func sender() throws -> EventTriggerDeliverySubject {
    let (network, host) = (FakeNetwork(), Host())
    try network.serve(host, at: .internet(host: "localhost", port: 80))
    let sender = TriggerSender(
      address: HTTPURL("http://localhost/"), keepsTriggers: false, forms: { [Form()] }, client: { network })
    return EventTriggerDeliverySubject(sender) {
      host.calls.withLock { $0 }
    } answer: { answer in
      host.answer.withLock { $0 = answer }
      if case .unreachable = answer { network.setDown(true) } else { network.setDown(false) }
    }
  }
}
