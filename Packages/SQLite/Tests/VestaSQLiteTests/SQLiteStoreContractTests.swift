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
      var tuning = StoreTuning()
      tuning.groupLimit = 1
      tuning.readerLimit = 4
      tuning.idleReaders = 2
      tuning.checkpointPages = 4
      tuning.logLimit = 16
      tuning.logPatience = 5
      let tight = tuning
      let subject = StoreSubject(store: try directory.open(.relaxed, tuning: tight)) {
        try directory.open(.relaxed, tuning: tight)
      }
      try await contract.verify(subject)
    }
  }
}
