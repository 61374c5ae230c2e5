import Testing
import VestaEventsInterop
import VestaEventsInteropContracts
import VestaEventsInteropFakes
import VestaMemoryStore
import VestaSQLite
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@Suite struct EventsImplementations {
  static let all: [Implementation<EventSourceSubject>] = [
    Implementation("FakeEventSource") {
      let source = FakeEventSource(service: "test")
      return EventSourceSubject(source: source) { changes, fails in
        let drafts = changes.map {
          EventDraft($0.type, scope: $0.scope, path: $0.path, functions: [], payload: Array($0.path.utf8))
        }
        try await source.commit(drafts, fails: fails)
      }
    },
    Implementation("EventOutbox on ModelStore") { outbox(on: ModelStore()) },
    Implementation("EventOutbox on MemoryStore") { outbox(on: MemoryStore()) },
    Implementation("EventOutbox on SQLiteStore") {
      let directory = try TemporaryDirectory("events")
      let store = try await SQLiteStore.open(named: "events", in: directory.path)
      return outbox(on: store, in: directory)
    },
  ]

  @Test(arguments: all)
  func `a source of events keeps every promise`(_ implementation: Implementation<EventSourceSubject>) async {
    await implementation.keeps(EventSourceContracts.all)
  }

  private struct Stop: Error {}

  /// An outbox whose changes are rows of the same store; the directory lives as long as the subject.
  private static func outbox(
    on store: any OrderedStore, in directory: TemporaryDirectory? = nil
  ) -> EventSourceSubject {
    let outbox = EventOutbox(
      service: "test", keys: [9], types: [.documentCreated, .documentDeleted], store: { store },
      data: { ["payload": .string(String(decoding: $0.payload, as: UTF8.self))] })
    return EventSourceSubject(source: outbox) { [directory] changes, fails in
      _ = directory
      try await store.write { transaction in
        for change in changes {
          try await transaction.put([1], for: Array("data/\(change.path)".utf8))
          guard let interest = outbox.interest else { continue }
          let functions = interest.functions(for: change.type, scope: change.scope, path: change.path)
          let draft = EventDraft(
            change.type, scope: change.scope, path: change.path, functions: functions,
            payload: Array(change.path.utf8))
          try await outbox.append([draft], in: transaction)
        }
        if fails { throw Stop() }
      }
      outbox.wake()
    }
  }
}
