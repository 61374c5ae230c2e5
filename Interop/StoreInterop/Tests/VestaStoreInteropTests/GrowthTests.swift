import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaStoreInterop

/// Calls that have ended leave nothing in the tables that stores share.
@Suite struct GrowthTests {
  private struct Refused: Error {}

  @Test(.timeLimit(.minutes(5))) func `callers that leave while they wait for a version are forgotten`() async throws {
    let versions = StoreVersions(above: .zero, clock: .system)
    let pending = versions.next()
    for round in 0..<200 {
      let task = Task { try await versions.raise(to: pending) }
      while versions.waitingCount == 0 { await Task.yield() }
      task.cancel()
      await #expect(throws: CancellationError.self, "round \(round)") { try await task.value }
      #expect(versions.waitingCount == 0)
    }
    let tasks = (0..<20).map { _ in Task { try await versions.raise(to: pending) } }
    while versions.waitingCount < 20 { await Task.yield() }
    versions.settle()
    for task in tasks { #expect(try await task.value == pending) }
    #expect(versions.waitingCount == 0)
  }

  @Test(.timeLimit(.minutes(5))) func `a transaction that has waited for another store is forgotten`() async throws {
    let (first, second) = (StoreBodies(), StoreBodies())
    let before = StoreBodies.waitingTransactions
    for round in 0..<500 {
      await first.run(.write) {
        await #expect(throws: Refused.self, "round \(round)") {
          try await second.whileWaiting("write") { () async throws -> Void in throw Refused() }
        }
        _ = try? await second.whileWaiting("write") {
          #expect(StoreBodies.waitingTransactions > 0)
        }
      }
    }
    // Concurrent tests may have transactions that wait, but not hundreds.
    #expect(StoreBodies.waitingTransactions < before + 100)
  }
}
