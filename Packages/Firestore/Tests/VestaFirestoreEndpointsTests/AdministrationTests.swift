import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaFirestoreReference
import VestaServiceInterop
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFirestoreEndpoints

/// Administration over REST, without a connection.
@Suite struct AdministrationTests {
  private let admin: FakeFirestoreAdmin
  private let handler: any HTTPHandler
  private let root = "/v1/projects/demo/databases"

  init() {
    let host = FakeEndpointHost(project: "demo")
    let backend = ReferenceBackend()
    admin = FakeFirestoreAdmin(backend)
    host.add((any FirestoreBackend).self, backend)
    host.add((any FirestoreAdminBackend).self, admin)
    var tuning = FirestoreEndpointTuning()
    tuning.operations = 3
    handler = FirestoreEndpoints(tuning: tuning).handler(in: host)
  }

  private func send(
    _ method: HTTPMethod, _ path: String, _ body: String = ""
  ) async throws -> (status: Int, body: JSONObject) {
    let request = HTTPRequest(method, root + path, authority: "h", body: .text(body))
    let response: HTTPResponse
    switch handler.reply(to: request) {
    case .response(let made): response = made
    case .task(let work): response = try await work()
    case .webSocket: throw ServiceStatus(.internal, "a socket was opened")
    }
    let bytes = try await response.body.collect(upTo: 1 << 20)
    return (response.status.code, try JSONObject(json: bytes))
  }

  private static let fields = #"{"queryScope":1,"fields":[{"fieldPath":"a","order":1},{"fieldPath":"b","order":2}]}"#

  @Test func `an index that is created is declared, listed, and deleted again`() async throws {
    let group = "/(default)/collectionGroups/c"
    let created = try await send(.post, "\(group)/indexes", Self.fields)
    #expect(created.status == 200 && created.body["done"] == true)
    let name = created.body["response"]?.object?["name"]?.string ?? ""
    #expect(created.body["metadata"]?.object?["index"]?.string == name)
    let text = try await admin.indexes(of: "projects/demo/databases/(default)", context: .owner)
    #expect(text?.contains(#""collectionGroup":"c""#) == true)
    #expect(try await send(.get, "/%28default%29/collectionGroups/-/indexes").body["indexes"]?.array?.count == 1)
    let path = String(name.dropFirst("projects/demo/databases".count))
    #expect(try await send(.get, path).body["state"] == "READY")
    #expect(try await send(.post, "\(group)/indexes", Self.fields).status == 409)
    #expect(try await send(.delete, path).body == [:])
    #expect(try await send(.get, path).status == 404)
  }

  @Test func `all documents are deleted by a call of the database, those of a collection by none`() async throws {
    let deleted = try await send(.post, "/(default):bulkDeleteDocuments", "{}")
    #expect(deleted.status == 200 && deleted.body["done"] == true)
    #expect(try await send(.post, "/(default):bulkDeleteDocuments", #"{"collectionIds":["a"]}"#).status == 501)
    #expect(try await send(.post, "/(default)/collectionGroups/a:bulkDeleteDocuments", "{}").status == 404)
  }

