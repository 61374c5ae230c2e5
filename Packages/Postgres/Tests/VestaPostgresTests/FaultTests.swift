import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

extension OneAtATime {
  /// Connections that are cut and servers that die, in the middle of everything.
  @Suite struct FaultTests {
    /// Writes pairs of keys from some tasks until they are stopped.
    ///
    /// - Returns: The acknowledged pairs, and the pairs that may or may not have been kept.
    private func load(
      _ store: PostgresStore, tasks: Int, until isOver: Locked<Bool>
    ) async throws -> (kept: Set<Int>, unknown: Set<Int>) {
      try await withThrowingTaskGroup(of: (Set<Int>, Set<Int>).self) { group in
        for task in 0..<tasks {
          group.addTask {
            var (kept, unknown): (Set<Int>, Set<Int>) = ([], [])
            var round = 0
            while !isOver.withLock({ $0 }), round < 1_000 {
              let id = task * 1_000 + round
              round += 1
              do {
                try await store.write { transaction in
                  _ = try await transaction.get(key(id * 2))
                  if id % 2 == 0 { _ = try await transaction.commitVersion() }
                  try await transaction.put(number(id), for: key(id * 2))
                  try await transaction.put(number(id), for: key(id * 2 + 1))
                }
                kept.insert(id)
              } catch let error as StoreError where error.code == .unknownOutcome {
                unknown.insert(id)
              } catch let error as StoreError where error.code == .inputOutput {
                continue
              }
            }
            return (kept, unknown)
          }
        }
        return try await group.reduce(into: ([], [])) {
          $0.0.formUnion($1.0)
          $0.1.formUnion($1.1)
        }
      }
    }

    /// Checks that each pair is there as a whole, and all acknowledged pairs are.
    private func check(_ store: PostgresStore, _ kept: Set<Int>, _ unknown: Set<Int>) async throws {
      let entries = try await store.read { try await $0.entries(in: .all) }
      var halves: [Int: Int] = [:]
      for entry in entries { halves[number(in: entry.value), default: 0] += 1 }
      #expect(halves.values.allSatisfy { $0 == 2 })
      #expect(kept.isSubset(of: halves.keys))
      #expect(Set(halves.keys).isSubset(of: kept.union(unknown)), "what was refused is not there")
    }

    @Test func `connections that are cut at any step lose nothing and keep no half`() async throws {
      let store = try await Server.open(Server.newSpace())
      let isOver = Locked(false)
      async let result = load(store, tasks: 6, until: isOver)
      for _ in 0..<25 { try await Server.cutConnections() }
      isOver.withLock { $0 = true }
      let (kept, unknown) = try await result
      #expect(unknown.isEmpty, "a server that is there tells what has become of a commit")
      try await check(store, kept, unknown)
      try await store.close()
    }

    @Test func `a server that is killed and started again has every commit that was acknowledged`() async throws {
      let store = try await Server.open(Server.newSpace())
      let isOver = Locked(false)
      async let result = load(store, tasks: 4, until: isOver)
      for _ in 0..<2 {
        // Something is under way.
        for round in 0..<5 { try await store.put(number(60_000), for: key(0xFFF0 + round * 2)) }
        try Server.control("kill")
        try Server.control("start")
      }
      isOver.withLock { $0 = true }
      let (kept, unknown) = try await result
      try await store.write { try await $0.deleteRange(KeyRange(from: key(0xFFF0), to: nil)) }
      try await check(store, kept, unknown)
      try await store.close()
    }

    @Test func `while the server is away calls end with typed errors, and work again when it is back`() async throws {
      let store = try await Server.open(Server.newSpace()) { $0.patience = .milliseconds(500) }
      try await store.put([1], for: key(1))
      try Server.control("stop")
      let refusals = [
        await #expect(throws: StoreError.self) { try await store.put([2], for: key(2)) },
        await #expect(throws: StoreError.self) { try await store.raiseFloor(to: nil) },
      ]
      #expect(refusals.allSatisfy { $0?.code == .inputOutput })
      try Server.control("start")
      #expect(try await store.get(key(1)) == [1])
      #expect(try await store.get(key(2)) == nil)
      try await store.put([3], for: key(3))
      try await store.close()
    }

    @Test func `a store that is closed while the server is away closes`() async throws {
      let store = try await Server.open(Server.newSpace()) { $0.patience = .milliseconds(500) }
      _ = store.observeCommits { _ in }
      try Server.control("stop")
      try await store.close()
      try Server.control("start")
    }

    @Test func `many bodies that commit at once share commits`() async throws {
      let store = try await Server.open(Server.newSpace())
      let before = store.core.leader.unitCount
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<32 {
          group.addTask {
            for round in 0..<10 { try await store.put(number(round), for: key(task)) }
          }
        }
        try await group.waitForAll()
      }
      #expect(store.core.leader.unitCount - before < 200)
      try await store.close()
    }

    @Test func `a transaction that always meets others succeeds`() async throws {
      let space = Server.newSpace()
      let (store, other) = (try await Server.open(space), try await Server.open(space))
      let isOver = Locked(false)
      let noise = Task {
        var round = 0
        while !isOver.withLock({ $0 }) {
          round += 1
          try await other.put(number(round), for: key(0))
        }
      }
      for _ in 0..<5 {
        try await store.write { transaction in
          let before = number(in: try await transaction.get(key(0)))
          // Long enough for others.
          for _ in 0..<3 { _ = try await transaction.get(key(1)) }
          try await transaction.put(number(before), for: key(2))
        }
      }
      isOver.withLock { $0 = true }
      try await noise.value
      try await store.close()
      try await other.close()
    }
  }
}
