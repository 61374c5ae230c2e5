import Foundation
import Testing
import VestaAppCheckBackend
import VestaAppCheckRemote
import VestaAuthBackend
import VestaAuthRemote
import VestaBytes
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaDatabaseBackend
import VestaDatabaseRemote
import VestaFunctionsBackend
import VestaFunctionsRemote
import VestaInstallationsBackend
import VestaInstallationsRemote
import VestaRemoteConfigBackend
import VestaRemoteConfigRemote
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageRemote
import VestaTesting
import VestaTransport
import VestaTransportInterop

/// The requests of apps for Firebase, for a server and for emulators: the libraries choose by the backend.
@Suite(.timeLimit(.minutes(5))) struct RemoteKindTests {
  /// Notes each request, and answers none.
  private final class NotingClient: HTTPClient {
    let requests = Locked<[HTTPRequest]>([])

    func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
      requests.withLock { $0.append(request) }
      return .json(Array("{}".utf8), status: HTTPStatus(404))
    }

    func openWebSocket(_ request: HTTPRequest, subprotocols: [String], timeout: Duration?) async throws -> WebSocket {
      requests.withLock { $0.append(request) }
      throw TransportError(.closed, "Nobody is there.")
    }

    func close() async {}
  }

  private func sent(
    _ kind: VestaOptions.Backend.Kind, _ call: (ComponentContainer) async throws -> Void
  ) async throws -> HTTPRequest? {
    let backend: VestaOptions.Backend =
      switch kind {
      case .firebase: .firebase
      case .emulators: .emulator(host: "localhost", port: 1)
      default: .server(try #require(URL(string: "https://vesta.example")))
      }
    let options = VestaOptions(projectID: "demo", backend: backend)
    (options.gcmSenderID, options.apiKey, options.googleAppID) = ("7", "key", "1:7:ios:3")
    // Without installations, so that the calls which want one are the first to be sent.
    let app = try VestaApp.configure(
      name: "kind-\(UUID().uuidString)", options: options,
      libraries: [
        AppCheckRemoteLibrary.self, AuthRemoteLibrary.self, DatabaseRemoteLibrary.self, FunctionsRemoteLibrary.self,
        RemoteConfigRemoteLibrary.self, StorageRemoteLibrary.self, TransportLibrary.self,
      ])
    let client = NotingClient()
    app.container.override((any HTTPClient).self, with: client as any HTTPClient)
    try? await call(app.container)
    await app.delete()
    return client.requests.withLock { $0.first }
  }

  private typealias Call = @Sendable (ComponentContainer, CallContext) async throws -> Void

  private struct Product: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The addresses of its call at Firebase, at a server and at an emulator.
    var addresses: [String]
    var sendsKey = false
    var call: Call
  }

  private static let functions = Product(
    testDescription: "functions",
    addresses: [
      "https://us-central1-demo.cloudfunctions.net/add", "https://vesta.example/demo/us-central1/add",
      "http://localhost:1/demo/us-central1/add",
    ]
  ) { container, context in
    let call = FunctionCall(.name("add", region: "us-central1"), data: 1)
    _ = try await container.require((any FunctionsBackend).self).call(call, context: context)
  }

  private static let appCheck = Product(
    testDescription: "keys of App Check",
    addresses: [
      "https://firebaseappcheck.googleapis.com/v1/jwks", "https://vesta.example/v1/projects/demo/jwks",
      "http://localhost:1/v1/projects/demo/jwks",
    ], sendsKey: true
  ) { container, context in
    _ = try await container.require((any AppCheckBackend).self).keys(context: context)
  }

  private static let tokens = Product(
    testDescription: "ID tokens",
    addresses: [
      "https://securetoken.googleapis.com/v1/token", "https://vesta.example/securetoken.googleapis.com/v1/token",
      "http://localhost:1/securetoken.googleapis.com/v1/token",
    ], sendsKey: true
  ) { container, context in
    let request = RefreshRequest(refreshToken: "r")
    _ = try await container.require((any AuthBackend).self).refresh(request, context: context)
  }

  private static let database = Product(
    testDescription: "database",
    addresses: [
      "https://notes.firebaseio.com/a.json?ns=notes&format=export",
      "https://vesta.example/a.json?ns=notes&format=export", "http://localhost:1/a.json?ns=notes&format=export",
    ]
  ) { container, context in
    let request = DatabaseReadRequest(namespace: "notes", path: "a")
    _ = try await container.require((any DatabaseBackend).self).read(request, context: context)
  }

  private static let template = Product(
    testDescription: "template of Remote Config",
    addresses: [
      "https://firebaseremoteconfig.googleapis.com/v1/projects/demo/remoteConfig",
      "https://vesta.example/v1/projects/demo/remoteConfig", "http://localhost:1/v1/projects/demo/remoteConfig",
    ], sendsKey: true
  ) { container, context in
    _ = try await container.require((any RemoteConfigAdminBackend).self)
      .template(namespace: "firebase", version: nil, context: context)
  }

  private static let realtime = Product(
    testDescription: "realtime connection of Remote Config",
    addresses: [
      "https://firebaseremoteconfigrealtime.googleapis.com/v1/projects/7/namespaces/firebase:streamFetchInvalidations",
      "https://vesta.example/v1/projects/demo/namespaces/firebase:streamFetchInvalidations",
      "http://localhost:1/v1/projects/demo/namespaces/firebase:streamFetchInvalidations",
    ], sendsKey: true
  ) { container, context in
    let end = Gate()
    let request = InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0)
    let listening = try container.require((any RemoteConfigBackend).self)
      .listenForInvalidations(request, context: context, onEnd: { _ in end.open() }) { _ in }
    await end.wait()
    listening.cancel()
  }

  private static let storage = Product(
    testDescription: "object of Storage",
    addresses: [
      "https://firebasestorage.googleapis.com/v0/b/b/o/a", "https://vesta.example/v0/b/b/o/a",
      "http://localhost:1/v0/b/b/o/a",
    ]
  ) { container, context in
    _ = try await container.require((any StorageBackend).self)
      .getObject(ObjectName(bucket: "b", name: "a"), preconditions: .none, context: context)
  }

  @Test(arguments: [functions, appCheck, tokens, database, template, realtime, storage])
  private func `each kind of backend is asked at its address, and knows the owner by what it takes`(
    product: Product
  ) async throws {
    let kinds = [VestaOptions.Backend.Kind.firebase, .server, .emulators]
    for (kind, address) in zip(kinds, product.addresses) {
      let request = try #require(try await sent(kind) { try await product.call($0, CallContext()) })
      #expect("\(request.scheme)://\(request.authority)\(request.target)" == address)
      #expect(request.fields["x-goog-api-key"] == (product.sendsKey ? "key" : nil))
      // The word that is no secret is sent to emulators alone.
      let owners = try await sent(kind) { try await product.call($0, .owner) }
      #expect((owners?.fields[.authorization] == "Bearer owner") == (kind == .emulators))
    }
  }

  @Test func `a list of emulators may lack installations, and the library says which version it is`() async throws {
    let lists: [(EmulatorAddresses, String?)] = [
      (["auth": "localhost:2"], nil), (["installations": "localhost:1"], "localhost:1"),
    ]
    for (addresses, authority) in lists {
      let app = try VestaApp.configure(
        name: "kind-\(UUID().uuidString)", options: VestaOptions(projectID: "demo", backend: .emulators(addresses)),
        libraries: [InstallationsRemoteLibrary.self, TransportLibrary.self])
      let client = NotingClient()
      app.container.override((any HTTPClient).self, with: client as any HTTPClient)
      let backend = try app.container.find((any InstallationsBackend).self)
      #expect((backend != nil) == (authority != nil))
      let made = CreateInstallationRequest(id: "i", appID: "1:7:ios:3")
      _ = try? await backend?.create(made, context: CallContext())
      let request = client.requests.withLock { $0.first }
      #expect(request?.authority == authority)
      let body = try await request?.body.collect(upTo: 1_000) ?? []
      #expect(String(decoding: body, as: UTF8.self).contains(#""sdkVersion":"s:"#) == (authority != nil))
      await app.delete()
    }
  }
}
