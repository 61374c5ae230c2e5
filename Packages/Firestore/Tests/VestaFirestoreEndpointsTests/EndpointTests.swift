import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaFirestoreReference
import VestaFirestoreWire
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFirestoreEndpoints

/// The handler, without a connection.
@Suite struct EndpointTests {
  private let host: FakeEndpointHost
  private let handler: any HTTPHandler

  init() {
    host = FakeEndpointHost(project: "demo")
    let backend = ReferenceBackend()
    host.add((any FirestoreBackend).self, backend)
    host.add((any FirestoreAdminBackend).self, FakeFirestoreAdmin(backend))
    handler = FirestoreEndpoints().handler(in: host)
  }

  private func send(
    _ method: HTTPMethod, _ target: String, _ body: String = "", to handler: (any HTTPHandler)? = nil,
    fields: HTTPFields = [:]
  ) async throws -> (status: Int, body: JSONValue?, fields: HTTPFields) {
    let request = HTTPRequest(method, target, authority: "h", fields: fields, body: .text(body))
    let response: HTTPResponse
    switch (handler ?? self.handler).reply(to: request) {
    case .response(let made): response = made
    case .task(let work): response = try await work()
    case .webSocket: throw ServiceStatus(.internal, "a socket was opened")
    }
    let bytes = try await response.body.collect(upTo: 1 << 20)
    return (response.status.code, try? JSONValue(json: bytes), response.fields)
  }

  private let root = "/v1/projects/demo/databases/(default)/documents"

  private func write(_ path: String, _ fields: String = "{}") async throws -> Int {
    let name = "projects/demo/databases/(default)/documents/\(path)"
    return try await send(
      .post, "\(root):commit", #"{"writes":[{"update":{"name":"\#(name)","fields":\#(fields)}}]}"#
    ).status
  }

  @Test func `a document that was written over REST can be read`() async throws {
    #expect(try await write("a/b", #"{"x":{"integerValue":"7"}}"#) == 200)
    let got = try await send(.get, "\(root)/a/b")
    #expect(got.status == 200 && got.body?.object?["fields"] == ["x": ["integerValue": "7"]])
    #expect(try await send(.delete, "\(root)/a/b").body == [:])
    let missing = try await send(.get, "\(root)/a/b")
    #expect(missing.status == 404 && missing.body?.object?["error"]?.object?["status"] == "NOT_FOUND")
  }

