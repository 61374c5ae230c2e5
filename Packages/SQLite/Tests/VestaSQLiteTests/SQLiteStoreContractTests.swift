import Testing
import VestaStoreInterop
import VestaStoreInteropContracts
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  @Suite struct SQLiteStoreContractTests {
    @Test(arguments: StoreContracts.all)
    func `SQLite keeps the promise`(_ contract: Contract<StoreSubject>) async throws {
      let directory = try TemporaryDirectory()
      let clock = ManualStoreClock()
      let other = try TemporaryDirectory()
      defer { withExtendedLifetime(other) {} }
      let store = try directory.open(clock: clock.clock)
      let subject = StoreSubject(store: store, clock: clock, other: try other.open()) {
        try directory.open(clock: clock.clock)
      }
      try await contract.verify(subject)
    }

    @Test(arguments: StoreContracts.all)
    func `a store with tight bounds keeps the promise`(_ contract: Contract<StoreSubject>) async throws {
      let directory = try TemporaryDirectory()
      let seed = UInt64.random(in: 0..<1_000_000)
      let tight = StoreTuning.drawn(seed)
      let subject = StoreSubject(store: try directory.open(.relaxed, tuning: tight)) {
        // Another process may have other bounds.
        try directory.open(.relaxed, tuning: .drawn(seed + 1))
      }
      do {
        try await contract.verify(subject)
      } catch {
        Issue.record("\(error), with the tuning of the seed \(seed): \(tight)")
      }
    }
  }
}

extension StoreTuning {
  /// Small bounds, drawn at random.
  static func drawn(_ seed: UInt64) -> StoreTuning {
    var random = SplitMix(seed: seed)
    var tuning = StoreTuning()
    tuning.groupLimit = Int.random(in: 1...3, using: &random)
    // One body that stays open needs a second reader; with one in all, each would wait for the other.
    tuning.readerLimit = Int.random(in: 2...5, using: &random)
    tuning.idleReaders = Int.random(in: 1...2, using: &random)
    tuning.readerTrimInterval = .milliseconds(Int.random(in: 1...20, using: &random))
    tuning.warmReaders = Int.random(in: 0...2, using: &random)
    tuning.checkpointPages = Int.random(in: 1...6, using: &random)
    tuning.logLimit = tuning.checkpointPages + Int.random(in: 1...12, using: &random)
    tuning.logPatience = .milliseconds(Int.random(in: 0...5, using: &random))
    tuning.writerCacheKilobytes = Int.random(in: 30...200, using: &random)
    tuning.inlineLimit = Int.random(in: 1...40, using: &random)
    tuning.entriesBetweenChecks = Int.random(in: 1...5, using: &random)
    tuning.reserveBytes = Int.random(in: 0...2, using: &random) * 65_536
    return tuning
  }
}
