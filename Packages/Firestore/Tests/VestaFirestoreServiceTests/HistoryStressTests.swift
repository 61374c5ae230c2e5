import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreService
import VestaStoreInteropFakes
import VestaTesting

struct HistoryStressTests {
  /// Transactions that take turns in a random order, which the seed gives again.
  @Test(arguments: UInt64(71)...78)
  func `optimistic transactions are serial`(seed: UInt64) async throws {
    try await expectSerialTurns(of: makeEngine { $0.tuning = .random(seed: seed) }, seed)
  }

  /// The same with the calls spread over two engines on one store.
  @Test(arguments: UInt64(171)...173)
  func `optimistic transactions over two engines are serial`(seed: UInt64) async throws {
    try await expectSerialTurns(of: SpreadBackend(twoStandingEngines(seed), seed: seed), seed)
  }

  private func expectSerialTurns(of engine: some FirestoreBackend, _ seed: UInt64) async throws {
    let subject = FirestoreSubject(engine)
    let (history, aborted) = try await subject.transactionsInTurns(seed: seed)
    try await subject.expectSerial(history)
    // Without conflicts nothing has been shown.
    #expect(aborted > 10, "seed \(seed)")
  }

  /// Transactions of all kinds in separate tasks; transactions with locks wait for each other.
  @Test(arguments: UInt64(81)...84)
  func `transactions of all kinds are serial`(seed: UInt64) async throws {
    try await expectSerialTasks(on: makeEngine { $0.tuning = .random(seed: seed) }, seed)
  }

  /// The same with the calls spread over two engines, between which no call waits for locks.
  @Test(arguments: UInt64(181)...182)
  func `transactions of all kinds over two engines are serial`(seed: UInt64) async throws {
    try await expectSerialTasks(on: SpreadBackend(twoStandingEngines(seed), seed: seed), seed)
  }

  private func expectSerialTasks(on engine: some FirestoreBackend, _ seed: UInt64) async throws {
    let subject = FirestoreSubject(engine)
    let history = try await subject.transactionsAtOnce(seed: seed)
    try await subject.expectSerial(history)
    #expect(history.transactions.count > 60, "seed \(seed)")
  }

  /// Two engines whose clock does not move, so that no transaction expires on a busy machine; with sizes of the seed.
  private func twoStandingEngines(_ seed: UInt64) -> [FirestoreEngine] {
    let clock = ManualClock()
    return twoEngines(on: ModelStore(clock: clock.ofStore), clock) { $0.tuning = .random(seed: seed) }
  }

  @Test func `every optimistic client of one counter succeeds`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("counters/c", ["n": .integer(0)]))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<32 {
        group.addTask {
          while true {
            let id = try await engine.begin(.readWrite(concurrency: .optimistic))
            guard case .integer(let number)? = try await engine.get("counters/c", .transaction(id))?.fields["n"] else {
              return
            }
            do {
              try await engine.commit(update("counters/c", ["n": .integer(number + 1)]), in: id)
              return
            } catch let error as FirestoreServiceError where error.code == .aborted {
              continue
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await engine.get("counters/c")?.fields["n"] == .integer(32))
  }
}