  @Test func `an error of a call with an array is in an array`() async throws {
    let failed = try await send(.post, "\(root):batchGet", #"{"documents":["x"]}"#)
    #expect(failed.status == 400 && failed.body?.array?.count == 1)
    let other = try await send(.get, "/v1/projects/none/databases/d/documents/a/b")
    #expect(other.status == 404 && other.body?.object?["error"]?.object?["message"] == "There is no project none.")
  }

  @Test func `requests that are for other products are left to them`() {
    let endpoints = FirestoreEndpoints()
    func serves(_ method: HTTPMethod, _ target: String) -> Bool {
      endpoints.serves(HTTPRequestHead(method: method, target: target, fields: [:]))
    }
    #expect(serves(.get, "\(root)/a/b") && serves(.post, "/google.firestore.v1.Firestore/Commit"))
    #expect(serves(.post, "/google.firestore.v1.Firestore/Listen/channel?VER=8"))
    #expect(serves(.post, "/google.firestore.admin.v1.FirestoreAdmin/ListIndexes"))
    #expect(serves(.delete, "/emulator/v1/projects/p/databases/d/documents"))
    for target in ["/", "/v1/projects/p/messages:send", "/v1/accounts:lookup", "/emulator/v1/projects/p/accounts"] {
      #expect(!serves(.delete, target) && !serves(.post, target))
    }
  }

  @Test func `clearing is for development alone`() async throws {
    for number in 0..<7 { #expect(try await write("a/\(number)/b/c") == 200) }
    let production = FakeEndpointHost(project: "demo", isDevelopment: false)
    let refused = try await send(
      .delete, "/emulator/v1/projects/demo/databases/(default)/documents",
      to: FirestoreEndpoints().handler(in: production))
    #expect(refused.status == 404)
    let cleared = try await send(
      .delete, "/emulator/v1/projects/demo/databases/(default)/documents",
      to: FirestoreEndpoints().handler(in: host))
    #expect(cleared.status == 200 && cleared.body == [:])
    for number in 0..<7 { #expect(try await send(.get, "\(root)/a/\(number)/b/c").status == 404) }
  }

  @Test func `rules are read as they are set, and issues name the file that the tool has named`() async throws {
    let target = "/emulator/v1/projects/demo:securityRules"
    host.add((any RulesAdministration).self, FakeRulesAdministration())
    #expect(FirestoreEndpoints().serves(HTTPRequestHead(method: .get, target: target, fields: [:])))
    #expect(try await send(.get, target).body == ["rules": ["files": []]])
    #expect(try await send(.put, target, #"{"rules":{"files":[{"content":"allow"}]}}"#).status == 200)
    #expect(try await send(.get, target).body == ["rules": ["files": [["content": "allow"]]]])
    for (name, expected) in [(#""name":"a.rules","#, "a.rules"), ("", nil)] as [(String, JSONValue?)] {
      let refused = try await send(
        .put, target, #"{"rules":{"files":[{\#(name)"content":""}]},"ignore_errors":true}"#)
      let issue = refused.body?.object?["issues"]?.array?.first?.object?["sourcePosition"]?.object
      #expect(refused.status == 200 && issue?["line"] == 1 && issue?["fileName"] == expected)
    }
    let production = FirestoreEndpoints().handler(in: FakeEndpointHost(project: "demo", isDevelopment: false))
    #expect(try await send(.get, target, to: production).status == 404)
  }

  @Test func `the export of the emulator is written to the folder that the request names`() async throws {
    for number in 0..<3 { #expect(try await write("a/\(number)", #"{"n":{"integerValue":"\#(number)"}}"#) == 200) }
    try await withTemporaryDirectory { directory in
      let place = directory.path(percentEncoded: false)
      func export(
        _ name: String, in folder: String? = nil, _ fields: HTTPFields = [:], to handler: (any HTTPHandler)? = nil
      ) async throws -> Int {
        let body: JSONObject = [
          "database": "projects/demo/databases/(default)", "export_directory": .string(folder ?? place),
          "export_name": .string(name),
        ]
        let text = String(decoding: try JSONValue.object(body).json(), as: UTF8.self)
        return try await send(.post, "/emulator/v1/projects/demo:export", text, to: handler, fields: fields).status
      }
      #expect(try await export("e1") == 200)
      let overview = directory.appending(path: "e1/e1.overall_export_metadata").path(percentEncoded: false)
      let restored = ReferenceBackend()
      let files = DatabaseFiles(
        database: "projects/other/databases/(default)", backend: FakeFirestoreAdmin(restored),
        tuning: FirestoreExportTuning())
      #expect(try await files.read(overview, context: .owner).documents == 3)
      // A disk that was full has left a file without bytes.
      let output = directory.appending(path: "e1/all_namespaces/all_kinds/output-0")
      try Data().write(to: output)
      let error = await #expect(throws: ServiceStatus.self) { try await files.read(overview, context: .owner) }
      #expect(error?.message.contains("have 0 documents, and not 3") == true, "\(error?.message ?? "")")
      // An export is replaced as a whole; a folder with anything else is not, and nothing is left next to it.
      #expect(try await send(.delete, "\(root)/a/0").status == 200)
      #expect(try await export("e1") == 200)
      #expect(try await files.read(overview, context: .owner).documents == 2)
      let other = directory.appending(path: "other")
      try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
      try Data("x".utf8).write(to: other.appending(path: "file"))
      #expect(try await export("other") == 400)
      #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == ["e1", "other"])
      for name in ["", ".", "..", "a/b", "a\0b"] { #expect(try await export(name) == 400, "\(name)") }
      #expect(try await export("e2", in: "relative") == 400)
      // Pages cannot ask for it, and no server but one for development writes to such a folder.
      #expect(try await export("e2", ["origin": "http://127.0.0.1"]) == 403)
      let production = FirestoreEndpoints().handler(in: FakeEndpointHost(project: "demo", isDevelopment: false))
      #expect(try await export("e2", to: production) == 404)
      #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == ["e1", "other"])
    }
  }

  @Test func `an export has names that begin with a combining mark, and reads no file beside it`() async throws {
    // A character of the user hides the slash before such a name.
    #expect(try await write("a/\u{301}x", #"{"n":{"integerValue":"1"}}"#) == 200)
    try await withTemporaryDirectory { directory in
      let place = directory.path(percentEncoded: false)
      let body: JSONObject = [
        "database": "projects/demo/databases/(default)", "export_directory": .string(place), "export_name": "e1",
      ]
      let text = String(decoding: try JSONValue.object(body).json(), as: UTF8.self)
      #expect(try await send(.post, "/emulator/v1/projects/demo:export", text).status == 200)
      let restored = ReferenceBackend()
      let files = DatabaseFiles(
        database: "projects/demo/databases/(default)", backend: FakeFirestoreAdmin(restored),
        tuning: FirestoreExportTuning())
      let overview = directory.appending(path: "e1/e1.overall_export_metadata").path(percentEncoded: false)
      #expect(try await files.read(overview, context: .owner).documents == 1)
      let name = "projects/demo/databases/(default)/documents/a/\u{301}x"
      let request = BatchGetDocumentsRequest(database: "projects/demo/databases/(default)", documents: [name])
      var found: [BatchGetDocumentsResponse.Result] = []
      try await restored.batchGet(request, context: .owner) { if let result = $0.result { found.append(result) } }
      #expect(
        found.count == 1
          && found.allSatisfy {
            if case .found(let document) = $0 { document.name.utf8.elementsEqual(name.utf8) } else { false }
          })
    }
    for path in ["..", "../x", "../\u{301}x", "a/../\u{301}x", "/a"] {
      #expect(throws: ServiceStatus.self, "\(path)") { try DatabaseFiles.path(path, in: "/folder") }
    }
    #expect(try DatabaseFiles.path("a/..b", in: "/folder") == "/folder/a/..b")
  }

  @Test func `everything below a path is deleted, and nothing beside it`() async throws {
    let paths = ["a/1", "a/1/s/x", "a/2", "a/2/s/y/t/z", "ab/1", "a b/1", "b/1/a/2", "a/1/s2/x"]
    func remaining(after target: String) async throws -> [String] {
      for path in paths { #expect(try await write(path) == 200) }
      #expect(
        try await send(.delete, "/emulator/v1/projects/demo/databases/(default)/documents/\(target)").status == 200)
      var found: [String] = []
      for path in paths {
        let encoded = path.replacing(" ", with: "%20")
        if try await send(.get, "\(root)/\(encoded)").status == 200 { found.append(path) }
      }
      return found
    }
    #expect(try await remaining(after: "a") == ["ab/1", "a b/1", "b/1/a/2"])
    #expect(try await remaining(after: "a%20b") == paths.filter { $0 != "a b/1" })
    #expect(try await remaining(after: "a/1") == ["a/2", "a/2/s/y/t/z", "ab/1", "a b/1", "b/1/a/2"])
    #expect(try await remaining(after: "a/1/s") == paths.filter { $0 != "a/1/s/x" })
    #expect(try await remaining(after: "none") == paths)
    let bad = try await send(.delete, "/emulator/v1/projects/demo/databases/(default)/documents/a%2Fb")
    #expect(bad.status == 400)
  }

  @Test func `the calls of old clients are those of new ones`() async throws {
    #expect(try await write("a/b") == 200)
    let old = "/v1beta1/projects/demo/databases/(default)/documents"
    #expect(try await send(.get, "\(old)/a/b").body == (try await send(.get, "\(root)/a/b").body))
    #expect(try await send(.get, "/v1beta2/projects/demo/databases/(default)/documents/a/b").status == 404)
    let endpoints = FirestoreEndpoints()
    for path in ["\(old)/a/b", "/google.firestore.v1beta1.Firestore/Commit"] {
      #expect(endpoints.serves(HTTPRequestHead(method: .post, target: path, fields: [:])), "\(path)")
    }
    let calls = CallTable(host, FirestoreEndpointTuning())
    let service = FirestoreService(calls, AdminCallTable(host, FirestoreEndpointTuning()))
    for version in ["v1", "v1beta1"] {
      #expect(service.method(at: "/google.firestore.\(version).Firestore/Commit") != nil)
      #expect(WebChannelHandler.call(at: "/google.firestore.\(version).Firestore/Write/channel") == "Write")
    }
  }

  @Test func `a POST can name another method in a field of its header`() async throws {
    func overriding(_ name: String, _ body: String = "") async throws -> (status: Int, fields: JSONValue?) {
      let answer = try await send(.post, "\(root)/a/b", body, fields: ["x-http-method-override": name])
      return (answer.status, answer.body?.object?["fields"])
    }
    let document = #"{"fields":{"x":{"integerValue":"7"}}}"#
    #expect(try await overriding("PATCH", document).status == send(.patch, "\(root)/a/b", document).status)
    let got = try await overriding("get")
    #expect(got.status == 200 && got.fields == ["x": ["integerValue": "7"]])
    // Other methods mean themselves.
    #expect(try await send(.get, "\(root)/a/b", fields: ["x-http-method-override": "DELETE"]).status == 200)
    #expect(try await overriding("DELETE").status == 200)
    #expect(try await send(.get, "\(root)/a/b").status == 404)
  }

  @Test func `a response beyond the limit is refused, and no memory is the limit`() async throws {
    let text = String(repeating: "y", count: 2_000)
    #expect(try await write("a/b", #"{"x":{"stringValue":"\#(text)"}}"#) == 200)
    var tuning = FirestoreEndpointTuning()
    tuning.responseBytes = 1_000
    let small = FirestoreEndpoints(tuning: tuning).handler(in: host)
    let query = #"{"structuredQuery":{"from":[{"collectionId":"a"}]}}"#
    #expect(try await send(.post, "\(root):runQuery", query, to: small).status == 429)
    #expect(try await send(.post, "\(root):runQuery", query).status == 200)
  }

  @Test func `a large response over REST lets others proceed, and ends with its caller`() async throws {
    let text = String(repeating: "y", count: 2_000)
    for id in 0..<20 { #expect(try await write("a/\(id)", #"{"x":{"stringValue":"\#(text)"}}"#) == 200) }
    let query = #"{"structuredQuery":{"from":[{"collectionId":"a"}]}}"#
    func turns(_ batchBytes: Int) async throws -> Int {
      var tuning = FirestoreEndpointTuning()
      tuning.batchBytes = batchBytes
      let handler = FirestoreEndpoints(tuning: tuning).handler(in: host)
      let executor = CountingExecutor()
      let status = try await withTaskExecutorPreference(executor) {
        try await send(.post, "\(root):runQuery", query, to: handler).status
      }
      #expect(status == 200)
      return executor.turns.withLock { $0 }
    }
    let (many, few) = (try await turns(2_000), try await turns(1 << 20))
    #expect(many >= few + 15, "\(many) and \(few)")
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await send(.post, "\(root):runQuery", query).status
    }
    #expect((try? await cancelled.value) != 200)
  }

  @Test func `no channel is opened beyond the limit, or when the server ends`() async throws {
    var tuning = FirestoreEndpointTuning()
    tuning.webChannels = 1
    let small = FirestoreEndpoints(tuning: tuning).handler(in: host)
    let target = "/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=1&database=projects/demo/databases/d"
    let opened = try await send(.post, target, "count=0", to: small)
    #expect(opened.status == 200 && opened.fields.first("x-http-session-id")?.utf8.count == 32)
    #expect(try await send(.post, target, "count=0", to: small).status == 503)
    #expect(try await send(.post, target, "count=0").status == 200)
    host.shutDown()
    #expect(try await send(.post, target, "count=0").status == 503)
  }
}
