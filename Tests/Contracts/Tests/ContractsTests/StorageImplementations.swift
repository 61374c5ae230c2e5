import Foundation
import Testing
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
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
    let app = try Self.app(in: directory)
    try await contract.verify(try app.container.require((any StorageBackend).self))
    await app.delete()
  }

  @Test(arguments: StorageAdminContracts.all)
  func `the administration of the engine of an app keeps`(contract: Contract<StorageAdminSubject>) async throws {
    let directory = try TemporaryDirectory("storage")
    let app = try Self.app(in: directory)
    try await contract.verify(
      StorageAdminSubject(
        try app.container.require((any StorageBackend).self),
        admin: try app.container.require((any StorageAdminBackend).self)))
    await app.delete()
  }

  @Test(arguments: StorageGuardContracts.all)
  func `the engine of an app with a guard keeps`(contract: Contract<GuardedStorageSubject>) async throws {
    let directory = try TemporaryDirectory("storage")
    let apps = Locked<[VestaApp]>([])
    let subject = GuardedStorageSubject { guardian in
      let app = try Self.app(in: directory)
      app.container.override((any StorageGuard).self, with: guardian)
      apps.withLock { $0.append(app) }
      return try app.container.require((any StorageBackend).self)
    }
    try await contract.verify(subject)
    for app in apps.withLock({ $0 }) { await app.delete() }
  }

  private static func app(in directory: TemporaryDirectory) throws -> VestaApp {
    let name = "storage-\(UUID().uuidString)"
    return try VestaApp.configure(
      name: name,
      options: VestaOptions(projectID: name, backend: .embedded(directory: URL(filePath: directory.path))),
      libraries: [StorageServiceLibrary.self, MemoryStoreLibrary.self, CryptoLibrary.self])
  }

  @Test(arguments: BlobContracts.all)
  func `the blobs in files keep`(contract: Contract<any BlobStore>) async throws {
    let directory = try TemporaryDirectory("blobs")
    try await contract.verify(FileBlobStore(directory: directory.path + "/blobs"))
  }
}
