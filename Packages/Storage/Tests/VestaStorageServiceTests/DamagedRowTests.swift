import Testing
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// Objects whose rows cannot be read.
@Suite struct DamagedRowTests {
  private struct AllowingGuard: StorageGuard {
    nonisolated(nonsending) func allows(
      _ operation: StorageGuardedOperation, at time: Int64, context: CallContext
    ) async throws -> Bool { true }
  }

  private let directory: TemporaryDirectory
  private let store = ModelStore()
  private let clock = ManualClock()
  private let damaged = ObjectName(bucket: "bucket", name: "a/1")
  private let other = ObjectName(bucket: "bucket", name: "a/2")

  init() throws { directory = try TemporaryDirectory() }

  /// An engine with two objects, the row of one of which is damaged.
  private func engine(_ gatekeeper: (any StorageGuard)? = nil) async throws -> StorageEngine {
    var options = StorageServiceOptions()
    options.inlineLimit = 2
    let engine = StorageEngine(
      options: options, crypto: BarredCrypto(),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))), clock: clock.service,
      gatekeeper: gatekeeper, openStore: { [store] in store })
    for name in [damaged, other] {
      _ = try await engine.putObject(UploadRequest(object: name), content: [1, 2, 3], context: .owner)
    }
    let key = Keys.object(damaged)
    _ = try await store.write { try await $0.put([0xFF], for: key) }
    return engine
  }

  private func code(_ body: () async throws -> Void) async -> ServiceCode? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? StorageServiceError)?.code
    }
  }

  private func names(_ engine: StorageEngine) async throws -> [String] {
    try await engine.listObjects(ListRequest(bucket: "bucket"), context: .owner).items.map(\.name.name)
  }

  @Test func `an object whose row is damaged is named by what needs it, and can be deleted`() async throws {
    let engine = try await engine()
    await #expect {
      _ = try await names(engine)
    } throws: { error in
      guard let error = error as? StorageServiceError else { return false }
      return error.code == .dataLoss && error.message.contains("a/1")
    }
    #expect(try await engine.getObject(other, preconditions: .none, context: .owner).size == 3)
    try await engine.deleteObject(damaged, preconditions: .none, context: CallContext())
    #expect(try await names(engine) == ["a/2"])
    let again = await code { try await engine.deleteObject(damaged, preconditions: .none, context: CallContext()) }
    #expect(again == .notFound)
    try await engine.close()
  }

  @Test func `an object whose row is damaged can be uploaded again, at once and in parts`() async throws {
    let engine = try await engine()
    _ = try await engine.putObject(UploadRequest(object: damaged), content: [4], context: CallContext())
    #expect(try await names(engine) == ["a/1", "a/2"])
    let key = Keys.object(damaged)
    _ = try await store.write { try await $0.put([0xFF], for: key) }
    let id = try await engine.startUpload(UploadRequest(object: damaged), context: CallContext())
    _ = try await engine.appendToUpload(id, offset: 0, bytes: [5, 6, 7, 8], context: CallContext())
    let object = try await engine.finalizeUpload(id, expected: ContentDigest(), context: CallContext())
    #expect(object.size == 4)
    #expect(try await names(engine) == ["a/1", "a/2"])
    try await engine.close()
  }

  @Test func `conditions about an object whose row is damaged, and guards of it, refuse`() async throws {
    let engine = try await engine(AllowingGuard())
    let condition = Preconditions(ifGenerationMatch: 0)
    let user = CallContext(caller: .nobody)
    for (caller, preconditions) in [(CallContext.owner, condition), (user, .none)] {
      let request = UploadRequest(object: damaged, preconditions: preconditions)
      #expect(await code { _ = try await engine.putObject(request, content: [4], context: caller) } == .dataLoss)
      let deletion = await code {
        try await engine.deleteObject(damaged, preconditions: preconditions, context: caller)
      }
      #expect(deletion == .dataLoss)
    }
    _ = try await engine.putObject(UploadRequest(object: damaged), content: [4], context: .owner)
    #expect(try await names(engine) == ["a/1", "a/2"])
    try await engine.close()
  }
}
