import Testing
import VestaEventsInterop
import VestaEventsInteropContracts
import VestaEventsInteropFakes
import VestaTesting

@Suite struct FakeSourceTests {
  private func subject() -> EventSourceSubject {
    let source = FakeEventSource(service: "test")
    return EventSourceSubject(source: source) { changes, fails in
      let drafts = changes.map {
        EventDraft($0.type, scope: $0.scope, path: $0.path, functions: [], payload: Array($0.path.utf8))
      }
      try await source.commit(drafts, fails: fails)
    }
  }

  @Test(arguments: EventSourceContracts.all) func `the fake honours`(
    contract: Contract<EventSourceSubject>
  ) async throws {
    try await contract.verify(subject())
  }

  @Test func `a fake that fails returns its queue afterwards`() async throws {
    let source = FakeEventSource()
    source.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    try await source.commit("a/1", "a/2")
    source.fail(with: Stop())
    await #expect(throws: Stop.self) { try await source.events(EventPageRequest(function: "f", limit: 9)) }
    source.fail(with: nil)
    let entries = try await source.events(EventPageRequest(function: "f", limit: 9)).entries
    #expect(entries.map(\.lane.path) == ["a/1", "a/2"])
  }
}
