import VestaFirestoreBackend
import VestaFirestoreEndpoints
import VestaFirestoreRemote
import VestaFirestoreService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTransportInterop
import VestaTransportInteropFakes

/// An engine behind its endpoints, and a remote backend in front of them.
struct Served {
  let engine: FirestoreEngine
  let verifier: FakeCallerVerifier
  let host: FakeEndpointHost
  let handler: any HTTPHandler
  let remote: FirestoreRemote

  /// Serves an engine with an empty store.
  ///
  /// - Parameter client: The way from the remote backend to a handler.
  init(
    tuning: FirestoreEndpointTuning = FirestoreEndpointTuning(), rest: RESTOptions = .owner,
    over client: (any HTTPHandler) async throws -> any HTTPClient
  ) async throws {
    verifier = FakeCallerVerifier()
    verifier.accept(.full, token: "owner")
    // No transaction expires while the machine is busy.
    var options = FirestoreServiceOptions()
    options.transactionIdleTime = .seconds(100_000)
    options.transactionLifetime = .seconds(100_000)
    engine = FirestoreEngine(store: ModelStore(), options: options, callers: CallerCheck(callers: verifier))
    host = FakeEndpointHost(project: "contracts")
    host.add((any FirestoreBackend).self, engine)
    handler = FirestoreEndpoints(tuning: tuning).handler(in: host)
    remote = FirestoreRemote(
      on: try RESTService(try await client(handler), at: "http://localhost:80", options: rest))
  }

  /// Serves an engine on a network in memory.
  static func onFakeNetwork(
    _ network: FakeNetwork = FakeNetwork(), tuning: FirestoreEndpointTuning = FirestoreEndpointTuning()
  ) async throws -> Served {
    try await Served(tuning: tuning) { handler in
      _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
      return network
    }
  }
}

extension RESTOptions {
  /// The options of a program that calls as the owner of an emulator.
  static var owner: RESTOptions { RESTOptions(ownerToken: { "owner" }) }
}

let database = "projects/contracts/databases/(default)"

extension FirestoreBackend {
  func document(_ path: String, context: CallContext = .owner) async throws -> Document? {
    var found: Document?
    let request = BatchGetDocumentsRequest(database: database, documents: [database + "/documents/" + path])
    try await batchGet(request, context: context) { response in
      if case .found(let document)? = response.result { found = document }
    }
    return found
  }

  @discardableResult
  func set(_ path: String, _ fields: MapValue, context: CallContext = .owner) async throws -> CommitResponse {
    let write = Write.update(Document(name: database + "/documents/" + path, fields: fields))
    return try await commit(CommitRequest(database: database, writes: [write]), context: context)
  }
}
