import Testing
import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaStoreInteropFakes

/// Data that is made when somebody asks for it.
@Suite struct EventDataTests {
  private final class Counter: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    func increment() { count.withLock { $0 += 1 } }
  }

  private func later(_ counter: Counter) -> EventData {
    EventData(names: ["value"]) {
      counter.increment()
      return ["value": ["n": 1]]
    }
  }

  @Test func `an object is made once, by the first who asks, for all copies`() async {
    let counter = Counter()
    let data = later(counter)
    let copy = data
    #expect(data.hasObject("value") && !data.hasObject("oldValue"))
    #expect(counter.value == 0)
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { #expect(copy.object["value"]?.object?["n"] == 1) } }
    }
    #expect(data.object["value"] != nil)
    #expect(counter.value == 1)
  }

  @Test func `data that is made and data that is there are equal, and have the same hash`() {
    let (data, made): (EventData, EventData) = (later(Counter()), ["value": ["n": 1]])
    #expect(data == made)
    #expect(data.hashValue == made.hashValue)
    #expect(made.hasObject("value") && !made.hasObject("n"))
    #expect(data != ["value": ["n": 2]])
    #expect(!EventData(["value": 1]).hasObject("value"), "a number is no object")
  }

  @Test func `an event is taken out of its queue without its data being made`() async throws {
    let (store, counter) = (ModelStore(), Counter())
    let outbox = EventOutbox(
      service: "test", keys: [9], types: [.documentCreated], store: { store }, data: { _ in later(counter) })
    outbox.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    _ = try await store.write { transaction in
      try await outbox.append(
        [EventDraft(.documentCreated, path: "a/1", functions: ["f"], payload: [1])], in: transaction)
    }
    let entry = try #require(try await outbox.events(EventPageRequest(function: "f", limit: 1)).entries.first)
    var event = try #require(try await outbox.event(entry))
    #expect(event.content.hasObject("value"))
    #expect(counter.value == 0)
    #expect(event.data["value"] == ["n": 1])
    #expect(counter.value == 1)
    event.data = ["other": 1]
    #expect(event.data["value"] == nil && event.content.object["other"] == 1)
  }
}
