import VestaConcurrency
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageEndpoints
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageService

/// A server for tests of endpoints: an engine with its objects in a folder, behind routes on a network in memory.
struct EndpointServer {
  let clock = ManualClock()
  private let network = FakeNetwork()
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// An engine on the clock of the server.
  func engine(
    in folder: String = "blobs", _ store: ModelStore = ModelStore(), callers: CallerCheck? = nil,
    gatekeeper: (any StorageGuard)? = nil
  ) -> StorageEngine {
    StorageEngine(
      options: StorageServiceOptions(), crypto: BarredCrypto(countsBytes: true),
      content: .provided(FileBlobStore(directory: directory.path(of: folder))), clock: clock.service,
      callers: callers ?? CallerCheck(), gatekeeper: gatekeeper, openStore: { store })
  }

  /// A host with the engine; `front` is called instead of it for objects.
  func host(
    _ engine: StorageEngine, behind front: (any StorageBackend)? = nil, isDevelopment: Bool = true
  ) -> FakeEndpointHost {
    let host = FakeEndpointHost(project: "demo", clock: clock.service, isDevelopment: isDevelopment)
    host.add((any StorageBackend).self, front ?? engine)
    host.add((any StorageAdminBackend).self, engine)
    return host
  }

  /// Serves the routes of a host.
  func listen(
    _ host: any EndpointHost, _ tuning: StorageEndpointsTuning = StorageEndpointsTuning(), port: Int = 80
  ) async throws {
    let handler = StorageEndpoints(tuning: tuning).handler(in: host)
    _ = try await network.listen(at: .internet(host: "localhost", port: port), handler: handler)
  }

  /// The response to a request, with its whole body.
  func send(
    _ method: HTTPMethod, _ target: String, _ fields: HTTPFields = [:], _ body: [UInt8] = [],
    to authority: String = "localhost"
  ) async throws -> (status: Int, fields: HTTPFields, body: [UInt8]) {
    let request = HTTPRequest(
      method, target, authority: authority, fields: fields, body: body.isEmpty ? .empty : .bytes(body))
    let response = try await network.send(request, timeout: nil)
    return (response.status.code, response.fields, try await response.body.collect(upTo: 1 << 24))
  }
}
