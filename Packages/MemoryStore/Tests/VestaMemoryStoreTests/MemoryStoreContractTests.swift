import Testing
import VestaMemoryStore
import VestaStoreInterop
import VestaStoreInteropContracts
import VestaStoreInteropFakes
import VestaTesting

@Suite struct MemoryStoreContractTests {
  @Test(arguments: StoreContracts.all)
  func `the memory store keeps the promise`(_ contract: Contract<StoreSubject>) async throws {
    let clock = ManualStoreClock()
    try await contract.verify(StoreSubject(store: MemoryStore(clock: clock.clock), clock: clock, other: MemoryStore()))
  }

  @Test(arguments: StoreProviderContracts.all)
  func `the provider keeps the promise`(_ contract: Contract<StoreProviderSubject>) async throws {
    let provider = MemoryStoreProvider()
    try await contract.verify(StoreProviderSubject(provider: provider, directory: "/nowhere", keepsData: false))
  }

  @Test(arguments: UInt64(100)..<160)
  func `a random history gives the answers of the model`(seed: UInt64) async throws {
    let store = MemoryStore()
    #expect(try await StoreHistory(seed: seed, steps: 150).difference(on: store) == nil)
    try await store.close()
  }
}
