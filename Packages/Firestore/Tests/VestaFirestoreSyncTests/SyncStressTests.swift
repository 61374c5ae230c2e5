import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInteropContracts

@Suite(.timeLimit(.minutes(10)))
struct SyncStressTests {
  @Test(arguments: [false, true])
  func `many threads listen, write, disable the network and leave`(isEmbedded: Bool) async throws {
    let world = World()
    let client = world.client(store: ModelStore(), isEmbedded: isEmbedded)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<25 {
            let received = Received()
            let registration = client.listen(try query("rooms"), options: ListenOptions(includesMetadata: true)) {
              received.receive($0)
            }
            let write = client.write([set("rooms/r\(task)", ["round": .integer(Int64(round))])])
            if round % 5 == 0 { write.whenAcknowledged { _ in } } else { try await write.acknowledged() }
            _ = try await client.cachedDocument(path("rooms/r\(task)"))
            registration.remove()
            // Alone in its collection: an embedded client reads its first results from the engine.
            let alone = client.listen(try query("alone\(task)"), options: ListenOptions()) { _ in }
            if round % 2 == 0 { _ = client.write([set("alone\(task)/a", [:])]) }
            alone.remove()
          }
        }
      }
      group.addTask {
        for _ in 0..<10 {
          await client.setNetworkEnabled(false)
          await client.setNetworkEnabled(true)
        }
      }
      try await group.waitForAll()
    }
    try await client.waitForPendingWrites()
    let documents = try await client.lookup((0..<8).map { path("rooms/r\($0)") })
    #expect(documents.map(\.fields) == Array(repeating: ["round": .integer(24)], count: 8))
    await client.shutdown()
  }
}
