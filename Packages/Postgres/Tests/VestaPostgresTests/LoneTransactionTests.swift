import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

extension OneAtATime {
  /// Bodies that have met others too often, and run while no other transaction commits; and bodies that lose their
  /// snapshot.
  @Suite struct LoneTransactionTests {
    private struct Refusal: Error {}

    /// Runs a body that meets a commit of another process each time, until it is run alone.
    ///
    /// - Parameter last: Its action when it is alone.
    private func write(
      _ store: PostgresStore, besides other: PostgresStore,
      _ last: @escaping @Sendable (any StoreTransaction) async throws -> Void
    ) async throws -> StoreCommit<Int> {
      let runs = Locked(0)
      return try await store.write { transaction in
        let run = runs.withLock { count in
          count += 1
          return count
        }
        let before = number(in: try await transaction.get(key(0)))
        if run > 6 {
          try await last(transaction)
        } else {
          try await other.put(number(run), for: key(0))
          try await transaction.put(number(run), for: key(1))
        }
        return before
      }
    }

    @Test func `a body that is run alone has its own version, and its changes only`() async throws {
      let space = Server.newSpace()
      let (store, other) = (try await Server.open(space), try await Server.open(space))
      let commit = try await write(store, besides: other) { try await $0.put([7], for: key(2)) }
      #expect(commit.value == 6)
      let (values, version) = try await other.read { (try await $0.get([key(1), key(2)]), $0.version) }
      #expect(values == [nil, [7]] && version == commit.version)
      try await store.close()
      try await other.close()
    }

    @Test func `a body that is run alone and changes nothing ends with the version that it has read`() async throws {
      let space = Server.newSpace()
      let (store, other) = (try await Server.open(space), try await Server.open(space))
      let commit = try await write(store, besides: other) { _ in }
      let version = try await other.read { $0.version }
      #expect(commit.value == 6 && commit.version == version)
      await #expect(throws: Refusal.self) { try await write(store, besides: other) { _ in throw Refusal() } }
      #expect(try await other.get(key(1)) == nil)
      // The lock is free again.
      try await other.put([8], for: key(3))
      try await store.close()
      try await other.close()
    }

    @Test func `a body that takes too long alone is given up once, and holds no other up for longer`() async throws {
      let space = Server.newSpace()
      let (store, other) = (
        try await Server.open(space) { $0.patience = .milliseconds(900) }, try await Server.open(space)
      )
      let alone = Locked(0)
      let error = await #expect(throws: StoreError.self) {
        try await write(store, besides: other) { transaction in
          alone.withLock { $0 += 1 }
          // It does not even heed its cancellation at once.
          for _ in 0..<20 { try? await Task.sleep(for: .milliseconds(50)) }
          try await transaction.put([9], for: key(2))
        }
      }
      #expect(error?.code == .conflict && error?.hint?.contains("several keys") == true)
      #expect(alone.withLock { $0 } == 1)
      try await other.put([8], for: key(3))
      try await store.put([7], for: key(4))
      #expect(try await other.get(key(2)) == nil)
      try await store.close()
      try await other.close()
    }

    /// Reads until the server has ended the connection, and passes over that.
    private func readUntilItFails(_ reader: any StoreReader) async {
      while (try? await reader.get([key(1)])) != nil {}
    }

    @Test func `a body whose snapshot is cut runs again two times, and has kept nothing before`() async throws {
      let store = try await Server.open(Server.newSpace())
      let runs = Locked(0)
      func write(cuts: Int) async throws {
        runs.withLock { $0 = 0 }
        try await store.write { transaction in
          let run = runs.withLock { count in
            count += 1
            return count
          }
          _ = try await transaction.get(key(0))
          if run <= cuts {
            try await Server.cutConnections()
            await readUntilItFails(transaction)
          }
          try await transaction.put(number(run), for: key(2))
        }
      }
      let error = await #expect(throws: StoreError.self) { try await write(cuts: .max) }
      #expect(error?.code == .inputOutput && runs.withLock { $0 } == 3)
      #expect(try await store.get(key(2)) == nil)
      try await write(cuts: 2)
      #expect(number(in: try await store.get(key(2))) == 3)
      try await store.close()
    }

    @Test func `a read fails whose body passes over the end of its snapshot`() async throws {
      let store = try await Server.open(Server.newSpace())
      let error = await #expect(throws: StoreError.self) {
        try await store.read { reader in
          _ = try await reader.get(key(0))
          try await Server.cutConnections()
          await readUntilItFails(reader)
        }
      }
      #expect(error?.code == .inputOutput)
      try await store.close()
    }
  }
}
