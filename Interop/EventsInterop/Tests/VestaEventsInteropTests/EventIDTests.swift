import Testing
import VestaEventsInterop
import VestaStoreInteropFakes
import VestaTesting

/// The ids of the events of one commit.
@Suite struct EventIDTests {
  /// The ids by path, in the queues of all functions.
  private func ids(_ outbox: EventOutbox, _ functions: Set<String>) async throws -> [String: Set<String>] {
    var ids: [String: Set<String>] = [:]
    for function in functions {
      for entry in try await outbox.events(EventPageRequest(function: function, limit: 100)).entries {
        let event = try #require(try await outbox.event(entry))
        ids[event.path, default: []].insert(event.id)
      }
    }
    return ids
  }

  @Test(arguments: ["once", "in pairs", "one by one"])
  func `an event has one id for all functions, and no other event of the commit has it`(records: String) async throws {
    var random = SplitMix(seed: 7)
    for round in 0..<20 {
      let (store, functions) = (ModelStore(), ["f", "g", "h"])
      let outbox = makeOutbox(store)
      outbox.subscribe(functions.map { EventSubscription(function: $0, types: [.documentCreated]) })
      let drafts = (0..<(2 + random.below(5))).map { number in
        let own = functions.filter { _ in random.oneIn(2) }
        return EventDraft(
          .documentCreated, path: "a/\(number)", functions: own.isEmpty ? ["h"] : own, payload: [UInt8(number)])
      }
      _ = try await store.write { transaction in
        guard records != "once" else { return try await outbox.append(drafts, in: transaction, isOnly: true) }
        let size = records == "one by one" ? 1 : 2
        for start in stride(from: 0, to: drafts.count, by: size) {
          try await outbox.append(Array(drafts[start..<min(start + size, drafts.count)]), in: transaction)
        }
      }
      let ids = try await ids(outbox, Set(functions))
      #expect(ids.count == drafts.count)
      #expect(ids.values.allSatisfy { $0.count == 1 }, "round \(round): \(ids)")
      #expect(Set(ids.values.flatMap { $0 }).count == drafts.count, "round \(round): \(ids)")
    }
  }
}
