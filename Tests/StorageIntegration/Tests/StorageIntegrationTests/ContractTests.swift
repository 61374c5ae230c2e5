import StorageHarness
import Testing
import VestaCore
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStorageBackendFakes
import VestaStorageService
import VestaTesting

@Suite struct ContractTests {
  static let contracts = TestBackend.current == .wire ? StorageContracts.overFirebase : StorageContracts.all

  @Test(arguments: contracts) func `the engine on SQLite honours`(
    contract: Contract<any StorageBackend>
  ) async throws {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path)
    try await contract.verify(harness.backend)
    await harness.app.delete()
  }

  @Test(arguments: BlobContracts.all) func `the file store honours`(contract: Contract<any BlobStore>) async throws {
    let directory = try TemporaryDirectory()
    try await contract.verify(FileBlobStore(directory: directory.path + "/blobs"))
  }
}
