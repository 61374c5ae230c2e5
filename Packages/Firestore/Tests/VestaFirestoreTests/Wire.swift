import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreEndpoints
import VestaFirestoreRemote
import VestaFirestoreService
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The same tests with a network between client and engine: `VESTA_BACKEND=wire`.
///
/// Each call travels as bytes, in pieces and with delays, from the remote backend to the endpoints of an engine.
enum Wire {
  /// Whether the tests run so.
  static let isAsked = ProcessInfo.processInfo.environment["VESTA_BACKEND"] == "wire"

  private static let networks = Locked<[String: any HTTPClient]>([:])

  /// Brings the network of an app.
  private enum NetworkLibrary: Library {
    static let name = "test-network"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component(RemoteServices.self) { container, isCacheable in
          isCacheable = true
          guard let network = networks.withLock({ $0.removeValue(forKey: container.app?.name ?? "") }) else {
            throw CancellationError()
          }
          return RemoteServices(network)
        }
      ]
    }
  }

  /// An app whose client reaches a separate engine over a network.
  static func makeApp(_ name: String, project: String) throws -> VestaApp {
    let engine = FirestoreEngine(store: ModelStore(), options: FirestoreServiceOptions())
    return try makeApp(name, project: project, of: engine)
  }

  /// An app whose client reaches a backend over a network.
  static func makeApp(
    _ name: String, project: String, of backend: any FirestoreBackend, seed: UInt64 = .random(in: 0...1_000_000)
  ) throws -> VestaApp {
    let host = FakeEndpointHost(project: project)
    host.add((any FirestoreBackend).self, backend)
    let network = ScriptedNetwork(to: FirestoreEndpoints().handler(in: host), seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      func conditions(_ random: inout SplitMix) -> ScriptedPipe.Conditions {
        ScriptedPipe.Conditions(
          latency: .milliseconds(random.below(100)), largestPiece: random.oneIn(8) ? 100 + random.below(1_000) : nil)
      }
      return .init(fromClient: conditions(&random), fromServer: conditions(&random))
    }
    networks.withLock { $0[name] = network }
    return try VestaApp.configure(
      name: name, options: VestaOptions(projectID: project, backend: .emulator(host: "localhost", port: 80)),
      libraries: [
        FirestoreLibrary.self, FirestoreServiceLibrary.self, FirestoreRemoteLibrary.self, MemoryStoresLibrary.self,
        NetworkLibrary.self,
      ])
  }
}
