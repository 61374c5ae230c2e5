import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let closing: [Contract<StoreSubject>] = [
    promise("close keeps the write that runs, and refuses those that wait for their turn", when: { _ in true }) {
      subject in
      let store = subject.store
      let inside = Gate()
      let running = Task.detached {
        try await store.write { transaction in
          try await transaction.put([1], for: bytes("running"))
          inside.open()
          // Close has begun when new reads are refused.
          while (try? await store.read { _ in }) != nil { await Task.yield() }
        }
      }
      await inside.wait()
      let began = Guarded<Set<Int>>([])
      let waiting = (0..<8).map { number in
        Task.detached {
          try await store.write { transaction in
            began.withValue { _ = $0.insert(number) }
            try await transaction.put([2], for: key(number))
          }
        }
      }
      for _ in 0..<200 { await Task.yield() }
      // An engine may run bodies side by side; what has begun is not waiting.
      let begunBefore = began.withValue { $0 }
      try await store.close()
      do { _ = try await running.value } catch { throw ContractViolation("the write under way threw \(error)") }
      var kept: [[UInt8]] = []
      for (number, task) in waiting.enumerated() {
        switch await task.result {
        case .success:
          try expect(begunBefore.contains(number), "write \(number) waited for its turn, and was kept by close")
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
