import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

extension OneAtATime {
  /// Many callers, few connections, and callers that leave.
  @Suite struct ConcurrencyTests {
    @Test func `a thousand callers share two connections, and each is served`() async throws {
      let store = try await Server.open(Server.newSpace()) {
        $0.url = Server.url + "&application_name=thousand"
        $0.connections = 2
      }
      try await store.put(number(0), for: key(0))
      let served = try await withThrowingTaskGroup(of: Int.self) { group in
        for caller in 0..<1_000 {
          group.addTask {
            if caller % 3 == 0 {
              try await store.write { transaction in
                try await transaction.put(number(number(in: try await transaction.get(key(0))) + 1), for: key(0))
              }
            } else {
              _ = try await store.read { (try await $0.get(key(0)), try await $0.get(key(1))) }
            }
            return 1
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(served == 1_000)
      #expect(number(in: try await store.get(key(0))) == 334)
      let connections = try await Server.run(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'thousand'")
      // Two, the one that commits, and one that a body run by itself may take beyond.
      #expect((connections[0].integer(0, 0) ?? 99) <= 4)
      try await store.close()
    }

    @Test func `a caller that is cancelled at any of its waits leaves nothing behind`() async throws {
      let store = try await Server.open(Server.newSpace()) { $0.connections = 2 }
      var (kept, refused) = (0, 0)
      // A task is cancelled when it has begun for the n-th time to wait: with n from 1 on, at each of them.
      for round in 0..<120 {
        let steps = Locked(round % 12)
        let task = Locked<Task<Void, any Error>?>(nil)
        let started = Gate()
        let stepping = { @Sendable in
          let isNow = steps.withLock { left in
            left -= 1
            return left == 0
          }
          if isNow { task.withLock { $0 }?.cancel() }
        }
        let call = Task {
          await started.wait()
          stepping()
          try await store.write { transaction in
            stepping()
            let count = number(in: try await transaction.get(key(0)))
            stepping()
            _ = try await transaction.entries(in: KeyRange(from: key(1), to: key(9)))
            stepping()
            try await transaction.put(number(count + 1), for: key(0))
            stepping()
            _ = try await transaction.commitVersion()
            stepping()
            try await transaction.put(number(count + 1), for: key(1))
            stepping()
          }
          stepping()
          _ = try await store.read { reader in
            stepping()
            let value = try await reader.get(key(0))
            stepping()
            return value
          }
        }
        task.withLock { $0 = call }
        if round % 12 == 11 { call.cancel() }
        started.open()
        do {
          try await call.value
          kept += 1
        } catch is CancellationError {
          refused += 1
        }
        let values = try await store.get([key(0), key(1)])
        #expect(values[0] == values[1], "round \(round)")
      }
      #expect(kept > 0 && refused > 60)
      // Every place has been given back.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 { group.addTask { _ = try await store.get(key(0)) } }
        try await group.waitForAll()
      }
      try await store.close()
    }

    @Test func `callers that are cancelled while they wait for a connection leave the line`() async throws {
      let store = try await Server.open(Server.newSpace()) { $0.connections = 1 }
      let (isIn, gate) = (Gate(), Gate())
      let holder = Task {
        try await store.read { _ in
          isIn.open()
          await gate.wait()
        }
      }
      await isIn.wait()
      let waiters = (0..<50).map { _ in Task { try await store.get(key(0)) } }
      for waiter in waiters.prefix(49) { waiter.cancel() }
      for waiter in waiters.prefix(49) { await #expect(throws: CancellationError.self) { try await waiter.value } }
      gate.open()
      try await holder.value
      #expect(try await waiters[49].value == nil)
      try await store.close()
    }
  }
}
