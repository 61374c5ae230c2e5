import Testing
import VestaConcurrency
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// Buckets as their owners see them.
@Suite struct BucketTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func engine() -> StorageEngine {
    StorageEngine(
      options: StorageServiceOptions(), crypto: BarredCrypto(),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))), openStore: { ModelStore() })
  }

  @Test(arguments: StorageAdminContracts.all)
  func `the engine keeps the contract`(contract: Contract<StorageAdminSubject>) async throws {
    let engine = engine()
    try await contract.verify(StorageAdminSubject(engine, admin: engine))
    try await engine.close()
  }

  @Test(arguments: [
    (WrongBuckets.Flaw.servesEveryone, "buckets are the owner's"),
    (.makesTwice, "a bucket is made once, and listed among those that have objects"),
    (.takesAnyName, "a bucket is made once, and listed among those that have objects"),
    (.listsUsedOnly, "a bucket is made once, and listed among those that have objects"),
    (.deletesFull, "a bucket is deleted when it has no objects, and not before"),
    (.keepsDeleted, "a bucket is deleted when it has no objects, and not before"),
  ])
  fileprivate func `a wrong administration is caught by the promise that it breaks`(
    flaw: WrongBuckets.Flaw, promise: String
  ) async throws {
    let engine = engine()
    let contract = try #require(StorageAdminContracts.all.first { $0.name == promise })
    await #expect(throws: (any Error).self) {
      try await contract.verify(StorageAdminSubject(engine, admin: WrongBuckets(base: engine, flaw: flaw)))
    }
    try await engine.close()
  }

  @Test func `an object that is stored while its bucket is deleted stays`() async throws {
    for _ in 0..<20 {
      let engine = engine()
      try await engine.createBucket("aaa", context: .owner)
      let object = ObjectName(bucket: "aaa", name: "x")
      async let put = engine.putObject(UploadRequest(object: object), content: [1], context: .owner)
      async let deletion: Void? = try? engine.deleteBucket("aaa", context: .owner)
      _ = await deletion
      _ = try await put
      _ = try await engine.getObject(object, preconditions: .none, context: .owner)
      #expect(try await engine.listBuckets(context: .owner) == ["aaa"])
      try await engine.close()
    }
  }
}

/// An administration that does one thing wrong, around the real one.
private struct WrongBuckets: StorageAdminBackend {
  enum Flaw { case servesEveryone, makesTwice, takesAnyName, listsUsedOnly, deletesFull, keepsDeleted }

  let base: StorageEngine
  let flaw: Flaw

  private func context(_ context: CallContext) -> CallContext { flaw == .servesEveryone ? .owner : context }

  func listBuckets(context: CallContext) async throws -> [String] {
    let all = try await base.listBuckets(context: self.context(context))
    return flaw == .listsUsedOnly ? all.filter { $0.hasSuffix("used") } : all
  }

  func createBucket(_ name: String, context: CallContext) async throws {
    do {
      try await base.createBucket(name, context: self.context(context))
    } catch let error as StorageServiceError {
      if flaw == .makesTwice, error.code == .alreadyExists { return }
      if flaw == .takesAnyName, error.code == .invalidArgument { return }
      throw error
    }
  }

  func deleteBucket(_ name: String, context: CallContext) async throws {
    if flaw == .keepsDeleted { return }
    do {
      try await base.deleteBucket(name, context: self.context(context))
    } catch let error as StorageServiceError {
      if flaw != .deletesFull || error.code != .failedPrecondition { throw error }
    }
  }
}
