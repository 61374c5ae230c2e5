import ContractInterop
import StoreInterop
import StoreInteropContracts
import Testing
import VestaMemoryStore

@Suite struct MemoryStoreContractTests {
  @Test(arguments: StoreContracts.all)
  func memoryStoreKeeps(_ contract: Contract<StoreSubject>) async throws {
    try await contract.verify(StoreSubject(store: MemoryStore()))
  }
}
