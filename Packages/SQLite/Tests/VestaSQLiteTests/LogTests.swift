import Foundation
import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// The write-ahead log: its header, its bound, and what is in it only.
  @Suite struct LogTests {
    /// A log header with its sums, as the file format describes them; sums are made over words in either byte order.
    private func header(bigEndian: Bool, seed: UInt64) -> [UInt8] {
      var random = SplitMix(seed: seed)
      let bytes = { (number: UInt32, big: Bool) -> [UInt8] in
        let parts = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        return big ? parts : parts.reversed()
      }
      var header = bytes(bigEndian ? 0x377F_0683 : 0x377F_0682, true) + bytes(3_007_000, true) + bytes(8_192, true)
      for _ in 0..<3 { header += bytes(UInt32(truncatingIfNeeded: random.next()), true) }
      var (first, second): (UInt32, UInt32) = (0, 0)
      for pair in stride(from: 0, to: 24, by: 8) {
        let words = [pair, pair + 4].map { at in
          let four = Array(header[at..<at + 4])
          return (bigEndian ? four : four.reversed()).reduce(UInt32(0)) { $0 &* 256 &+ UInt32($1) }
        }
        first = first &+ words[0] &+ second
        second = second &+ words[1] &+ first
      }
      return header + bytes(first, true) + bytes(second, true)
    }

    @Test(arguments: [true, false])
    func `a header is sound in either byte order, and each flipped bit of it is damage`(_ bigEndian: Bool) {
      for seed in UInt64(0)..<8 {
        let sound = header(bigEndian: bigEndian, seed: seed)
        #expect(LogHeader(sound) == .sound)
        for bit in 0..<256 {
          var bytes = sound
          bytes[bit / 8] ^= 1 << (bit % 8)
          #expect(LogHeader(bytes) == .damaged, "seed \(seed), bit \(bit)")
        }
      }
    }

    @Test func `what a savepoint keeps for its undoing stays in memory, also after a compaction`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open(.relaxed)
      func isInMemory() async throws -> Bool {
        let answer = Locked(false)
        try await store.withTurn { writer in
          let keeps = try writer.keepsInMemory()
          answer.withLock { $0 = keeps }
        }
        return answer.withLock { $0 }
      }
      #expect(try await isInMemory())
      try await store.put([1], for: [1])
      try await store.compact()
      #expect(try await isInMemory())
      try await store.close()
    }

    /// Such pages are written twice, and the sums of all frames behind them are made again at the end.
    @Test(arguments: [StoreDurability.full, .relaxed])
    func `a transaction whose pages left the cache and changed again is there after a kill`(
      _ durability: StoreDurability
    ) async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.writerCacheKilobytes = 100
      let store = try directory.open(durability, tuning: tuning)
      try await store.put([0], for: key(999))
      try await store.write { transaction in
        for round in UInt8(1)...2 {
          for number in 0..<120 {
            try await transaction.put([UInt8](repeating: round, count: 1_500), for: key(number))
          }
        }
      }
      let image = try directory.crashImage()
      try await store.close()
      let again = try image.open(durability)
      let values = try await again.read { try await $0.get((0..<120).map { key($0) }) }
      #expect(values.allSatisfy { $0 == [UInt8](repeating: 2, count: 1_500) })
      try await again.close()
    }

    /// The lengths of the log's file after each of a number of commits to a fresh store, and the size of its frames.
    private func lengths(
      of commits: Int, each length: Int, _ store: SQLiteStore, _ directory: TemporaryDirectory
    ) async throws -> [(file: Int, frames: Int)] {
      var lengths: [(file: Int, frames: Int)] = []
      for number in 0..<commits {
        try await store.put(value(number, length: length), for: key(number))
        let frames = 32 + (try await store.logPages()) * (8_192 + 24)
        lengths.append((try Platform.size(of: directory.database + "-wal"), frames))
      }
      return lengths
    }

    /// A sync of a file that has become longer takes three times as long.
    @Test func `few of many commits make the log longer, and what is behind its frames is bounded`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let lengths = try await lengths(of: 300, each: 20_000, store, directory)
      #expect((5_000_000...15_000_000).contains(lengths.last?.frames ?? 0))
      #expect(Set(lengths.map(\.file)).count < 60, "\(lengths.map(\.file))")
      for (file, frames) in lengths {
        #expect(file >= frames && file <= frames + min(frames / 4, 262_144) + 65_536)
      }
      try await store.close()
    }

    @Test func `a log that is not synced has no room behind its frames`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open(.relaxed)
      let lengths = try await lengths(of: 40, each: 20_000, store, directory)
      #expect(lengths.allSatisfy { $0.file == $0.frames })
      try await store.close()
    }

    @Test func `after the log was cut it gets room again`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      _ = try await lengths(of: 20, each: 20_000, store, directory)
      // Ends with a log of no length.
      try await store.compact()
      #expect(try Platform.size(of: directory.database + "-wal") == 0)
      let lengths = try await lengths(of: 50, each: 20_000, store, directory)
      #expect(Set(lengths.map(\.file)).count < 15, "\(lengths.map(\.file))")
      try await store.close()
    }

    @Test func `a log that still has room after a kill gets no more of it`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: [1])
      let image = try directory.crashImage()
      try await store.close()
      let again = try image.open()
      let length = try Platform.size(of: image.database + "-wal")
      for number in UInt8(2)..<5 { try await again.put([number], for: [number]) }
      #expect(try Platform.size(of: image.database + "-wal") == length)
      try await again.close()
    }

    @Test func `what is committed is there after a kill, wherever the room behind the log begins`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      for number in 0..<20 {
        try await store.put(value(number, length: 3_000), for: key(number))
        let image = try directory.crashImage()
        let again = try image.open()
        let entries = try await again.everything()
        #expect(entries == (0...number).map { StoreEntry(key: key($0), value: value($0, length: 3_000)) })
        try await again.put([1], for: [9])
        try await again.close()
      }
      try await store.close()
    }

    @Test func `a writer at the limit of the log waits for the reader that holds it`() async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      (tuning.checkpointPages, tuning.logLimit, tuning.logPatience) = (10, 40, .seconds(600))
      let store = try directory.open(.relaxed, tuning: tuning)
      try await store.put([1], for: key(0))
      let limit = tuning.logLimit * 8_192
      let (holds, inside) = (Locked(true), Gate())
      let reader = Task.detached {
        try await store.read { reader in
          _ = try await reader.get(key(0))
          inside.open()
          // Until the log has reached its limit; the writer can only be waiting then, or be in the commit before.
          while try Platform.size(of: directory.database + "-wal") < limit { await Task.yield() }
          holds.withLock { $0 = false }
        }
      }
      await inside.wait()
      var longest = 0
      for number in 0..<300 {
        try await store.put(value(number, length: 1_500), for: key(number % 20))
        let pages = try await store.logPages()
        longest = max(longest, pages)
        if pages >= tuning.logLimit { #expect(!holds.withLock { $0 }) }
      }
      try await reader.value
      // A commit has a page of the entry's leaf, one or two above it, and the one of the version.
      #expect((tuning.logLimit...tuning.logLimit + 8).contains(longest))
      try await store.close()
    }

    @Test func `a later version that is noted in the log only is noticed`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: [1])
      let later = try Connection(path: directory.database, operation: "test")
      try later.execute("PRAGMA user_version = 4", operation: "test")
      let crashed = try directory.crashImage()
      later.close()
      #expect(await code { _ = try crashed.open() } == .newerSchema)
      try await store.close()
    }

    @Test func `a compaction that waits for its turn ends when it is cancelled`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let (inside, gate) = (Gate(), Gate())
      let holder = Task.detached {
        try await store.write { transaction in
          try await transaction.put([1], for: [1])
          inside.open()
          await gate.wait()
        }
      }
      await inside.wait()
      let compaction = Task.detached { try await store.compact() }
      while store.waitingWrites < 1 { await Task.yield() }
      compaction.cancel()
      // The holder still has the turn.
      await #expect(throws: CancellationError.self) { try await compaction.value }
      #expect(store.waitingWrites == 0)
      gate.open()
      _ = try await holder.value
      try await store.close()
    }

    @Test func `a check of the whole file ends when its request is cancelled`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open(.relaxed)
      try await store.write { transaction in
        for number in 0..<20_000 { try await transaction.put([1], for: key(number)) }
      }
      try await store.close()
      let cancelled = WriteRequest { _ in }
      cancelled.cancel()
      let connection = try Connection(path: directory.database, operation: "test")
      connection.endStatements(when: cancelled)
      #expect(throws: StoreError.self) { try connection.problems() }
      connection.endStatements(when: nil)
      #expect(try connection.problems() == [])
      connection.close()
    }
  }

  /// Sentences and small parts of the platform.
  @Suite struct PartsTests {
    @Test(
      arguments: [
        ("/a/b", "/a"), ("/a/b/", "/a"), ("/a", "/"), ("/a//", "/"), ("/", "/"), ("//", "/"), ("a", "."), ("a/", "."),
        ("a/b", "a"), ("a//", "."),
      ])
    func `the parent of a path`(_ path: String, _ parent: String) { #expect(Platform.parent(of: path) == parent) }

    @Test func `a failure of the disk says what SQLite and the system say`() {
      for (status, errno, words) in [
        (Int32(10), EIO, "disk I/O error"), (13, ENOSPC, "database or disk is full"),
        (8, EROFS, "attempt to write a readonly database"),
      ] {
        let error = StoreError(sqlite: status, system: errno, operation: "write", path: "/x")
        #expect(error.message.contains(words), "\(error.message)")
        #expect(error.message.contains(String(cString: strerror(errno))), "\(error.message)")
        let alone = StoreError(sqlite: status, system: 0, operation: "write", path: "/x")
        #expect(alone.message.contains("(\(status))."), "\(alone.message)")
      }
      let closed = StoreError(.closed, operation: "write", path: "/x")
      #expect(!closed.message.contains("SQLite"))
    }

    @Test func `zeros of up to a mebibyte may be what a loss of power has left, more are not`() throws {
      let directory = try TemporaryDirectory()
      for (length, expected) in [(0, true), (1, true), (1 << 20, true), ((1 << 20) + 1, false)] {
        try directory.write([UInt8](repeating: 0, count: length), to: "file")
        #expect(
          try Platform.isAllZeros(directory.path(of: "file"), but: 0..<0, atMost: 1 << 20) == expected, "\(length)")
      }
      try directory.write([0, 0, 1], to: "file")
      for (range, expected) in [(0..<0, false), (0..<2, false), (2..<3, true), (3..<4, false)] {
        #expect(try Platform.isAllZeros(directory.path(of: "file"), but: range, atMost: 1 << 20) == expected)
      }
    }
  }
}