  @Test func `a field takes a mask in the query, and a path with escapes`() async throws {
    let path = "/(default)/collectionGroups/c/fields/%60a%2Fb%60"
    let updated = try await send(.patch, "\(path)?updateMask=indexConfig", #"{"indexConfig":{"indexes":[]}}"#)
    #expect(updated.status == 200 && updated.body["response"]?.object?["name"]?.string?.hasSuffix("`a/b`") == true)
    #expect(try await send(.get, path).body["indexConfig"]?.object?["usesAncestorConfig"] == nil)
    #expect(try await send(.patch, "\(path)?updateMask=ttlConfig", #"{"ttlConfig":{}}"#).status == 501)
    #expect(try await send(.patch, "/(default)/collectionGroups/__default__/fields/*", "{}").status == 501)
  }

  @Test(arguments: [(100, 200), (101, 400)])
  func `an index has a bounded number of fields`(_ count: Int, _ status: Int) async throws {
    let fields = (0..<count).map { #"{"fieldPath":"f\#($0)","order":"ASCENDING"}"# }.joined(separator: ",")
    let body = #"{"queryScope":"COLLECTION","fields":[\#(fields)]}"#
    #expect(try await send(.post, "/(default)/collectionGroups/c/indexes", body).status == status)
  }

  @Test func `operations are kept up to a number, the latest first`() async throws {
    for number in 0..<5 {
      let made = try await send(.post, "?databaseId=notes\(number)", #"{"locationId":"nam5","type":1}"#)
      #expect(made.status == 200)
    }
    #expect(try await send(.get, "").body["databases"]?.array?.count == 5)
    var count = 0
    for number in 0..<5 {
      count += try await send(.get, "/notes\(number)/operations").body["operations"]?.array?.count ?? 0
    }
    #expect(count == 3)
    let kept = try await send(.get, "/notes4/operations?filter=done%3Atrue&pageSize=1")
    #expect(kept.body["operations"]?.array?.count == 1 && kept.body["nextPageToken"] == nil)
    #expect(try await send(.get, "/notes4/operations?filter=done%3Dfalse").body == [:])
    #expect(try await send(.get, "/notes4/operations?filter=x").status == 400)
    #expect(try await send(.get, "/notes4/operations?pageToken=x").status == 400)
  }

  @Test(arguments: [(3, 400), (4, 200), (63, 200), (64, 400)])
  func `the id of a database has 4 to 63 characters`(_ length: Int, _ status: Int) async throws {
    let id = String(repeating: "d", count: length)
    #expect(try await send(.post, "?databaseId=\(id)", "{}").status == status)
  }

  @Test func `a deleted database is not found, and its etag guards it`() async throws {
    #expect(try await send(.post, "?databaseId=notes", "{}").status == 200)
    #expect(try await send(.delete, "/notes?etag=other").body["error"]?.object?["status"] == "FAILED_PRECONDITION")
    let done = try await send(.delete, "/notes").body
    #expect(done["done"] == true && done["response"]?.object?["name"]?.string?.hasSuffix("/databases/notes") == true)
    #expect(try await send(.get, "/notes").status == 404)
    #expect(try await send(.delete, "/notes").status == 404)
  }

  @Test func `settings that no database has are refused`() async throws {
    #expect(try await send(.post, "?databaseId=notes", #"{"deleteProtectionState":2}"#).status == 501)
    #expect(try await send(.post, "?databaseId=Notes", "{}").status == 400)
    #expect(try await send(.post, "?databaseId=(default)", "{}").status == 200)
    #expect(try await send(.patch, "/(default)?updateMask=type", #"{"type":"DATASTORE_MODE"}"#).status == 501)
    #expect(try await send(.patch, "/(default)", #"{"type":"FIRESTORE_NATIVE"}"#).status == 200)
    for place in ["", "b/c", "gs://", "http://b"] {
      let body = #"{"outputUriPrefix":"\#(place)"}"#
      #expect(try await send(.post, "/(default):exportDocuments", body).status == 400, "\(place)")
    }
    #expect(try await send(.get, "/none").status == 404)
  }

  @Test func `paths of documents are not paths of administration`() {
    for path in ["", "/d", "/d/operations", "/d/collectionGroups/c/indexes", "/d:exportDocuments"] {
      #expect(AdminRESTRequest.isMeant(by: Substring(root + path)), "\(path)")
    }
    for path in ["/d/documents", "/d/documents:commit", "/d/documents/a/b"] {
      #expect(!AdminRESTRequest.isMeant(by: Substring(root + path)), "\(path)")
    }
    let endpoints = FirestoreEndpoints()
    for target in ["\(root)?x=1", "/google.longrunning.Operations/GetOperation"] {
      #expect(endpoints.serves(HTTPRequestHead(method: .get, target: target, fields: [:])))
    }
  }
}
