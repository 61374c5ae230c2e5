import CVestaStoreFiles
import Foundation
import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// Faults in random operations on files, under tasks that write; then what a crash right there would leave.
  ///
  /// 12 rounds; 600 with `VESTA_SOAK=1`.
  @Suite struct FaultSoakTests {
    private static var rounds: Int { ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 600 : 12 }

    @Test func `what was acknowledged is there after random faults, and the rest is whole or absent`() async throws {
      defer { store_files_inject(store_fault()) }
      let seed = UInt64.random(in: 0...UInt64.max)
      print("FaultSoakTests: seed \(seed)")
      var random = SplitMix(seed: seed)
      var (round, met) = (0, 0)
      // Some faults are never met: a commit writes once.
      while round < Self.rounds || met <= Self.rounds / 3 {
        let fault = Self.fault(&random)
        met += try await play(fault, tasks: [1, 4, 16][round % 3], "seed \(seed), round \(round): \(fault)")
        round += 1
      }
    }

    private static func fault(_ random: inout SplitMix) -> store_fault {
      let operations = [
        STORE_FAULT_READ, STORE_FAULT_WRITE, STORE_FAULT_WRITE, STORE_FAULT_SYNC, STORE_FAULT_TRUNCATE,
        STORE_FAULT_INDEX, STORE_FAULT_OPEN, STORE_FAULT_READ | STORE_FAULT_WRITE | STORE_FAULT_SYNC,
      ]
      var fault = store_fault()
      fault.operations = Int32(operations[random.below(operations.count)])
      fault.after = Int32(random.below(30))
      fault.times = [1, 1, 2, 40, Int32.max][random.below(5)]
      fault.performs = random.oneIn(3) ? 1 : 0
      fault.halves = random.oneIn(3) ? 1 : 0
      fault.no_space = random.oneIn(2) ? 1 : 0
      return fault
    }

    /// Writes until the fault has been met or enough was written; returns how many faults there were.
    private func play(_ fault: store_fault, tasks: Int, _ what: String) async throws -> Int {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      (tuning.checkpointPages, tuning.logLimit, tuning.logPatience) = (20, 60, .milliseconds(2))
      let store = try directory.open(tuning: tuning)
      let (acknowledged, unknown) = (Locked<Set<Int>>([]), Locked<Set<Int>>([]))
      store_files_inject(fault)
      await withTaskGroup { group in
        for task in 0..<tasks {
          group.addTask {
            for number in stride(from: task, to: 48, by: tasks) {
              do {
                try await store.write { try await Numbered.write(number, in: $0) }
                acknowledged.withLock { _ = $0.insert(number) }
              } catch {
                #expect(error is StoreError, "\(what): \(error)")
                if (error as? StoreError)?.code == .unknownOutcome { unknown.withLock { _ = $0.insert(number) } }
              }
            }
          }
        }
      }
      let met = Int(store_files_faults())
      store_files_inject(store_fault())
      // A kill right here, and the store that continues.
      let image = try directory.crashImage()
      let (kept, open) = (acknowledged.withLock { $0 }, unknown.withLock { $0 })
      let recovered = try image.open()
      try await expect(recovered, kept, unknown: open, "after a crash, \(what)")
      try await recovered.close()
      try await store.write { try await Numbered.write(1_000, in: $0) }
      try await expect(store, kept.union([1_000]), unknown: open, "going on, \(what)")
      try await store.close()
      let again = try directory.open()
      try await expect(again, kept.union([1_000]), unknown: open, "after closing, \(what)")
      try await again.close()
      return met
    }

    private func expect(_ store: SQLiteStore, _ kept: Set<Int>, unknown: Set<Int>, _ what: String) async throws {
      let wrong = try await store.read { reader in
        var wrong: [String] = []
        for number in Array(0..<48) + [1_000] {
          let count = try await Numbered.count(number, in: reader)
          let isRight =
            kept.contains(number)
            ? count == Numbered.keys
            : unknown.contains(number) ? [0, Numbered.keys].contains(count) : count == 0
          if !isRight { wrong.append("\(number): \(count)") }
        }
        return wrong
      }
      #expect(wrong == [], "\(what)")
      #expect(try await store.checkIntegrity() == [], "\(what)")
    }
  }
}
