import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// The tables of a client that runs for long: they have what is listened to and waited for, and nothing that was.
@Suite(.timeLimit(.minutes(10)))
struct ClientGrowthTests {
  /// The number of entries of each table that is not empty.
  private static func entries(of client: SyncClient) -> [String: Int] {
    let withoutRows = client.commits.count
    let entries = client.state.withLock { state -> [String: Int] in
      var entries = [
        "events that wait": state.waiting.count, "listeners": state.listeners.count,
        "listeners of the sync": state.syncListeners.count, "callbacks": state.callbacks.count,
      ]
      guard let machine = state.machine else { return entries }
      let core = machine.core
      entries["views"] = core.views.entries.count
      entries["queries by target"] = core.views.queries.count
      entries["unsettled views"] = core.views.unsettled.count
      entries["targets"] = machine.watch.targets.count
      entries["limbo"] = core.limbo.counts.active + core.limbo.counts.targets
      entries["callbacks of writes"] = core.callers.counts.batches
      entries["callbacks of pending writes"] = core.callers.counts.waiting
      entries["pipeline"] = machine.writes.pipeline.count
      entries["batches"] = machine.local.queue.batches.count
      return entries
    }
    return entries.merging(["writes without rows": withoutRows]) { $1 }.filter { $0.value > 0 }
  }

  @Test(arguments: [false, true])
  func `listeners, calls and writes that have ended leave nothing in a client`(isEmbedded: Bool) async throws {
    let client = World().client(isEmbedded: isEmbedded)
    for round in 0..<20 {
      var registrations: [ListenerRegistration] = []
      for number in 0..<4 {
        let received = Received(keepsAll: false)
        let filter = Filter.field(path: "n", .greaterThan, .integer(Int64(round * 4 + number)))
        let options = ListenOptions(includesMetadata: true)
        registrations.append(client.listen(try query("rooms", [filter]), options: options) { received.receive($0) })
        _ = try await received.first { !$0.isFromCache }
      }
      try await client.write([set("rooms/r\(round)", ["n": .integer(Int64(round))])]).acknowledged()
      _ = try await client.lookup([path("rooms/r\(round)")])
      #expect(client.state.withLock { $0.listeners.count } == 4)
      for registration in registrations { registration.remove() }
      // Acknowledged after everything before it, so that nothing of the round is still under way.
      try await client.write([set("halls/h", [:])]).acknowledged()
      #expect(Self.entries(of: client) == [:], "round \(round)")
    }
    await client.shutdown()
  }

  @Test func `writes that were refused leave nothing in a client`() async throws {
    let client = World().client()
    let patch = Mutation(
      path("rooms/a"), .patch(["n": .integer(1)], mask: FieldMask([FieldPath(["n"])])), precondition: .exists(true))
    for _ in 0..<50 {
      await #expect(throws: FirestoreServiceError.self) { try await client.write([patch]).acknowledged() }
    }
    #expect(Self.entries(of: client) == [:])
    await client.shutdown()
  }
}
