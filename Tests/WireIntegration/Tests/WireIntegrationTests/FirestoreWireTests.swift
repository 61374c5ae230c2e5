import Foundation
import Testing
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreEndpoints
import VestaFirestoreRemote
import VestaFirestoreService
import VestaSQLite
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

/// An engine of Firestore on sockets.
final class DocumentServer: Sendable {
  let engine: FirestoreEngine
  private let sockets: SocketServer

  init(project: String) async throws {
    let verifier = FakeCallerVerifier()
    verifier.accept(.full, token: "owner")
    var options = FirestoreServiceOptions()
    options.transactionIdleTime = .seconds(100_000)
    options.transactionLifetime = .seconds(100_000)
    engine = FirestoreEngine(store: ModelStore(), options: options, callers: CallerCheck(callers: verifier))
    let host = FakeEndpointHost(project: project)
    host.add((any FirestoreBackend).self, engine)
    sockets = try await SocketServer(FirestoreEndpoints(), in: host)
  }

  var port: Int { sockets.port }

  func listen() async throws { try await sockets.listen() }

  func cut() async { await sockets.cut() }

  func stop() async throws {
    await sockets.stop()
    try await engine.close()
  }
}

/// Firestore over sockets: its contract, and the client with all that a network does to it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FirestoreWireTests {
  private func directory() -> URL {
    FileManager.default.temporaryDirectory.appending(path: "vesta-wire-\(UUID().uuidString)")
  }

  private func makeApp(_ project: String, _ backend: VestaOptions.Backend, in directory: URL) throws -> VestaApp {
    try VestaApp.configure(
      name: "wire-\(UUID().uuidString)", options: VestaOptions(projectID: project, backend: backend),
      // The engine is in the list as well, and the backend of the options chooses.
      libraries: [
        FirestoreLibrary.self, FirestoreServiceLibrary.self, FirestoreRemoteLibrary.self, SQLiteLibrary.self,
        TransportLibrary.self,
      ])
  }

  @Test(arguments: FirestoreContracts.all)
  func `the contract is kept over sockets`(contract: Contract<FirestoreSubject>) async throws {
    let server = try await DocumentServer(project: "contracts")
    let client = try VestaTransportClient()
    let options = RESTOptions(ownerToken: { "owner" }, compression: .gzip)
    let remote = FirestoreRemote(on: try RESTService(client, at: "http://127.0.0.1:\(server.port)", options: options))
    try await contract.verify(FirestoreSubject(remote, patience: .seconds(120)))
    await client.close()
    try await server.stop()
  }

  /// Two clients count and add documents while the server cuts all connections again and again, and answers are lost
  /// with them: each write is there once, and both clients show so in the end.
  @Test func `writes of clients whose connections are cut each second are not lost and not doubled`() async throws {
    let server = try await DocumentServer(project: "cuts")
    let folder = directory()
    defer { try? FileManager.default.removeItem(at: folder) }
    let backend = VestaOptions.Backend.emulator(host: "127.0.0.1", port: server.port)
    let apps = try (0..<2).map { _ in try makeApp("cuts", backend, in: folder) }
    let clients = try apps.map { try Firestore.instance(for: $0) }
    let shown = EventLog<Set<String>>(patience: .seconds(200))
    let registrations = clients.enumerated().map { number, db in
      db.collection("notes").addSnapshotListener { snapshot, _ in
        guard let snapshot else { return }
        shown.record(Set(snapshot.documents.map { "\(number) \($0.documentID)" }))
      }
    }
    let cuts = Locked(0)
    let cutter = Task {
      while cuts.withLock({ $0 }) < 8 {
        try await Task.sleep(for: .seconds(1))
        await server.cut()
        try await server.listen()
        cuts.withLock { $0 += 1 }
      }
    }
    let counts = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
      for (number, db) in clients.enumerated() {
        group.addTask {
          var count = 0
          while cuts.withLock({ $0 }) < 8 {
            let batch = db.batch()
            let one: [String: Any] = ["n": FieldValue.increment(Int64(1))]
            batch.setData(one, forDocument: db.document("counters/all"), merge: true)
            batch.setData(["by": number], forDocument: db.document("notes/\(number)-\(count)"))
            count += 1
            if count % 3 == 0 { try await batch.commit() } else { try await batch.startCommit().localCommit() }
          }
          try await db.waitForPendingWrites()
          return (number, count)
        }
      }
      return try await group.reduce(into: [0, 0]) { $0[$1.0] = $1.1 }
    }
    try await cutter.value
    print("\(counts) batches of two clients in \(cuts.withLock { $0 }) cuts")
    let counter = try await clients[0].document("counters/all").getDocument(source: .server)
    #expect(counter.get("n") as? Int == counts.reduce(0, +))
    let expected = Set((0..<2).flatMap { number in (0..<counts[number]).map { "\(number)-\($0)" } })
    for (number, db) in clients.enumerated() {
      #expect(
        Set(try await db.collection("notes").getDocuments(source: .server).documents.map(\.documentID)) == expected)
      let whole = Set(expected.map { "\(number) \($0)" })
      try await shown.wait(for: "all documents at client \(number)") { $0.contains(whole) }
    }
    for registration in registrations { registration.remove() }
    for app in apps { await app.delete() }
    try await server.stop()
  }

  @Test func `a client is connected again at once when the network is back`() async throws {
    let server = try await DocumentServer(project: "back")
    let network = FakeNetwork()
    let app = try makeApp("back", .emulator(host: "127.0.0.1", port: server.port), in: directory())
    app.container.override((any NetworkMonitor).self, with: network as any NetworkMonitor)
    let db = try Firestore.instance(for: app)
    let shown = EventLog<Int>(patience: .seconds(120))
    let registration = db.document("rooms/a").addSnapshotListener { snapshot, _ in
      if let snapshot { shown.record(snapshot.get("n") as? Int ?? -1) }
    }
    try await db.document("rooms/a").setData(["n": 1])
    try await shown.wait(for: "the first value") { $0.last == 1 }
    await server.cut()
    let database = "projects/back/databases/(default)"
    let write = Write.update(Document(name: "\(database)/documents/rooms/a", fields: ["n": .integer(2)]))
    _ = try await server.engine.commit(CommitRequest(database: database, writes: [write]), context: .owner)
    try await server.listen()
    let back = ContinuousClock.now
    network.change()
    try await shown.wait(for: "the value after the cut") { $0.last == 2 }
    print("a snapshot arrived \(ContinuousClock.now - back) after the network was back")
    registration.remove()
    await app.delete()
    try await server.stop()
  }
}
