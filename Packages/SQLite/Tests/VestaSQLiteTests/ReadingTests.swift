import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  @Suite struct ReadingTests {
    @Test func `a reader answers in place, and a transaction is not read in pieces`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.read { #expect($0.answersInPlace) }
      try await store.write { #expect(!$0.answersInPlace) }
      try await store.close()
    }

    @Test func `values on both sides of the limit are kept and replaced by each other`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      var expected: [StoreEntry] = []
      for (number, lengths) in [[10, 5_000], [5_000, 10], [1_995, 1_996, 1_997], [0, 2_000, 0], [300_000, 2_001]]
        .enumerated()
      {
        for length in lengths { try await store.put(value(length, length: length), for: key(number)) }
        expected.append(StoreEntry(key: key(number), value: value(lengths.last ?? 0, length: lengths.last ?? 0)))
      }
      let entries = try await store.everything()
      #expect(entries == expected)
      let reversed = try await store.read { try await $0.entries(in: .all, order: .descending) }
      #expect(reversed == expected.reversed())
      try await store.write { try await $0.deleteRange(KeyRange(from: key(2), to: key(4))) }
      try await store.write { try await $0.delete(key(4)) }
      let problems = try await store.checkIntegrity()
      #expect(problems == [])
      let left = try await store.everything()
      #expect(left == Array(expected.prefix(2)))
      try await store.close()
    }

    @Test func `a full pool makes readers wait and nested ones not`() async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.readerLimit = 2
      let store = try directory.open(tuning: tuning)
      try await store.put([1], for: [1])
      let (gate, inside) = (Gate(), (Gate(), Gate()))
      let holders = [inside.0, inside.1].map { inside in
        Task.detached {
          try await store.read { _ in
            inside.open()
            await gate.wait()
            // The pool is exhausted; this one exceeds it.
            return try await store.value(for: [1])
          }
        }
      }
      await inside.0.wait()
      await inside.1.wait()
      let cancelled = Task.detached { try await store.value(for: [1]) }
      while store.readers.waitingCount < 1 { await Task.yield() }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      let waiting = Task.detached { try await store.value(for: [1]) }
      while store.readers.waitingCount < 1 { await Task.yield() }
      gate.open()
      for task in holders + [waiting] { #expect(try await task.value == [1]) }
      try await store.close()
    }

    @Test func `many readers at once are kept for the next ones, and all but a few close when they are not needed`()
      async throws
    {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.readerTrimInterval = .seconds(3_600)
      let store = try directory.open(tuning: tuning)
      try await store.put([1], for: [1])
      let gate = Gate()
      let count = Locked(0)
      let tasks = (0..<40).map { _ in
        Task.detached {
          try await store.read { reader in
            _ = try await reader.get([1])
            count.withLock { $0 += 1 }
            await gate.wait()
          }
        }
      }
      while count.withLock({ $0 }) < 40 { await Task.yield() }
      #expect(store.readers.openCount == 40)
      gate.open()
      for task in tasks { try await task.value }
      #expect(store.readers.openCount == 40)
      store.readers.trim()
      // The later of them were in use since the first was returned.
      #expect(store.readers.openCount > tuning.idleReaders)
      #expect(!store.readers.trim())
      #expect(store.readers.openCount == tuning.idleReaders)
      try await store.close()
      #expect(store.readers.openCount == 0)
    }

    @Test func `a body that throws gives its reader back`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      for _ in 0..<5 {
        await #expect(throws: Failure.self) {
          try await store.read { reader in
            _ = try await reader.get([1])
            throw Failure()
          }
        }
      }
      #expect(store.readers.openCount == 1)
      try await store.close()
    }

    @Test func `closing inside a body is nested`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let error = await code { try await store.read { _ in try await store.close() } }
      #expect(error == .nested)
      try await store.close()
    }

    @Test func `an error names the place and no keys or values`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let secret = Array(repeating: UInt8(ascii: "s"), count: StoreLimits.maximumKeyLength + 1)
      let error = await #expect(throws: StoreError.self) { try await store.put([1], for: secret) }
      #expect(error?.code == .keyTooLong)
      #expect(error?.path == directory.database)
      #expect(error?.description.contains("ssss") == false)
      try await store.close()
    }
  }
}
