import Testing
import VestaTesting

/// Listeners over sockets with small buffers, while others write: readers that are slow, stop, leave and return.
///
/// At its snapshots each of them has one state of the database, no older than the one before, and no change is given to
/// it twice.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DeliveryStressTests {
  @Test(arguments: UInt64(1)...6) func `listeners end with the documents of the engine`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let world = try await DeliveryWorld(&random)
    async let found = withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<world.listeners {
        let data = SplitMix(seed: seed &* 1_000 &+ UInt64(number))
        group.addTask {
          var listener = DeliveryListener(world, number, data)
          do { try await listener.follow() } catch { Issue.record("seed \(seed), listener \(number): \(error)") }
        }
      }
      try await group.waitForAll()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<world.writers {
        var data = SplitMix(seed: seed &* 2_000 &+ UInt64(writer))
        group.addTask { for _ in 0..<world.commitsOfWriter { try await world.write(&data) } }
      }
      try await group.waitForAll()
    }
    try await world.writeLast()
    try await found
    try await world.endWhileOthersWrite(&random)
    #expect(
      world.faults.entries == [],
      "seed \(seed): \(world.tuning), unread \(world.unreadBytes), stream \(world.streamBytes)")
  }
}
