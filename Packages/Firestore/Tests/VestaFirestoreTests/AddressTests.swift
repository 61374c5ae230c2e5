import Foundation
import Testing
import VestaAuthInterop
import VestaAuthInteropFakes
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreEndpoints
import VestaFirestoreRemote
import VestaFirestoreService
import VestaFirestoreSync
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Which backend a client uses, by the options of its app and by its settings, and what it tells whom.
@Suite(.timeLimit(.minutes(5))) struct AddressTests {
  private static let parts = Locked<[String: (network: FakeNetwork, auth: FakeAuth?)]>([:])

  private enum PartsLibrary: Library {
    static let name = "address-parts"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component(RemoteServices.self, caching: .shared) { RemoteServices(try parts(of: $0).network) },
        Component((any NetworkMonitor).self, caching: .shared) { try parts(of: $0).network },
        Component(SyncTuning.self, caching: .shared) { _ in
          // A client that a busy machine holds up is not offline.
          var tuning = SyncTuning()
          tuning.onlineSeconds = 3_600
          return tuning
        },
      ]
    }
  }

  private enum AuthPartLibrary: Library {
    static let name = "address-auth"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any AuthInterop).self, caching: .shared) { container in
          guard let auth = try parts(of: container).auth else { throw CancellationError() }
          return auth
        }
      ]
    }
  }

  private static func parts(of container: ComponentContainer) throws -> (network: FakeNetwork, auth: FakeAuth?) {
    guard let found = parts.withLock({ $0[container.app?.name ?? ""] }) else { throw CancellationError() }
    return found
  }

  private func app(
    _ network: FakeNetwork, backend: VestaOptions.Backend = .emulator(host: "localhost", port: 80),
    auth: FakeAuth? = nil
  ) throws -> VestaApp {
    let name = "address-\(UUID().uuidString)"
    Self.parts.withLock { $0[name] = (network, auth) }
    var libraries: [any Library.Type] = [
      FirestoreLibrary.self, FirestoreServiceLibrary.self, FirestoreRemoteLibrary.self, MemoryStoresLibrary.self,
      PartsLibrary.self,
    ]
    if auth != nil { libraries.append(AuthPartLibrary.self) }
    return try VestaApp.configure(
      name: name, options: VestaOptions(projectID: "demo", backend: backend), libraries: libraries)
  }

  @discardableResult
  private func serve(
    _ network: FakeNetwork, host name: String = "localhost", port: Int = 80, verifier: FakeCallerVerifier? = nil
  ) async throws -> FirestoreEngine {
    let engine = FirestoreEngine(
      store: ModelStore(), options: FirestoreServiceOptions(), callers: CallerCheck(callers: verifier))
    let host = FakeEndpointHost(project: "demo")
    host.add((any FirestoreBackend).self, engine)
    let handler = FirestoreEndpoints().handler(in: host)
    _ = try await network.listen(at: .internet(host: name, port: port), handler: handler)
    return engine
  }

  private func exists(_ path: String, in engine: FirestoreEngine) async throws -> Bool {
    let database = "projects/demo/databases/(default)"
    var isThere = false
    let request = BatchGetDocumentsRequest(database: database, documents: ["\(database)/documents/\(path)"])
    do {
      try await engine.batchGet(request, context: .owner) { if case .found? = $0.result { isThere = true } }
    } catch let error as FirestoreServiceError where error.code == .notFound {
      return false
    }
    return isThere
  }

  @Test func `the backend of the options chooses between the engine and the remote service`() async throws {
    let network = FakeNetwork()
    let engine = try await serve(network)
    let remote = try app(network)
    try await Firestore.instance(for: remote).document("rooms/a").setData(["n": 1])
    #expect(try await exists("rooms/a", in: engine))
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-address-\(UUID().uuidString)")
    let embedded = try app(network, backend: .embedded(directory: directory))
    try await Firestore.instance(for: embedded).document("rooms/b").setData(["n": 1])
    #expect(try await !exists("rooms/b", in: engine))
    await remote.delete()
    await embedded.delete()
  }

  @Test func `an address together with an engine in the process is refused with what to do`() async throws {
    let app = try app(FakeNetwork(), backend: .embedded())
    let db = try Firestore.instance(for: app)
    db.useEmulator(withHost: "localhost", port: 8080)
    let error = await #expect(throws: FirestoreErrorCode.self) { try await db.document("rooms/a").getDocument() }
    #expect(error?.code == .failedPrecondition)
    #expect(error?.localizedDescription.contains("http://localhost:8080") == true)
    await app.delete()
  }

  @Test func `an emulator that is named before the first use is used, and the cache is its own`() async throws {
    let network = FakeNetwork()
    let first = try await serve(network)
    let second = try await serve(network, port: 8080)
    let app = try app(network)
    let db = try Firestore.instance(for: app)
    try await db.disableNetwork()
    try await db.document("rooms/a").startSetData(["n": 1]).localCommit()
    try await db.terminate()

    let other = try Firestore.instance(for: app)
    other.useEmulator(withHost: "localhost", port: 8080)
    try await other.waitForPendingWrites()
    try await other.document("rooms/b").setData(["n": 1])
    #expect(try await !exists("rooms/a", in: second))
    #expect(try await exists("rooms/b", in: second))
    try await other.terminate()

    // A write that waits for the first service waits for it alone.
    let again = try Firestore.instance(for: app)
    try await again.waitForPendingWrites()
    #expect(try await exists("rooms/a", in: first))
    #expect(try await !exists("rooms/b", in: first))
    await app.delete()
  }

  @Test func `the address of the options named once more is the same service with the same cache`() async throws {
    let network = FakeNetwork()
    let engine = try await serve(network)
    let app = try app(network)
    let db = try Firestore.instance(for: app)
    try await db.disableNetwork()
    try await db.document("rooms/a").startSetData(["n": 1]).localCommit()
    try await db.terminate()
    let again = try Firestore.instance(for: app)
    again.useEmulator(withHost: "LOCALHOST", port: 80)
    try await again.waitForPendingWrites()
    #expect(try await exists("rooms/a", in: engine))
    await app.delete()
  }

  @Test func `a call whose token is refused is made once more, with a new token`() async throws {
    let network = FakeNetwork()
    let verifier = FakeCallerVerifier()
    try await serve(network, verifier: verifier)
    let auth = FakeAuth()
    auth.signIn("ada")
    verifier.accept(.full, token: "token-2-of-ada")
    let app = try app(network, auth: auth)
    let db = try Firestore.instance(for: app)
    let count = try await db.collection("rooms").count.getAggregation(source: .server).count
    #expect(count == 0)
    // Refused again, it fails, and is not made a third time.
    let before = verifier.verifications
    auth.signIn("eve")
    await #expect(throws: FirestoreErrorCode.self) {
      try await db.collection("rooms").count.getAggregation(source: .server)
    }
    #expect(verifier.verifications >= before + 2)
    await app.delete()
  }

  @Test func `writes and listeners continue with a new token where the first one is refused`() async throws {
    let network = FakeNetwork()
    let verifier = FakeCallerVerifier()
    try await serve(network, verifier: verifier)
    let auth = FakeAuth()
    auth.signIn("ada")
    // Each refresh makes a further token.
    for number in 2...50 { verifier.accept(.full, token: "token-\(number)-of-ada") }
    let app = try app(network, auth: auth)
    let db = try Firestore.instance(for: app)
    try await db.document("rooms/a").setData(["n": 1])
    #expect(try await db.document("rooms/a").getDocument(source: .server).exists)
    await app.delete()
  }

  @Test func `no token is sent in clear text to another machine`() async throws {
    let network = FakeNetwork()
    let verifier = FakeCallerVerifier()
    try await serve(network, host: "example.com", verifier: verifier)
    let auth = FakeAuth()
    auth.signIn("ada")
    let app = try app(network, backend: .emulator(host: "example.com", port: 80), auth: auth)
    let db = try Firestore.instance(for: app)
    let error = await #expect(throws: FirestoreErrorCode.self) {
      try await db.collection("rooms").count.getAggregation(source: .server)
    }
    #expect(error?.code == .failedPrecondition)
    #expect(verifier.verifications == 0)
    await app.delete()
  }

  @Test func `streams begin again at once when the network has changed`() async throws {
    let network = FakeNetwork()
    let engine = try await serve(network)
    let app = try app(network)
    let db = try Firestore.instance(for: app)
    let shown = EventLog<Int64>(patience: .seconds(240))
    let registration = db.document("rooms/a").addSnapshotListener { snapshot, _ in
      if let snapshot, !snapshot.metadata.isFromCache { shown.record(snapshot.get("n") as? Int64 ?? -1) }
    }
    try await shown.wait(for: "the first snapshot") { $0 == [-1] }
    network.setDown(true)
    network.cut()
    let write = Write.update(
      Document(name: "projects/demo/databases/(default)/documents/rooms/a", fields: ["n": .integer(1)]))
    _ = try await engine.commit(
      CommitRequest(database: "projects/demo/databases/(default)", writes: [write]), context: .owner)
    network.setDown(false)
    network.change()
    try await shown.wait(for: "what was missed") { $0.last == 1 }
    registration.remove()
    await app.delete()
  }

  @Test func `a service that refuses the client tells writers and listeners`() async throws {
    let network = FakeNetwork()
    // It serves another project than that of the app.
    let handler = FirestoreEndpoints().handler(in: FakeEndpointHost(project: "other"))
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
    let app = try app(network)
    let db = try Firestore.instance(for: app)
    let errors = EventLog<FirestoreErrorCode.Code?>(patience: .seconds(240))
    let registration = db.collection("rooms").addSnapshotListener { _, error in
      if let error { errors.record((error as? FirestoreErrorCode)?.code) }
    }
    try await errors.wait(for: "the refusal") { $0 == [.notFound] }
    let error = await #expect(throws: FirestoreErrorCode.self) { try await db.document("rooms/a").setData([:]) }
    #expect(error?.code == .notFound)
    registration.remove()
    await app.delete()
  }
}
