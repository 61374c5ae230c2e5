import CVestaStoreFiles
import Foundation
import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// The costs that callers of one store must not cause each other.
  @Suite struct CompanyTests {
    private struct Mine: Error {}

    @Test func `who fills the disk in a shared commit fails alone`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.withTurn { try $0.limitPages(to: 40) }
      let (inside, gate) = (Gate(), Gate())
      let leader = Task.detached {
        try await store.write { transaction in
          try await transaction.put([1], for: key(1))
          inside.open()
          await gate.wait()
        }.version
      }
      await inside.wait()
      let small = Task.detached { try await store.put([2], for: key(2)) }
      while store.waitingWrites < 1 { await Task.yield() }
      let large = Task.detached {
        try await store.write { transaction in
          do {
            for number in 10..<200 { try await transaction.put(value(number, length: 5_000), for: key(number)) }
          } catch is StoreError {
            throw Mine()
          }
        }
      }
      while store.waitingWrites < 2 { await Task.yield() }
      let late = Task.detached { try await store.put([3], for: key(3)) }
      while store.waitingWrites < 3 { await Task.yield() }
      gate.open()
      let versions = [try await leader.value, try await small.value, try await late.value]
      await #expect(throws: Mine.self) { _ = try await large.value }
      #expect(Set(versions).count == 3)
      #expect(try await store.everything().map(\.key) == [1, 2, 3].map(key))
      try await store.close()
    }

    @Test func `a queue that never runs empty forgets those it has served`() {
      var queue = WriteQueue()
      _ = queue.tryToLead()
      let waiter = { WriteQueue.Waiter(request: WriteRequest { _ in }) { _ in } }
      for _ in 0..<300 { _ = queue.enter(waiter()) }
      var largest = 0
      for _ in 0..<20_000 {
        _ = queue.takeNextBody()
        _ = queue.enter(waiter())
        largest = max(largest, queue.storedCount)
      }
      #expect(queue.waitingCount == 300)
      #expect(largest <= 700)
    }

    @Test func `reads inside one body have one reader more than the limit`() async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.readerLimit = 4
      let store = try directory.open(tuning: tuning)
      try await store.put([1], for: [1])
      let most = Locked(0)
      let found = try await store.read { _ in
        try await withThrowingTaskGroup { group in
          for _ in 0..<200 {
            group.addTask {
              try await store.read { reader in
                let value = try await reader.get([1])
                await Task.yield()
                most.withLock { $0 = max($0, store.readers.openCount) }
                return value == [1] ? 1 : 0
              }
            }
          }
          return try await group.reduce(0, +)
        }
      }
      #expect(found == 200)
      #expect(most.withLock { $0 } <= 5)
      try await store.close()
    }

    @Test func `reads nested ten deep in every reader of a full pool all get through`() async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.readerLimit = 3
      let store = try directory.open(tuning: tuning)
      try await store.put([1], for: [1])
      let depths = try await withThrowingTaskGroup { group in
        for _ in 0..<12 { group.addTask { try await Self.nest(store, depth: 10) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(depths == [Int](repeating: 10, count: 12))
      while store.readers.trim() {}
      #expect(store.readers.openCount <= tuning.idleReaders)
      try await store.close()
    }

    private static func nest(_ store: SQLiteStore, depth: Int) async throws -> Int {
      guard depth > 0 else { return 0 }
      return try await store.read { reader in
        _ = try await reader.get([1])
        await Task.yield()
        return try await nest(store, depth: depth - 1) + 1
      }
    }

    @Test func `a few readers have large page caches, the others small ones`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let gate = Gate()
      let tasks = (0..<12).map { _ in
        Task.detached {
          try await store.read { reader in
            _ = try await reader.get([1])
            await gate.wait()
          }
        }
      }
      while store.readers.openCount < 12 { await Task.yield() }
      #expect(store.readers.warmCount == StoreTuning().warmReaders)
      gate.open()
      for task in tasks { try await task.value }
      #expect(store.readers.warmCount == StoreTuning().warmReaders)
      while store.readers.trim() {}
      #expect(store.readers.warmCount == StoreTuning().warmReaders)
      #expect(store.readers.openCount <= StoreTuning().idleReaders)
      try await store.close()
      #expect(store.readers.openCount == 0)
    }

    @Test func `reads wait for an open reader when no more files can be opened`() async throws {
      let directory = try TemporaryDirectory()
      let worker = try WorkerProcess("StoreCrashWorker", "scarce", directory.path, "24", "60")
      let lines = await worker.finish()
      #expect(lines.contains("read 60"), "\(lines)")
      #expect(lines.contains("done"), "\(lines)")
    }

    @Test(arguments: [STORE_FAULT_WRITE, STORE_FAULT_SYNC, STORE_FAULT_INDEX])
    func `a commit that failed does not reappear, whatever failed`(_ operation: Int) async throws {
      defer { store_files_inject(store_fault()) }
      for performs: Int32 in [0, 1] {
        for after: Int32 in 0..<6 {
          let directory = try TemporaryDirectory()
          let store = try directory.open()
          try await store.put([1], for: key(0))
          var fault = store_fault()
          (fault.operations, fault.after, fault.times, fault.performs) = (Int32(operation), after, 1, performs)
          store_files_inject(fault)
          // Several pages, so that there are several writes.
          let error = await code {
            try await store.write { transaction in
              for number in 0..<10 { try await transaction.put(value(number + 1, length: 1_500), for: key(number)) }
            }
          }
          let met = store_files_faults()
          store_files_inject(store_fault())
          let image = try directory.crashImage()
          let recovered = try image.open()
          let kept = try await recovered.value(for: key(0))
          try await recovered.close()
          let what = "operation \(operation), after \(after), performs \(performs): \(String(describing: error))"
          if error == nil { #expect(kept != [1], "lost: \(what)") }
          if met > 0, error != nil, error != .unknownOutcome { #expect(kept == [1], "risen: \(what)") }
          try await store.put([3], for: key(0))
          #expect(try await store.value(for: key(0)) == [3], "\(what)")
          try await store.close()
        }
      }
    }
  }
}
