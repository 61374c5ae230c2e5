import CVestaStoreFiles
import Testing
import VestaStoreInterop
import VestaStoreInteropContracts
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// Operations that make room work on a full disk, and everything continues when there is room.
  @Suite struct FullDiskTests {
    private func big(_ number: Int, _ round: Int = 0) -> [UInt8] { value(number &+ round &* 7919, length: 1_500) }

    /// Puts values until the disk is full; returns how many were taken.
    private func fill(_ store: SQLiteStore, room: Int64) async throws -> Int {
      store_files_limit_room(room)
      var (count, refusals) = (0, 0)
      while refusals < 5 {
        do {
          try await store.put(big(count), for: key(count))
          (count, refusals) = (count + 1, 0)
        } catch StoreError.Code.diskFull {
          refusals += 1
        }
      }
      return count
    }

    private func check(_ directory: TemporaryDirectory, _ keys: [Int]) async throws {
      let store = try directory.open()
      #expect(try await store.everything().map(\.key) == keys.map { key($0) })
      #expect(try await store.checkIntegrity().isEmpty)
      try await store.close()
    }

    @Test(arguments: [1 << 20, 4 << 20])
    func `every entry can be deleted on a full disk, and puts find room then`(_ room: Int64) async throws {
      defer { store_files_limit_room(-1) }
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let count = try await fill(store, room: room)
      #expect(count > 20)
      // Without a transaction that makes room there is none.
      #expect(await code { try await store.put(big(count), for: key(count)) } == .diskFull)
      for number in 0..<count { try await store.delete(key(number)) }
      #expect(try await store.everything().isEmpty)
      // Deleted rows make room for new ones.
      for round in 1..<4 {
        for number in 0..<count / 2 { try await store.put(big(number, round), for: key(number)) }
      }
      #expect(try await store.get(key(1)) == big(1, 3))
      store_files_limit_room(-1)
      let image = try directory.crashImage()
      try await store.close()
      for place in [image, directory] { try await check(place, Array(0..<count / 2)) }
    }

    @Test(arguments: StoreContracts.fullDisk)
    func `SQLite keeps the promises for full disks`(_ contract: Contract<StoreSubject>) async throws {
      defer { store_files_limit_room(-1) }
      let directory = try TemporaryDirectory()
      let outcomes = await [contract].run {
        StoreSubject(store: try directory.open(), setFull: { store_files_limit_room($0 ? 0 : -1) })
      }
      for outcome in outcomes { #expect(outcome.isKept, "\(outcome)") }
    }

    @Test func `a transaction that says so may note what it deletes`() async throws {
      defer { store_files_limit_room(-1) }
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let count = try await fill(store, room: 2 << 20)
      for number in 0..<count {
        try await store.write { transaction in
          transaction.freesRoom()
          try await transaction.delete(key(number))
          try await transaction.put(key(number), for: key(1_000_000 + number))
        }
      }
      #expect(try await store.everything().map(\.value) == (0..<count).map { key($0) })
      try await store.close()
    }

    @Test func `concurrent deletions all succeed, next to refused puts`() async throws {
      defer { store_files_limit_room(-1) }
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let count = try await fill(store, room: 2 << 20)
      try await withThrowingTaskGroup { group in
        for task in 0..<8 {
          group.addTask {
            for number in stride(from: task, to: count, by: 8) { try await store.delete(key(number)) }
          }
          group.addTask {
            for number in 0..<20 { _ = try? await store.put(big(number), for: key(2_000_000 + task * 100 + number)) }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await store.everything().allSatisfy { !$0.key.lexicographicallyPrecedes(key(2_000_000)) })
      try await store.close()
    }

    @Test func `a store is opened on a full disk, and its entries deleted`() async throws {
      defer { store_files_limit_room(-1) }
      let directory = try TemporaryDirectory()
      var store = try directory.open()
      let count = try await fill(store, room: 2 << 20)
      store_files_limit_room(-1)
      try await store.close()
      store_files_limit_room(0)
      store = try directory.open()
      #expect(try await store.get(key(0)) == big(0))
      #expect(await code { try await store.put(big(count), for: key(count)) } == .diskFull)
      for number in 0..<count - 1 { try await store.delete(key(number)) }
      #expect(try await store.everything().map(\.key) == [key(count - 1)])
      // Everything continues by itself once there is room.
      store_files_limit_room(-1)
      try await store.put([1], for: key(count))
      #expect(store.writer.reserve.bytes < StoreTuning().reserveBytes)
      try await Task.sleep(for: .seconds(1.1))
      try await store.put([2], for: key(count))
      #expect(store.writer.reserve.bytes == StoreTuning().reserveBytes)
      try await store.close()
    }

    @Test func `a reader of an old version holds deletes up for a moment and not for good`() async throws {
      defer { store_files_limit_room(-1) }
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let count = try await fill(store, room: 2 << 20)
      let (inside, leaves) = (Gate(), Gate())
      let reader = Task {
        try await store.read { reader in
          _ = try await reader.get(key(0))
          inside.open()
          await leaves.wait()
          return try await reader.get(key(count - 1))
        }
      }
      await inside.wait()
      // The reserve has room for these although the log cannot start over.
      for number in 0..<10 { try await store.delete(key(number)) }
      leaves.open()
      #expect(try await reader.value == big(count - 1))
      for number in 10..<count { try await store.delete(key(number)) }
      #expect(try await store.everything().isEmpty)
      try await store.close()
    }
  }
}
