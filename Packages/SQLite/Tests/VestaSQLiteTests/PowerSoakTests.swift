import Foundation
import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// Losses of power at random places of what a store has done to its files.
  ///
  /// 60 losses; 1,200 with `VESTA_SOAK=1`. `VESTA_SOAK_SEED` repeats a run.
  @Suite struct PowerSoakTests {
    private static var isSoak: Bool { ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" }
    private static var seed: UInt64 {
      ProcessInfo.processInfo.environment["VESTA_SOAK_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    }

    /// The mark of a store that is open; transactions have numbers from one.
    private static let isOpen = 0
    private static let transactions = 40

    /// Writes to a separate store, and returns the events of its files.
    private func trace(tasks: Int, _ durability: StoreDurability = .full) async throws -> FileTrace {
      let directory = try TemporaryDirectory()
      return try await FileTrace.record(below: directory.path) {
        var tuning = StoreTuning()
        // Small bounds: the log is written back and begun again several times.
        (tuning.checkpointPages, tuning.logLimit, tuning.logPatience) = (40, 120, .milliseconds(2))
        let store = try directory.open(durability, tuning: tuning)
        FileTrace.mark(Self.isOpen)
        try await withThrowingTaskGroup { group in
          for task in 0..<tasks {
            group.addTask {
              for number in stride(from: task + 1, through: Self.transactions, by: tasks) {
                try await store.write { try await Numbered.write(number, in: $0) }
                FileTrace.mark(number)
              }
            }
          }
          try await group.waitForAll()
        }
        // The work of closing follows: by then the log is written back and removed.
        FileTrace.mark(Self.transactions + 1)
        try await store.close()
      }
    }

    /// The promises that a store breaks after a loss of power, in words.
    ///
    /// - Parameter acknowledged: The transactions that must be there.
    private func faults(of image: [String: [UInt8]], isComplete: Bool, acknowledged: Set<Int>) async throws -> [String]
    {
      let directory = try TemporaryDirectory()
      try FileManager.default.createDirectory(atPath: directory.path(of: "test"), withIntermediateDirectories: true)
      for (name, bytes) in image { try directory.write(bytes, to: "test/\(name)") }
      try directory.write(isComplete ? Array("vesta-store 1\n".utf8) : [], to: "test/lock")
      for name in image.keys + ["lock"] { try setOwnerOnly(directory.path(of: "test/\(name)")) }
      do {
        let store = try directory.open()
        let faults: [String]
        do { faults = try await self.faults(of: store, acknowledged: acknowledged) } catch { faults = ["\(error)"] }
        try? await store.close()
        return faults
      } catch {
        return ["it does not open: \(error)"]
      }
    }

    private func faults(of store: SQLiteStore, acknowledged: Set<Int>) async throws -> [String] {
      let counts = try await store.read { reader in
        var counts: [Int: Int] = [:]
        for number in 1...Self.transactions { counts[number] = try await Numbered.count(number, in: reader) }
        return counts
      }
      var faults = counts.filter { ![0, Numbered.keys].contains($0.value) }.map { "\($0.key) has \($0.value) parts" }
      faults += acknowledged.filter { counts[$0] != Numbered.keys }.map { "\($0) was acknowledged and is gone" }
      faults += try await store.checkIntegrity()
      // It continues as if nothing had happened.
      try await store.write { try await Numbered.write(1_000, in: $0) }
      return faults
    }

    private func setOwnerOnly(_ path: String) throws {
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// Cuts the power at random places of traces; returns what was wrong, a line for each store.
    private func play(
      _ rounds: Int, seed: UInt64, _ durability: StoreDurability = .full,
      ignoringSyncs: @escaping (String) -> Bool = { _ in false }
    ) async throws -> [String] {
      var (random, wrong, looked) = (SplitMix(seed: seed), [String](), 0)
      for round in stride(from: 0, to: rounds, by: 20) {
        let events = try await trace(tasks: [1, 4, 16][round / 20 % 3], durability).events
        let opened = try #require(events.firstIndex(of: .marked(Self.isOpen)))
        let ended = try #require(events.firstIndex(of: .marked(Self.transactions + 1)))
        for loss in round..<min(rounds, round + 20) {
          // One in four while the store is being made.
          let end = loss % 4 == 0 ? random.below(opened) : opened + random.below(ended - opened + 1)
          let before = events[..<end]
          let image = PowerLoss(after: before, existing: "store.sqlite", ignoringSyncs: ignoringSyncs).image(&random)
          let marks = before.compactMap { if case .marked(let number) = $0 { number } else { nil } }
          let acknowledged = durability == .full ? Set(marks).subtracting([Self.isOpen]) : []
          let faults = try await faults(
            of: image, isComplete: marks.contains(Self.isOpen), acknowledged: acknowledged)
          looked += acknowledged.count
          let what = "seed \(seed), loss \(loss) after \(end) of \(events.count) events"
          if !faults.isEmpty { wrong.append("\(what): \(faults.joined(separator: "; "))") }
        }
      }
      print("PowerSoakTests: \(durability), seed \(seed), \(rounds) losses of power, \(wrong.count) wrong,")
      print("  \(looked) acknowledged transactions looked for")
      return wrong
    }

    @Test func `what was acknowledged is there after a loss of power, and the rest is whole or absent`() async throws {
      #expect(try await play(Self.isSoak ? 1_200 : 60, seed: Self.seed) == [])
    }

    @Test func `a relaxed store is whole after a loss of power`() async throws {
      #expect(try await play(Self.isSoak ? 400 : 20, seed: Self.seed, .relaxed) == [])
    }

    @Test func `a store that does not sync its log is found`() async throws {
      let wrong = try await play(40, seed: 7) { $0.hasSuffix("-wal") }
      #expect(wrong.contains { $0.contains("was acknowledged and is gone") })
    }

    @Test func `a store that does not sync its database before it reuses the log is found`() async throws {
      let wrong = try await play(40, seed: 7) { $0 == "store.sqlite" }
      #expect(!wrong.isEmpty)
    }
  }
}
