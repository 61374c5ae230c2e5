import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseEndpoints
import VestaDatabaseRemote
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabase
@testable import VestaDatabaseService

/// The backend of an app's options, and the emulator that a program names instead.
@Suite(.timeLimit(.minutes(5))) struct BackendTests {
  private static let networks = Locked<[String: FakeNetwork]>([:])

  private enum NetworkLibrary: Library {
    static let name = "backend-network"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component(RemoteServices.self, caching: .shared) { container in
          guard let network = networks.withLock({ $0[container.app?.name ?? ""] }) else { throw CancellationError() }
          return RemoteServices(network)
        }
      ]
    }
  }

  private func app(_ network: FakeNetwork, _ backend: VestaOptions.Backend) throws -> VestaApp {
    let name = "backend-\(UUID().uuidString)"
    Self.networks.withLock { $0[name] = network }
    let options = VestaOptions(projectID: "demo", backend: backend)
    options.callbackQueue = DispatchQueue(label: "callbacks")
    return try VestaApp.configure(
      name: name, options: options,
      libraries: [
        DatabaseLibrary.self, DatabaseServiceLibrary.self, DatabaseRemoteLibrary.self, ModelLibrary.self,
        NetworkLibrary.self,
      ])
  }

  private enum ModelLibrary: Library {
    static let name = "backend-store"
    static let version = "1"
    static func components() -> [Component] {
      [Component((any StoreProvider).self, caching: .shared) { _ in KeptStores() }]
    }
  }

  private func serve(_ network: FakeNetwork, _ name: String, _ port: Int) throws -> DatabaseEngine {
    let engine = DatabaseEngine(store: ModelStore())
    let host = FakeEndpointHost(project: "demo", isDevelopment: false)
    host.add((any DatabaseBackend).self, engine)
    try network.serve(DatabaseEndpoints().handler(in: host), at: .internet(host: name, port: port))
    return engine
  }

  private func value(_ engine: DatabaseEngine, _ path: DatabasePath = "a") async throws -> DatabaseLeaf? {
    let request = DatabaseReadRequest(namespace: "demo-default-rtdb", path: path)
    return try await engine.read(request, context: .owner).node.leaf
  }

  @Test(
    arguments: [
      (VestaOptions.Backend.server(URL(string: "https://vesta.example")!), "vesta.example", 443),
      (.emulators(["database": "127.0.0.1:9000"]), "127.0.0.1", 9000),
      (.firebase, "demo-default-rtdb.firebaseio.com", 443),
    ] as [(VestaOptions.Backend, String, Int)])
  func `the backend of the options says where the database is`(
    backend: VestaOptions.Backend, host: String, port: Int
  ) async throws {
    let network = FakeNetwork()
    let engine = try serve(network, host, port)
    let app = try app(network, backend)
    try await Database.instance(for: app).reference(withPath: "a").setValue(7)
    #expect(try await value(engine) == .int(7))
    await app.delete()
  }

  @Test func `an emulator that a program names is its database, whatever the backend of the app is`() async throws {
    let network = FakeNetwork()
    let firebase = try serve(network, "demo-default-rtdb.firebaseio.com", 443)
    let emulator = try serve(network, "::1", 9000)
    let app = try app(network, .firebase)
    let database = try Database.instance(for: app)
    database.isPersistenceEnabled = true
    database.useEmulator(withHost: "::1", port: 9000)
    try await database.reference(withPath: "a").setValue(7)
    #expect(try await value(emulator) == .int(7))
    #expect(try await value(firebase) == nil)
    #expect(database.reference().url.hasPrefix("http://[::1]:9000"))
    // Too late: the database stays where it is.
    database.useEmulator(withHost: "localhost", port: 1)
    try await database.reference(withPath: "a").setValue(8)
    #expect(try await value(emulator) == .int(8))
    await app.delete()
  }

  @Test func `an embedded database stays the engine's when a program names an emulator`() async throws {
    let network = FakeNetwork()
    let emulator = try serve(network, "localhost", 9000)
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-backend-\(UUID().uuidString)")
    let app = try app(network, .embedded(directory: directory))
    let database = try Database.instance(for: app)
    database.useEmulator(withHost: "localhost", port: 9000)
    try await database.reference(withPath: "a").setValue(7)
    #expect(try await value(emulator) == nil)
    #expect(try await database.reference(withPath: "a").getData().value as? Int == 7)
    await app.delete()
  }
}
