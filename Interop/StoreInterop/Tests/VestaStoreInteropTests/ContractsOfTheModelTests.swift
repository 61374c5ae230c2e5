import Testing
import VestaStoreInterop
import VestaStoreInteropContracts
import VestaStoreInteropFakes
import VestaTesting

@Suite struct ContractsOfTheModelTests {
  @Test(arguments: StoreContracts.all)
  func `the model keeps the promise`(_ contract: Contract<StoreSubject>) async throws {
    let clock = ManualStoreClock()
    try await contract.verify(StoreSubject(store: ModelStore(clock: clock.clock), clock: clock, other: ModelStore()))
  }

  @Test(arguments: StoreContracts.all)
  func `the model keeps the promise on the system's clock`(_ contract: Contract<StoreSubject>) async throws {
    try await contract.verify(StoreSubject(store: ModelStore()))
  }

  @Test func `every promise has a distinct name`() {
    let names = StoreContracts.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.count >= 40)
  }
}
