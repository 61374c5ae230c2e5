import Testing
import VestaBytes
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStorageBackendFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// Who calls: what the engine makes of the credentials of its callers.
@Suite struct CallerTests {
  private let directory: TemporaryDirectory
  private let clock = ManualClock()
  private let name = ObjectName(bucket: "bucket", name: "a")

  init() throws { directory = try TemporaryDirectory() }

  private func engine(_ callers: CallerCheck = CallerCheck(), _ gatekeeper: (any StorageGuard)? = nil) -> StorageEngine
  {
    StorageEngine(
      options: StorageServiceOptions(), crypto: BarredCrypto(countsBytes: true),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))), clock: clock.service,
      callers: callers, gatekeeper: gatekeeper, openStore: { ModelStore() })
  }

  @Test func `a guard is asked about the user of the token of the call`() async throws {
    let verifier = FakeCallerVerifier(clock: clock.service)
    let seen = Log<CallContext>()
    struct Noting: StorageGuard {
      let seen: Log<CallContext>
      nonisolated(nonsending) func allows(
        _ operation: StorageGuardedOperation, at time: Int64, context: CallContext
      ) async throws -> Bool {
        seen.add(context)
        return true
      }
    }
    let check = CallerCheck(callers: verifier, apps: FakeAppCheckVerifier(["genuine": "app"]))
    let engine = engine(check, Noting(seen: seen))
    let credential = verifier.issue("ada", claims: ["admin": true])
    let ada = CallContext(caller: .credential(credential), appCheck: .token("genuine"))
    _ = try await engine.putObject(UploadRequest(object: name), content: [1], context: ada)
    let id = try await engine.startUpload(UploadRequest(object: name), context: ada)
    _ = try await engine.appendToUpload(id, offset: 0, bytes: [1, 2], context: CallContext())
    _ = try await engine.finalizeUpload(id, expected: ContentDigest(), context: CallContext())
    #expect(seen.entries.map(\.user?.uid) == ["ada", "ada", "ada"])
    #expect(seen.entries.allSatisfy { $0.user?.claims["admin"] == .bool(true) })
    #expect(seen.entries.first?.appCheck.appID == "app")
    clock.advance(by: .seconds(3_600))
    let late = try await #require(throws: StorageServiceError.self) {
      try await engine.getObject(name, preconditions: .none, context: ada)
    }
    #expect(late.code == .unauthenticated)
    try await engine.close()
  }

  @Test func `after its end the engine is unavailable`() async throws {
    let engine = engine()
    _ = try await engine.putObject(UploadRequest(object: name), content: [1], context: .owner)
    try await engine.close()
    let error = try await #require(throws: StorageServiceError.self) {
      try await engine.getObject(name, preconditions: .none, context: .owner)
    }
    #expect(error.code == .unavailable)
  }

  @Test(arguments: HookedStorageBackend.Call.allCases.filter { $0 != .read })
  func `an engine that looks at no credential in one call breaks the contract`(_ call: HookedStorageBackend.Call)
    async throws
  {
    let contract = try #require(
      StorageContracts.all.first { $0.name.hasPrefix("a credential that cannot be verified") })
    let careless = HookedStorageBackend(engine(), context: { $0 == call ? CallContext() : $1 }) { _, _ in }
    await #expect(throws: ContractViolation.self) { try await contract.verify(careless) }
  }
}
