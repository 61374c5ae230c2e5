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
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The requests of an app for Firebase, for servers and for emulators.
@Suite(.timeLimit(.minutes(5))) struct BackendKindTests {
  private static let networks = Locked<[String: FakeNetwork]>([:])

  private enum NetworkLibrary: Library {
    static let name = "kind-network"
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

  /// A service that notes of each write whether it carries an identifier.
  private struct NotingBackend: ForwardingFirestoreBackend {
    let inner = FirestoreEngine(store: ModelStore(), options: FirestoreServiceOptions())
    let identified = Log<Bool>()

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { inner }

    func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
      let (call, identified) = (try await inner.write(database: database, context: context), identified)
      return WriteCall(
        responses: call.responses,
        send: { request in
          if !request.writes.isEmpty { identified.add(request.id != nil) }
          call.send(request)
        }, finish: { call.finish() }, cancel: { call.cancel() })
    }
  }

  private struct Kind: Sendable, CustomTestStringConvertible {
    var backend: VestaOptions.Backend
    var host: String
    var port: Int
    var takesIdentifiers = true
    var knowsOwner = false
    var testDescription: String { host }
  }

  @Test(arguments: [
    Kind(backend: .firebase, host: "firestore.googleapis.com", port: 443, takesIdentifiers: false),
    Kind(backend: .server(URL(string: "https://vesta.example")!), host: "vesta.example", port: 443),
    Kind(backend: .emulators(["firestore": "localhost:8080"]), host: "localhost", port: 8080, knowsOwner: true),
  ])
  private func `each kind of backend is sent what it understands`(kind: Kind) async throws {
    let (backend, seen, network) = (NotingBackend(), Log<HTTPRequest>(), FakeNetwork())
    let host = FakeEndpointHost(project: "demo")
    host.add((any FirestoreBackend).self, backend)
    let endpoints = FirestoreEndpoints().handler(in: host)
    let handler = HTTPClosureHandler(body: .streamed) { request in
      seen.add(request)
      return endpoints.reply(to: request)
    }
    _ = try await network.listen(at: .internet(host: kind.host, port: kind.port), handler: handler)
    let name = "kind-\(UUID().uuidString)"
    Self.networks.withLock { $0[name] = network }
    let app = try VestaApp.configure(
      name: name, options: VestaOptions(projectID: "demo", backend: kind.backend),
      libraries: [FirestoreLibrary.self, FirestoreRemoteLibrary.self, MemoryStoresLibrary.self, NetworkLibrary.self])
    try await Firestore.instance(for: app).document("rooms/a").setData(["n": 1])
    #expect(backend.identified.entries == [kind.takesIdentifiers])

    // An emulator alone knows the owner by a word.
    let remote = try app.container.require((any FirestoreBackend).self)
    let parent = "projects/demo/databases/(default)/documents"
    _ = try? await remote.listCollectionIDs(ListCollectionIDsRequest(parent: parent), context: .owner)
    #expect(seen.entries.contains { $0.fields[.authorization] == "Bearer owner" } == kind.knowsOwner)
    for request in seen.entries {
      #expect(request.fields["x-goog-api-client"]?.hasPrefix("gl-swift/ fire/") == true)
      #expect(request.fields["google-cloud-resource-prefix"] == "projects/demo/databases/(default)")
    }
    await app.delete()
    try await backend.inner.close()
  }
}
