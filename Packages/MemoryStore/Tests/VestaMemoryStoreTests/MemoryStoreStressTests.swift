import Testing
import VestaConcurrency
import VestaMemoryStore
import VestaStoreInterop
import VestaTesting

/// Many tasks on one store at once; run under Thread Sanitizer too.
@Suite struct MemoryStoreStressTests {
  private struct Unwanted: Error {}

  @Test func `transfers, reads, scans, failures and cancellations at once keep the sum`() async throws {
    let store = MemoryStore()
    let accounts = 200
    try await store.write { transaction in
      for account in 0..<accounts { try await transaction.put(Self.value(100), for: Self.key(account)) }
    }
    let stream = store.commits
    let listener = Task {
      var last = StoreVersion.zero
      for await version in stream {
        #expect(version > last)
        last = version
      }
      return last
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask { try await Self.transfer(on: store, accounts, seed: UInt64(task)) }
        group.addTask { try await Self.checkSums(of: store, accounts) }
      }
      try await group.waitForAll()
    }
    #expect(try await store.read { try await Self.sum(of: $0) } == accounts * 100)
    let version = try await store.read { $0.version }
    try await store.close()
    #expect(await listener.value == version)
  }

  @Test func `observers are added and removed while others commit`() async throws {
    let store = MemoryStore()
    let newest = Locked(StoreVersion.zero)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<150 {
            let version = try await store.put(Self.value(round), for: Self.key(task))
            newest.withLock { $0 = max($0, version) }
          }
        }
        group.addTask {
          for _ in 0..<60 {
            let observation = store.observeCommits { _ in }
            let stream = store.commits
            await Task.yield()
            observation.cancel()
            _ = stream
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.read { $0.version } == newest.withLock { $0 })
    try await store.close()
  }

  @Test func `stores are closed in the middle of everything`() async throws {
    for round in 0..<30 {
      let store = MemoryStore()
      let tasks = (0..<12).map { task in
        Task.detached {
          do {
            for step in 0..<50 {
              try await store.write { try await $0.put(Self.value(step), for: Self.key(task)) }
              _ = try await store.read { try await $0.entries(in: .all) }
            }
          } catch StoreError.Code.closed {}
        }
      }
      for _ in 0..<round { await Task.yield() }
      try await store.close()
      for task in tasks { try await task.value }
      await #expect(throws: StoreError.self) { try await store.read { $0.version } }
    }
  }

  private static func transfer(on store: MemoryStore, _ accounts: Int, seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    for step in 0..<120 {
      let (from, to) = (Int.random(in: 0..<accounts, using: &random), Int.random(in: 0..<accounts, using: &random))
      let task = Task {
        try await store.write { transaction in
          try await transaction.put(value(number(in: try await transaction.get(key(from))) - 1), for: key(from))
          if step % 4 == 0 { await Task.yield() }
          if step % 7 == 0 { throw Unwanted() }
          try await transaction.put(value(number(in: try await transaction.get(key(to))) + 1), for: key(to))
        }
      }
      if step % 5 == 0 { task.cancel() }
      do { _ = try await task.value } catch is Unwanted {} catch is CancellationError {}
    }
  }

  private static func checkSums(of store: MemoryStore, _ accounts: Int) async throws {
    for _ in 0..<60 {
      let (first, second) = try await store.read { reader in
        let first = try await sum(of: reader)
        await Task.yield()
        return (first, try await sum(of: reader))
      }
      #expect(first == accounts * 100)
      #expect(second == first)
    }
  }

  private static func sum(of reader: any StoreReader) async throws -> Int {
    try await reader.entries(in: .all, order: .descending).reduce(0) { $0 + number(in: $1.value) }
  }

  private static func key(_ number: Int) -> [UInt8] { KeyEncoder(.int(Int64(number))).bytes }

  private static func value(_ number: Int) -> [UInt8] { Array(String(number).utf8) }

  private static func number(in value: [UInt8]?) -> Int {
    value.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
  }
}
