import Testing
import VestaBytes
import VestaConcurrency
import VestaCrypto
import VestaFirestoreBackend
import VestaFirestoreEndpoints
import VestaFirestoreService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageService

/// Exports of Firestore to buckets of Storage, and imports from them, by their calls.
@Suite struct TransferTests {
  private let clock = ManualClock()
  private let database = "projects/demo/databases/(default)"

  private func send(_ handler: any HTTPHandler, _ request: HTTPRequest) async throws -> JSONObject {
    var request = request
    request.fields.append(.authorization, "Bearer owner")
    guard case .task(let work) = handler.reply(to: request) else { throw ServiceStatus(.internal, "no task") }
    return try JSONObject(json: try await work().body.collect(upTo: 1 << 20))
  }

  private func call(_ handler: any HTTPHandler, _ method: String, _ body: String) async throws -> JSONObject {
    try await send(handler, HTTPRequest(.post, "/v1/\(database):\(method)", authority: "h", body: .text(body)))
  }

  @Test func `what was exported to a bucket is imported, and both say what they did and how long it took`() async throws
  {
    let directory = try TemporaryDirectory("transfer")
    let verifier = FakeCallerVerifier()
    verifier.accept(.full, token: "owner")
    let storage = StorageEngine(
      options: StorageServiceOptions(), crypto: OpenSSLCrypto(),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))), clock: .system,
      callers: CallerCheck(callers: verifier),
      openStore: { ModelStore() })
    let engine = FirestoreEngine(store: ModelStore(), callers: CallerCheck(callers: verifier))
    let host = FakeEndpointHost(project: "demo", clock: clock.service)
    host.add((any FirestoreBackend).self, engine)
    host.add((any FirestoreAdminBackend).self, engine)
    let paths = Locked(0)
    // Each object takes a second to write and a minute to read.
    let slow = HookedStorageBackend(storage) { [clock] call, moment in
      guard moment == .after else { return }
      if call == .finalize { clock.advance(by: .seconds(1)) }
      if call == .open { clock.advance(by: .seconds(60)) }
      if call == .finalize { paths.withLock { $0 += 1 } }
    }
    host.add((any StorageBackend).self, slow)
    let handler = FirestoreEndpoints().handler(in: host)
    let documents = (0..<3).map { number in
      Document(name: "\(database)/documents/rooms/\(number)", fields: ["n": .integer(Int64(number))])
    }
    func commit(_ writes: [Write]) async throws {
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: .owner)
    }
    try await commit(documents.map { .update($0) })

    let exported = try await call(handler, "exportDocuments", #"{"outputUriPrefix":"gs://backups/exports/"}"#)
    let written = try #require(exported["metadata"]?.object, "\(exported)")
    #expect(exported["done"] == true && exported["response"]?.object?["outputUriPrefix"] == "gs://backups/exports")
    #expect(written["operationState"] == "SUCCESSFUL" && written["outputUriPrefix"] == "gs://backups/exports")
    #expect(written["progressDocuments"] == ["estimatedWork": "3", "completedWork": "3"])
    let objects = paths.withLock { $0 }
    #expect(objects > 1 && time(of: written) == Int64(objects))

    try await commit(documents.map { .delete($0.name) })
    let imported = try await call(handler, "importDocuments", #"{"inputUriPrefix":"gs://backups/exports"}"#)
    let read = try #require(imported["metadata"]?.object, "\(imported)")
    #expect(imported["done"] == true && read["inputUriPrefix"] == "gs://backups/exports")
    #expect(read["progressDocuments"] == ["estimatedWork": "3", "completedWork": "3"])
    #expect(time(of: read) == Int64(60 * objects))
    let back = try await send(handler, HTTPRequest(.get, "/v1/\(database)/documents/rooms", authority: "h"))
    #expect(back["documents"]?.array?.map { $0.object?["name"]?.string } == documents.map(\.name))
    let fields = (0..<3).map { JSONValue.object(["n": ["integerValue": .string("\($0)")]]) }
    #expect(back["documents"]?.array?.map { $0.object?["fields"] } == fields)
    try await engine.close()
    try await storage.close()
  }

  /// The seconds from the start of an operation to its end.
  private func time(of metadata: JSONObject) -> Int64? {
    func seconds(_ key: String) -> Int64? {
      metadata[key]?.string.flatMap { RFC3339.microseconds(of: $0) }.map { $0 / 1_000_000 }
    }
    guard let start = seconds("startTime"), let end = seconds("endTime") else { return nil }
    return end - start
  }
}
