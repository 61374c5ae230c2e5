import Testing
import VestaBytes
import VestaEngineInterop
import VestaEventsInterop
import VestaFirestoreBackend
import VestaStoreInterop
import VestaStoreInteropFakes

@testable import VestaFirestoreService

/// The data of the events of documents.
@Suite struct DocumentEventTests {
  private let store = ModelStore()

  /// Records events with rows before and after, and reads them.
  private func outcomes(_ rows: [(before: [UInt8]?, after: [UInt8]?)]) async throws -> [Result<Event, any Error>] {
    let store = store
    let outbox = EventOutbox(
      service: "firestore.googleapis.com", keys: [9], types: DocumentEvents.offer.types, store: { store },
      data: DocumentEvents.offer.data)
    let drafts = try rows.enumerated().map { number, row in
      EventDraft(
        .documentUpdated, scope: "(default)", path: "a/\(number)", functions: ["f"],
        payload: try ChangedRows(project: "p", before: row.before, after: row.after).fieldBytes())
    }
    _ = try await store.write { try await outbox.append(drafts, in: $0) }
    var outcomes: [Result<Event, any Error>] = []
    for entry in try await outbox.events(EventPageRequest(function: "f", limit: 100)).entries {
      do {
        if let event = try await outbox.event(entry) { outcomes.append(.success(event)) }
      } catch {
        outcomes.append(.failure(error))
      }
    }
    return outcomes
  }

  private func row(_ number: Int64) -> [UInt8] {
    DocumentRow(created: 1_000_000, updated: 2_000_000, fields: ["n": .integer(number)]).bytes
  }

  @Test func `an event knows which documents it has, and has the ones that it knows`() async throws {
    let events = try await outcomes([(nil, row(1)), (row(1), row(2)), (row(2), nil)]).map { try $0.get() }
    #expect(events.count == 3)
    for (event, names) in zip(events, [["value"], ["value", "oldValue"], ["oldValue"]]) {
      for name in ["value", "oldValue"] {
        #expect(event.content.hasObject(name) == names.contains(name))
        #expect((event.data[name]?.object != nil) == names.contains(name))
      }
    }
    let document = try #require(events[1].data["oldValue"]?.object)
    #expect(document["name"] == "projects/p/databases/(default)/documents/a/1")
    #expect(document["fields"] == ["n": ["integerValue": "1"]])
    #expect(document["createTime"] == "1970-01-01T00:00:01Z")
    #expect(document["updateTime"] == "1970-01-01T00:00:02Z")
  }

  @Test func `damage is found when the event is read, and not when a function asks for the document`() async throws {
    let outcomes = try await outcomes([(row(1), Array(row(2).dropLast())), ([1, 2], row(2)), (row(1), row(2))])
    #expect(outcomes.count == 3)
    for outcome in outcomes.prefix(2) { #expect(throws: EventDamaged.self) { try outcome.get() } }
    #expect(throws: Never.self) { try outcomes[2].get() }
  }
}
