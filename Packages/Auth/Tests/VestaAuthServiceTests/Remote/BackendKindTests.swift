import Foundation
import Testing
import VestaAuthBackend
import VestaAuthRemote
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaServiceInterop
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

  private struct Kind: Sendable, CustomTestStringConvertible {
    var backend: VestaOptions.Backend
    var host: String
    var port: Int
    var prefix = "/identitytoolkit.googleapis.com"
    var key: String? = "no-api-key"
    var knowsOwner = false
    var testDescription: String { host }
  }

  @Test(arguments: [
    Kind(backend: .firebase, host: "identitytoolkit.googleapis.com", port: 443, prefix: "", key: nil),
    Kind(backend: .server(URL(string: "https://vesta.example")!), host: "vesta.example", port: 443),
    Kind(backend: .emulators(["auth": "localhost:9099"]), host: "localhost", port: 9_099, knowsOwner: true),
  ])
  private func `each kind of backend is sent what it understands`(kind: Kind) async throws {
    let (seen, network) = (Log<HTTPRequest>(), FakeNetwork())
    let handler = HTTPClosureHandler { request in
      seen.add(request)
      return .response(.json(Array("{}".utf8)))
    }
    try network.serve(handler, at: .internet(host: kind.host, port: kind.port))
    let name = "auth-kind-\(UUID().uuidString)"
    Self.networks.withLock { $0[name] = network }
    let app = try VestaApp.configure(
      name: name, options: VestaOptions(projectID: "demo", backend: kind.backend),
      libraries: [AuthRemoteLibrary.self, NetworkLibrary.self])
    let client = try app.container.require((any AuthBackend).self)
    _ = try? await client.lookup(LookupRequest(idToken: "t"), context: CallContext())
    #expect(seen.entries.map(\.target) == ["\(kind.prefix)/v1/accounts:lookup"])
    #expect(seen.entries.map { $0.fields["x-goog-api-key"] } == [kind.key])
    // An emulator alone knows the owner by a word.
    let admin = try app.container.require((any AuthAdminBackend).self)
    _ = try? await admin.getUsers(GetUsersRequest(localIDs: ["ada"]), context: .owner)
    #expect(seen.entries.contains { $0.fields[.authorization] == "Bearer owner" } == kind.knowsOwner)
    await app.delete()
  }
}
