import Testing
import VestaFirestoreBackend
import VestaFirestoreService
import VestaTesting

struct TransactionStressTests {
  @Test func `every client of one counter has its turn`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("counters/c", ["n": .integer(0)]))
    let attempts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<32 {
        group.addTask { try await increment(engine, times: 5) }
      }
      return try await group.reduce(0, +)
    }
    #expect(try await engine.get("counters/c")?.fields["n"] == .integer(160))
    // Once they have got in each other's way, who reads the document to change it waits for its turn.
    #expect(attempts < 240)
  }

  @Test func `transfers keep the sum`() async throws {
    let engine = makeEngine()
    for account in 0..<6 { try await engine.commit(update("accounts/\(account)", ["n": .integer(100)])) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          var data = SplitMix(seed: UInt64(worker))
          for _ in 0..<10 {
            let from = data.pick([0, 1, 2])
            try await transfer(
              engine, from, data.pick([3, 4, 5]), worker.isMultiple(of: 2) ? .optimistic : .pessimistic)
          }
        }
      }
      group.addTask {
        for _ in 0..<20 {
          let id = try await engine.begin(.readOnly())
          let sum = try await engine.query(.all("accounts"), .transaction(id)).reduce(0) { $0 + number($1) }
          #expect(sum == 600)
        }
      }
      try await group.waitForAll()
    }
    #expect(try await engine.query(.all("accounts")).reduce(0) { $0 + number($1) } == 600)
  }

  private func increment(_ engine: FirestoreEngine, times: Int) async throws -> Int {
    var attempts = 0
    var done = 0
    while done < times {
      attempts += 1
      do {
        let id = try await engine.begin()
        let value = number(try await engine.get("counters/c", .transaction(id)))
        try await engine.commit(update("counters/c", ["n": .integer(value + 1)]), in: id)
        done += 1
      } catch let error as FirestoreServiceError where error.code == .aborted {
        continue
      }
    }
    return attempts
  }

  private func transfer(
    _ engine: FirestoreEngine, _ from: Int, _ to: Int, _ mode: TransactionOptions.ConcurrencyMode
  ) async throws {
    while true {
      do {
        let id = try await engine.begin(.readWrite(concurrency: mode))
        let first = number(try await engine.get("accounts/\(from)", .transaction(id)))
        let second = number(try await engine.get("accounts/\(to)", .transaction(id)))
        try await engine.commit(
          update("accounts/\(from)", ["n": .integer(first - 1)]),
          update("accounts/\(to)", ["n": .integer(second + 1)]), in: id)
        return
      } catch let error as FirestoreServiceError where error.code == .aborted {
        continue
      }
    }
  }

  private func number(_ document: Document?) -> Int64 {
    if case .integer(let number)? = document?.fields["n"] { return number }
    return 0
  }
}
