import Foundation
import Testing
import VestaCore
import VestaCrypto
import VestaMemoryStore
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStorageService
import VestaTesting

@Suite struct StorageImplementations {
  @Test(arguments: StorageContracts.all)
  func `the engine of an app keeps`(contract: Contract<any StorageBackend>) async throws {
    let directory = try TemporaryDirectory("storage")
    let app = try VestaApp.configure(
      name: "storage-\(UUID().uuidString)",
      options: VestaOptions(projectID: "p", backend: .embedded(directory: URL(filePath: directory.path))),
      libraries: [StorageServiceLibrary.self, MemoryStoreLibrary.self, CryptoLibrary.self])
    try await contract.verify(try app.container.require((any StorageBackend).self))
    await app.delete()
  }

  @Test(arguments: BlobContracts.all)
  func `the blobs in files keep`(contract: Contract<any BlobStore>) async throws {
    let directory = try TemporaryDirectory("blobs")
    try await contract.verify(FileBlobStore(directory: directory.path + "/blobs"))
  }
}
