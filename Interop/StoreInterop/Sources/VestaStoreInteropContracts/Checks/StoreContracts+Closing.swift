import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let closing: [Contract<StoreSubject>] = [
    promise("close keeps the write that runs, and refuses those that wait for their turn", when: { _ in true }) {
      subject in
      let store = subject.store
      let inside = Gate()
      let began = Guarded<Set<Int>>([])
      let running = Task.detached {
        try await store.write { transaction in
          try await transaction.put([1], for: bytes("running"))
          inside.open()
          // Close has begun when new reads are refused.
          while (try? await store.read { _ in }) != nil { await Task.yield() }
          return began.withValue { $0 }
        }
      }
      await inside.wait()
      let waiting = (0..<8).map { number in
        Task.detached {
          try await store.write { transaction in
            began.withValue { _ = $0.insert(number) }
            try await transaction.put([2], for: key(number))
          }
        }
      }
      // An engine that runs bodies side by side is given the time to begin all; one that does not begins none.
      let clock = ContinuousClock()
      let patience = clock.now + .seconds(1)
      while began.withValue({ $0.count }) < waiting.count, clock.now < patience { await Task.yield() }
      try await store.close()
      let begunBeside: Set<Int>
      do {
        begunBeside = try await running.value.value
      } catch {
        throw ContractViolation("the write under way threw \(error)")
      }
      var kept: [[UInt8]] = []
      for (number, task) in waiting.enumerated() {
        switch await task.result {
        case .success:
          // Where bodies run side by side none waits for a turn, and this one may have begun before `close`.
          try expect(!begunBeside.isEmpty, "write \(number) waited for its turn, and was kept by close")
          kept.append(key(number))
        case .failure(let error):
          guard case StoreError.Code.closed = error else { throw ContractViolation("a waiting write threw \(error)") }
        }
      }
      guard let reopen = subject.reopen else { return }
      let again = try await reopen()
      let found = try await again.everything().map(\.key)
      try await again.close()
      try expect(found, equals: kept + [bytes("running")], "keys")
    }
  ]
}
