import Dispatch
import Foundation
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
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

/// An engine in memory, and clients of it; over the wire with `VESTA_BACKEND=wire`.
final class World: Sendable {
  let engine: DatabaseEngine
  /// The engine as its clients have it.
  let backend: any DatabaseBackend

  init(store: any OrderedStore = ModelStore(), options: DatabaseServiceOptions = DatabaseServiceOptions()) {
    engine = DatabaseEngine(store: store, options: options)
    backend = TestBackend.current == .wire ? Self.remote(to: engine) : engine
  }

  /// A remote backend that reaches an engine over endpoints and a network.
  static func remote(
    to engine: any DatabaseBackend, network: ((any HTTPHandler) -> any HTTPClient)? = nil
  ) -> DatabaseRemote {
    let host = FakeEndpointHost(project: "test", isDevelopment: false)
    host.add((any DatabaseBackend).self, engine)
    let values = FakeNetwork()
    let handler = DatabaseEndpoints().handler(in: host)
    do {
      try values.serve(handler, at: .internet(host: "localhost", port: 80))
      return DatabaseRemote(on: try RESTService(network?(handler) ?? values, at: "http://localhost"))
    } catch {
      preconditionFailure("\(error)")
    }
  }

  func client(
    stores: (any StoreProvider)? = nil, backend: (any DatabaseBackend)? = nil, clock: ServiceClock = .system
  ) -> Database {
    var environment = Repo.Environment(backend: backend ?? self.backend)
    environment.clock = clock
    environment.random = SplitMix.fractions(seed: 1)
    // A busy machine may take long to connect.
    environment.readTime = .seconds(3600)
    environment.tuning.openingTime = .seconds(3600)
    return Self.client(environment, stores: stores)
  }

  /// A client of a scripted service whose time a test moves.
  static func client(_ backend: ScriptedDatabaseBackend, _ time: SimulatedTime) -> Database {
    var environment = Repo.Environment(backend: backend)
    environment.clock = time.clock
    environment.random = SplitMix.fractions(seed: 1)
    return client(environment)
  }

  /// A client with an environment of the test's own.
  static func client(_ environment: Repo.Environment, stores: (any StoreProvider)? = nil) -> Database {
    Database(
      app: nil, url: DatabaseURL(host: "test.firebaseio.com", isSecure: true, namespace: "test"),
      environment: environment, callbackQueue: DispatchQueue(label: "callbacks"), stores: stores,
      storeName: "cache", directory: { "" })
  }
}

/// Stores in memory that outlive the clients that open them.
final class KeptStores: StoreProvider {
  private let stores = Locked([String: ModelStore]())

  func openStore(named name: String, in directory: String, options: StoreOptions) async throws -> any OrderedStore {
    let store = stores.withLock { stores in
      if let store = stores[name] { return store }
      let store = ModelStore()
      stores[name] = store
      return store
    }
    return HookedStore(store, closesBase: false, isShared: true)
  }
}

/// Gates in a store: writes wait while one is closed, and the next reads wait at separate gates.
final class StoreGates: Sendable {
  let writes = Gate(isOpen: true)
  /// The gates of the next reads, at which they wait with the data of their version.
  let reads = Locked([Gate]())
  /// The writes, and the reads that have reached a gate.
  let held = Log<Int>()

  init(in store: HookedStore) {
    let (writes, reads, held) = (writes, reads, held)
    store.hook { step in
      switch step {
      case .write:
        held.add(held.entries.count)
        await writes.wait()
      case .snapshot:
        guard let gate = reads.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
        held.add(held.entries.count)
        await gate.wait()
      default: break
      }
    }
  }
}

extension World {
  /// Returns when client and engine have nothing left to do.
  func settle(_ clients: Database...) async {
    for _ in 0..<3 {
      for client in clients {
        client.repo.queue.sync {}
        if TestBackend.current == .wire { await client.roundTrip() }
      }
      await engine.settle()
    }
  }
}

extension Database {
  /// Returns when all that client and service have said before has arrived, unless there is no connection.
  func roundTrip() async {
    var isOver = false
    while !isOver {
      isOver = await withCheckedContinuation { continuation in
        repo.enqueue { repo in
          switch repo.link.machine.phase {
          // The number is one that no call of a program has.
          case .connected: repo.get(-1, "round-trip", .all) { _ in continuation.resume(returning: true) }
          case .disconnected, .waiting: continuation.resume(returning: true)
          case .gettingToken, .connecting, .authenticating: continuation.resume(returning: false)
          }
        }
      }
      if !isOver { await Task.yield() }
    }
  }
}

/// Runs code in which the forms with and without `async` are not to be confused.
func sync(_ body: () -> Void) { body() }
