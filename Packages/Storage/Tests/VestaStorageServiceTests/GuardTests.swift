import Testing
import VestaBytes
import VestaConcurrency
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStorageBackendFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// The engine with a guard.
@Suite struct GuardTests {
  private let directory: TemporaryDirectory
  private let clock = ManualClock()
  private let name = ObjectName(bucket: "bucket", name: "a")

  init() throws { directory = try TemporaryDirectory() }

  private func engine(
    _ gatekeeper: (any StorageGuard)?, on store: ModelStore = ModelStore(), folder: String = "blobs"
  ) -> StorageEngine {
    var options = StorageServiceOptions()
    (options.inlineLimit, options.checkpointInterval) = (16, 100)
    return StorageEngine(
      options: options, crypto: BarredCrypto(countsBytes: true),
      content: .provided(FileBlobStore(directory: directory.path(of: folder))), clock: clock.service,
      gatekeeper: gatekeeper, openStore: { store })
  }

  @Test(arguments: StorageGuardContracts.all)
  func `the engine honours`(_ contract: Contract<GuardedStorageSubject>) async throws {
    try await contract.verify(GuardedStorageSubject { engine($0) })
  }

  /// Lets some operations pass without asking, or does not pass on what is asked about.
  private struct Forgetful: StorageGuard {
    enum Lapse: CaseIterable { case get, list, upload, update, delete, existing, caller, claims, time }

    let inner: any StorageGuard
    let lapse: Lapse

    nonisolated(nonsending) func allows(
      _ operation: StorageGuardedOperation, at time: Int64, context: CallContext
    ) async throws -> Bool {
      var operation = operation
      switch (operation, lapse) {
      case (.get, .get), (.list, .list), (.upload, .upload), (.update, .update), (.delete, .delete): return true
      case (.upload(let new, _), .existing): operation = .upload(new, existing: nil)
      default: break
      }
      return try await inner.allows(operation, at: lapse == .time ? 0 : time, context: caller(context))
    }

    private func caller(_ context: CallContext) -> CallContext {
      switch lapse {
      case .caller: CallContext()
      case .claims: CallContext(caller: context.user.map { .user(VerifiedUser(uid: $0.uid)) } ?? .nobody)
      default: context
      }
    }
  }

  @Test(arguments: Forgetful.Lapse.allCases)
  private func `an engine that forgets a path breaks a contract`(_ lapse: Forgetful.Lapse) async {
    let subject = GuardedStorageSubject { engine(Forgetful(inner: $0, lapse: lapse)) }
    var isFound = false
    for contract in StorageGuardContracts.all where !isFound {
      do { try await contract.verify(subject) } catch { isFound = true }
    }
    #expect(isFound, "an engine that forgets \(lapse) keeps all contracts")
  }

  @Test(arguments: [true, false])
  func `an engine that takes any download token, or none, breaks a contract`(_ takesAny: Bool) async throws {
    let contract = try #require(StorageGuardContracts.all.first { $0.name.hasPrefix("a download token of the object") })
    let subject = GuardedStorageSubject { gatekeeper in
      HookedStorageBackend(
        engine(gatekeeper), context: { takesAny && $0 == .open ? .owner : $1 }
      ) { call, moment in
        if !takesAny, call == .open, moment == .before {
          throw StorageServiceError(.permissionDenied, "Permission denied.")
        }
      }
    }
    await #expect(throws: (any Error).self) { try await contract.verify(subject) }
  }

  @Test(arguments: ["a download token of the object", "a download token of a deleted object"])
  func `an engine that opens an object again for a caller who had a token breaks a contract`(
    _ start: String
  ) async throws {
    let contract = try #require(StorageGuardContracts.all.first { $0.name.hasPrefix(start) })
    let subject = GuardedStorageSubject { gatekeeper in
      let opened = Locked(false)
      return HookedStorageBackend(
        engine(gatekeeper), context: { call, context in call == .open && opened.withLock { $0 } ? .owner : context }
      ) { call, moment in
        if call == .open, moment == .after { opened.withLock { $0 = true } }
      }
    }
    await #expect(throws: (any Error).self) { try await contract.verify(subject) }
  }

  @Test func `a call of an owner is not asked about`() async throws {
    let gatekeeper = ManualStorageGuard { _ in false }
    let engine = engine(gatekeeper)
    let owner = CallContext.owner
    _ = try await engine.putObject(UploadRequest(object: name), content: [1], context: owner)
    _ = try await engine.getObject(name, preconditions: .none, context: owner)
    _ = try await engine.listObjects(ListRequest(bucket: "bucket"), context: owner)
    let id = try await engine.startUpload(UploadRequest(object: name), context: owner)
    _ = try await engine.appendToUpload(id, offset: 0, bytes: [1, 2], context: CallContext())
    _ = try await engine.finalizeUpload(id, expected: ContentDigest(), context: CallContext())
    try await engine.deleteObject(name, preconditions: .none, context: owner)
    #expect(gatekeeper.asked.entries.isEmpty)
    try await engine.close()
  }

  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func `a precondition that does not hold ends an upload at once, except for a caller who must not learn of it`(
    isGuarded: Bool, isOwner: Bool
  ) async throws {
    let engine = engine(isGuarded ? ManualStorageGuard() : nil)
    _ = try await engine.putObject(UploadRequest(object: name), content: [1], context: .owner)
    var request = UploadRequest(object: name)
    request.preconditions = Preconditions(ifGenerationMatch: 0)
    let context = isOwner ? CallContext.owner : CallContext()
    if isGuarded, !isOwner {
      let id = try await engine.startUpload(request, context: context)
      try await engine.cancelUpload(id, context: context)
    } else {
      let error = await #expect(throws: StorageServiceError.self) {
        try await engine.startUpload(request, context: context)
      }
      #expect(error?.reason == .precondition)
    }
    try await engine.close()
  }

  @Test func `the caller who started an upload is known after a restart, with claims`() async throws {
    let store = ModelStore()
    var claims = JSONObject()
    claims["admin"] = .bool(true)
    let ada = CallContext(caller: .user(VerifiedUser(uid: "ada", claims: claims)))
    let first = engine(ManualStorageGuard(), on: store)
    let id = try await first.startUpload(UploadRequest(object: name), context: ada)
    _ = try await first.appendToUpload(id, offset: 0, bytes: [1, 2], context: ada)
    // As its end does, but for the store, which the next engine has too.
    for upload in await first.uploads.removeAll() { await first.suspend(upload) }

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
    let second = engine(Noting(seen: seen), on: store)
    _ = try await second.finalizeUpload(id, expected: ContentDigest(), context: CallContext())
    #expect(seen.entries.map(\.user) == [ada.user])
    try await second.close()
  }

  @Test func `a denied upload is removed, and leaves no content`() async throws {
    // What is stated when it begins is allowed.
    let guardian = ManualStorageGuard { question in
      if case .upload(let new, _) = question.operation { new.size == 0 } else { true }
    }
    let engine = engine(guardian)
    let id = try await engine.startUpload(UploadRequest(object: name), context: CallContext())
    _ = try await engine.appendToUpload(id, offset: 0, bytes: [1, 2], context: CallContext())
    let denied = await #expect(throws: StorageServiceError.self) {
      try await engine.finalizeUpload(id, expected: ContentDigest(), context: CallContext())
    }
    #expect(denied?.code == .permissionDenied)
    let gone = await #expect(throws: StorageServiceError.self) {
      try await engine.uploadStatus(id, context: CallContext())
    }
    #expect(gone?.code == .notFound)
    #expect(try await engine.removeOrphans() == 0)
    try await engine.close()
  }
}
