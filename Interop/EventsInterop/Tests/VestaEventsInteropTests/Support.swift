import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaEventsInteropContracts
import VestaStoreInterop
import VestaStoreInteropFakes

struct Stop: Error {}

/// An outbox on the model store.
func makeOutbox(_ store: any OrderedStore = ModelStore(), _ limits: EventOutboxLimits = EventOutboxLimits())
  -> EventOutbox
{
  EventOutbox(
    service: "test", keys: [9], types: [.documentCreated, .documentDeleted], limits: limits, store: { store },
    data: { ["payload": .string(String(decoding: $0.payload, as: UTF8.self))] })
}

/// Commits changes with their events, one `append` for each change.
func commit(
  _ changes: [EventSourceSubject.Change], _ outbox: EventOutbox, _ store: any OrderedStore, fails: Bool = false
) async throws {
  try await store.write { transaction in
    for change in changes {
      try await transaction.put([1], for: Array("data/\(change.path)".utf8))
      guard let interest = outbox.interest else { continue }
      let functions = interest.functions(for: change.type, scope: change.scope, path: change.path)
      let draft = EventDraft(
        change.type, scope: change.scope, path: change.path, functions: functions, payload: Array(change.path.utf8))
      try await outbox.append([draft], in: transaction)
    }
    if fails { throw Stop() }
  }
  if outbox.interest != nil { outbox.wake() }
}

func makeSubject(_ flaw: Flaw? = nil) -> EventSourceSubject {
  let store = ModelStore()
  let outbox = makeOutbox(store)
  let source: any EventSource = flaw.map { FlawedSource(outbox, $0) } ?? outbox
  return EventSourceSubject(source: source) { changes, fails in
    if flaw == .recordsFailedChanges {
      try await VestaEventsInteropTests.commit(changes, outbox, store)
      if fails { throw Stop() }
      return
    }
    try await VestaEventsInteropTests.commit(changes, outbox, store, fails: fails)
  }
}
