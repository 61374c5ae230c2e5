import Foundation
import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// Versions, which commits do not write to the file: what readers see, and what a start finds.
  @Suite struct VersionTests {
    private static func number(_ bytes: [UInt8]?) -> UInt64 { (bytes ?? []).reduce(0) { $0 << 8 | UInt64($1) } }

    private static func bytes(_ version: StoreVersion) -> [UInt8] {
      (0..<8).map { UInt8(truncatingIfNeeded: version.rawValue >> (56 - 8 * $0)) }
    }

    /// The content of the store's directory, as a killed process leaves it.
    private static func crashed(_ directory: TemporaryDirectory) throws -> TemporaryDirectory {
      let copy = try TemporaryDirectory()
      try FileManager.default.copyItem(atPath: directory.path(of: "test"), toPath: copy.path(of: "test"))
      return copy
    }

    @Test(arguments: [StoreDurability.full, .relaxed])
    func `each reader knows the version of its snapshot, whatever is committed in between`(
      _ durability: StoreDurability
    ) async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open(durability)
      let keys = (0..<3).map { key($0) }
      let put: @Sendable () async throws -> StoreVersion = {
        try await store.write { transaction in
          let version = try await transaction.commitVersion()
          for key in keys { try await transaction.put(Self.bytes(version), for: key) }
        }.version
      }
      _ = try await put()
      let isDone = Locked(false)
      try await withThrowingTaskGroup { group in
        for reader in 0..<4 {
          group.addTask {
            var (last, reads) = (StoreVersion.zero, 0)
            while reads < 500 || !isDone.withLock({ $0 }) {
              reads += 1
              let (seen, version) = try await store.read { snapshot in
                var version: StoreVersion?
                if reader == 0 { version = snapshot.version }
                var seen: [[UInt8]?] = []
                switch reader {
                case 1: seen = try await snapshot.get(keys)
                case 2: seen = try await snapshot.entries(in: .all).map(\.value)
                default: for key in keys { seen.append(try await snapshot.get(key)) }
                }
                return (seen.map(Self.number), version ?? snapshot.version)
              }
              #expect(seen == [UInt64](repeating: version.rawValue, count: 3))
              #expect(version >= last)
              last = version
              // A read does not suspend, and readers alone would keep the writer from its turn.
              await Task.yield()
            }
          }
        }
        group.addTask {
          defer { isDone.withLock { $0 = true } }
          for _ in 0..<400 {
            let version = try await put()
            #expect(try await store.read { $0.version } >= version)
          }
        }
        try await group.waitForAll()
      }
      try await store.close()
    }

    @Test func `a reader that asks for nothing but the version sees that version`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let first = try await store.put([1], for: [1])
      let value = try await store.read { reader in
        #expect(reader.version == first)
        _ = try await Task.detached { try await store.put([2], for: [1]) }.value
        #expect(reader.version == first)
        return try await reader.get([1])
      }
      #expect(value == [1])
      try await store.close()
    }

    @Test func `a commit writes the pages of its entries alone, and the row of versions now and then`() async throws {
      let (directory, clock) = (try TemporaryDirectory(), ManualStoreClock())
      let store = try directory.open(clock: clock.clock)
      try await store.put([0], for: [1])
      let before = try await store.logPages()
      for number in 1...100 {
        clock.advance(by: 1_000)
        try await store.put([UInt8(number)], for: [1])
      }
      // One page for each commit, and none but the first in a quarter of a second has the row too.
      #expect(try await store.logPages() == before + 100)
      clock.advance(by: StoredVersions.lead)
      try await store.put([0], for: [1])
      #expect(try await store.logPages() == before + 102)
      try await store.close()
    }

    @Test func `after a crash versions continue above every commit, a quarter of a second later at the most`()
      async throws
    {
      let (directory, clock) = (try TemporaryDirectory(), ManualStoreClock())
      let store = try directory.open(clock: clock.clock)
      var last = StoreVersion.zero
      for number in 0..<50 {
        clock.advance(by: 10_000)
        last = try await store.put([UInt8(number)], for: [1])
        let copy = try Self.crashed(directory)
        let again = try copy.open(clock: clock.clock)
        let version = try await again.read { $0.version }
        #expect(version >= last && version.microseconds <= last.microseconds + StoredVersions.lead)
        #expect(try await again.get([1]) == [UInt8(number)])
        let next = try await again.put([255], for: [1])
        #expect(next > version)
        try await again.close()
      }
      try await store.close()
      let closed = try directory.open(clock: clock.clock)
      #expect(try await closed.read { $0.version } == last)
      try await closed.close()
    }

    @Test func `opening and closing a store again and again does not put versions ahead of the clock`() async throws {
      let (directory, clock) = (try TemporaryDirectory(), ManualStoreClock())
      for number in 0..<40 {
        clock.advance(by: 1_000)
        let store = try directory.open(clock: clock.clock)
        let version = try await store.put([UInt8(number)], for: [1])
        #expect(version.microseconds <= clock.now.wall)
        try await store.close()
      }
    }

    /// Such a clock cannot be told from a right one in a store that was not used for a year, so its versions stand.
    @Test func `a store that was opened with a clock a year ahead costs no version and no future time`() async throws {
      let (directory, clock) = (try TemporaryDirectory(), ManualStoreClock())
      let year: Int64 = 365 * 86_400_000_000
      clock.setAhead(by: year)
      var store = try directory.open(clock: clock.clock)
      let wrong = try await store.put([1], for: [1])
      try await store.close()
      clock.setAhead(by: -year)
      // Right again: versions grow, by half of what time passes, and no restart or crash adds to their lead but the
      // quarter of a second that a crash may.
      var last = wrong
      for number in 0..<20 {
        clock.advance(by: 1_000_000)
        store = try directory.open(clock: clock.clock)
        clock.advance(by: 1_000_000)
        let version = try await store.put([UInt8(number)], for: [1])
        #expect(version > last)
        #expect(version.microseconds <= last.microseconds + StoredVersions.lead + 1_000_000)
        // A version that was handed out can be asked for.
        #expect(try await store.raiseFloor(to: version) == version)
        last = version
        guard number.isMultiple(of: 2) else {
          try await store.close()
          continue
        }
        let copy = try Self.crashed(directory)
        try await store.close()
        try FileManager.default.removeItem(atPath: directory.path(of: "test"))
        try FileManager.default.copyItem(atPath: copy.path(of: "test"), toPath: directory.path(of: "test"))
      }
      // When the clock has reached the versions they are the clock's again.
      clock.advance(by: year + 60_000_000)
      store = try directory.open(clock: clock.clock)
      #expect(try await store.put([2], for: [1]).microseconds == clock.now.wall)
      try await store.close()
    }

    @Test func `a floor outlives a crash and a close, whether or not commits have covered it`() async throws {
      for commits in [false, true] {
        let (directory, clock) = (try TemporaryDirectory(), ManualStoreClock())
        let store = try directory.open(clock: clock.clock)
        if commits { try await store.put([1], for: [1]) }
        let floor = StoreVersion(microseconds: clock.now.wall + 100_000)
        try await store.raiseFloor(to: floor)
        let copy = try Self.crashed(directory)
        let again = try copy.open(clock: clock.clock)
        #expect(try await again.put([2], for: [1]) > floor)
        try await again.close()
        try await store.close()
        let closed = try directory.open(clock: clock.clock)
        #expect(try await closed.put([2], for: [1]) > floor)
        try await closed.close()
      }
    }

    @Test func `a floor whose transaction was undone is not taken for durable`() async throws {
      let (directory, clock) = (try TemporaryDirectory(), ManualStoreClock())
      let store = try directory.open(clock: clock.clock)
      try await store.put([1], for: [1])
      let high = StoreVersion(microseconds: clock.now.wall + 30_000_000)
      let (begun, goOn) = (Gate(), Gate())
      let first = Task.detached {
        try await store.write { transaction in
          try await transaction.put([2], for: [1])
          begun.open()
          await goOn.wait()
        }
      }
      await begun.wait()
      let second = Task.detached {
        try await store.write { transaction in
          try await transaction.put([3], for: [1])
          try (transaction as? SQLiteTransaction)?.setFloor(high)
          throw Failure()
        }
      }
      while store.waitingWrites < 1 { await Task.yield() }
      goOn.open()
      _ = try await first.value
      await #expect(throws: Failure.self) { _ = try await second.value }
      let bound = store.writer.floor
      #expect(bound < high)
      try await store.close()
    }
  }
}
