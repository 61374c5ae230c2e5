import Testing
import VestaBytes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaStorageEndpoints
import VestaStorageWire
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageService

/// The engine behind the routes of Firebase's and Google's API, as their clients call it.
@Suite struct EndpointTests {
  private let server: EndpointServer
  private let bucket = "demo.appspot.com"

  init() throws { server = try EndpointServer() }

  /// Listens with an engine.
  @discardableResult
  private func serve(
    _ gatekeeper: (any StorageGuard)? = nil, isDevelopment: Bool = true, _ tuning: StorageEndpointsTuning? = nil
  ) async throws -> FakeCallerVerifier {
    let verifier = FakeCallerVerifier(clock: server.clock.service)
    verifier.accept(.full, token: "owner")
    let callers = CallerCheck(callers: BearerReading(verifier: verifier))
    let host = server.host(server.engine(callers: callers, gatekeeper: gatekeeper), isDevelopment: isDevelopment)
    var small = StorageEndpointsTuning()
    (small.chunkLength, small.readLength) = (10_000, 7_000)
    try await server.listen(ReversingHost(host: host), tuning ?? small)
    return verifier
  }

  /// A server whose compression turns the bytes round.
  private struct ReversingHost: EndpointHost {
    let host: FakeEndpointHost

    var clock: ServiceClock { host.clock }
    var defaultProject: String { host.defaultProject }
    var isDevelopment: Bool { host.isDevelopment }
    var compression: TransportCompression? {
      TransportCompression(name: "gzip", compress: { $0.reversed() }) { bytes, limit in
        guard bytes.count <= limit, bytes.first != 0 else { throw TransportError(.closed, "too large") }
        return bytes.reversed()
      }
    }

    func backend<Backend: Sendable>(_ type: Backend.Type, project: String) throws(ServiceStatus) -> Backend {
      try host.backend(type, project: project)
    }

    func onShutDown(_ work: @escaping @Sendable () -> Void) { host.onShutDown(work) }
  }

  /// Verifies ID tokens that are sent as bearer tokens, as a server's verifier does.
  private struct BearerReading: CallerVerifier {
    let verifier: FakeCallerVerifier

    nonisolated(nonsending) func verify(
      _ credential: Credential, project: String?
    ) async throws(ServiceStatus) -> VerifiedCaller {
      do {
        return try await verifier.verify(credential, project: project)
      } catch {
        return try await verifier.verify(.idToken(credential.token), project: project)
      }
    }
  }

  private func send(
    _ method: HTTPMethod, _ target: String, _ fields: HTTPFields = [:], _ body: [UInt8] = []
  ) async throws -> (status: Int, fields: HTTPFields, body: [UInt8]) {
    try await server.send(method, target, fields, body)
  }

  private func content(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) } }

  private func multipart(_ json: String, _ content: [UInt8], type: String = "image/png") -> [UInt8] {
    MultipartMachine.body(metadata: Array(json.utf8), contentType: type, content: content, boundary: "b1")
  }

  private let multipartFields: HTTPFields = [
    "x-goog-upload-protocol": "multipart", "content-type": "multipart/related; boundary=b1",
  ]

  @Test(arguments: [0, 1, 9_999, 300_000])
  func `an upload in one request is downloaded whole, in ranges and from its end`(_ length: Int) async throws {
    try await serve()
    let bytes = content(length)
    let made = try await send(
      .post, "/v0/b/\(bucket)/o?name=a%2Fb.png", multipartFields, multipart(#"{"metadata":{"k":"v"}}"#, bytes))
    #expect(made.status == 200)
    let object = try JSONObject(json: made.body)
    #expect(object["name"] == "a/b.png" && object["size"]?.string == "\(length)")
    #expect(object["contentType"] == "image/png" && object["metadata"]?.object?["k"] == "v")
    let path = "/v0/b/\(bucket)/o/a%2Fb.png"
    let whole = try await send(.get, "\(path)?alt=media")
    #expect(whole.status == 200 && whole.body == bytes && whole.fields["content-type"] == "image/png")
    // Clients that bound a download ask for a range, also of an object of nothing.
    let bounded = try await send(.get, "\(path)?alt=media", ["range": "bytes=0-99"])
    #expect(bounded.status == (length == 0 ? 200 : 206) && bounded.body == Array(bytes.prefix(100)))
    let last = try await send(.get, "\(path)?alt=media", ["range": "bytes=-10"])
    #expect(last.body == Array(bytes.suffix(10)))
    let after = try await send(.get, "\(path)?alt=media", ["range": "bytes=\(length + 1)-"])
    #expect(after.status == 416 && after.fields["content-range"] == "bytes */\(length)")
  }

  @Test func `buckets are made, listed and deleted, and objects keep a custom time`() async throws {
    try await serve()
    let json: HTTPFields = ["content-type": "application/json"]
    for status in [200, 409] {
      #expect(
        try await send(.post, "/storage/v1/b?project=demo", json, Array(#"{"name":"bbb"}"#.utf8)).status == status)
    }
    let listed = try await send(.get, "/storage/v1/b?project=demo")
    #expect(String(decoding: listed.body, as: UTF8.self).contains(#""name":"bbb""#))
    let path = "/storage/v1/b/bbb/o"
    #expect(try await send(.post, "/upload\(path)?uploadType=media&name=x", [:], [1]).status == 200)
    let patch = Array(#"{"customTime":"2026-01-01T00:00:00Z"}"#.utf8)
    let patched = try await send(.patch, "\(path)/x", json, patch)
    #expect(try JSONObject(json: patched.body)["customTime"] == "2026-01-01T00:00:00Z")
    #expect(try await send(.patch, "\(path)/x", json, Array(#"{"customTime":null}"#.utf8)).status == 400)
    #expect(try await send(.delete, "/storage/v1/b/bbb").status != 204)
    #expect(try await send(.delete, "\(path)/x").status == 204)
    #expect(try await send(.delete, "/storage/v1/b/bbb").status == 204)
    #expect(try await send(.delete, "/storage/v1/b/bbb").status == 404)
  }

  @Test func `an upload in parts continues where it was, and answers its end again`() async throws {
    try await serve()
    let bytes = content(50_000)
    let started = try await send(
      .post, "/v0/b/\(bucket)/o?name=large",
      [
        "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": "50000", "x-goog-upload-header-content-type": "text/plain",
      ], Array(#"{"cacheControl":"no-store"}"#.utf8))
    #expect(started.status == 200 && started.fields["x-goog-upload-status"] == "active")
    let url = try #require(HTTPURL(started.fields["x-goog-upload-url"] ?? ""))
    #expect(url.authority == "localhost")
    func part(_ command: String, _ offset: Int, _ part: [UInt8] = []) async throws -> (
      status: Int, fields: HTTPFields, body: [UInt8]
    ) {
      try await send(
        .post, url.target, ["x-goog-upload-command": command, "x-goog-upload-offset": "\(offset)"], part)
    }
    let first = try await part("upload", 0, Array(bytes[..<20_000]))
    #expect(first.status == 200 && first.fields["x-goog-upload-status"] == "active")
    // The answer was lost, and the part is sent again with more.
    #expect(try await part("upload", 10_000, Array(bytes[10_000..<30_000])).status == 200)
    let gap = try await part("upload", 40_000, [1])
    #expect(gap.status == 400 && gap.fields["x-goog-upload-status"] == "active")
    let query = try await part("query", 0)
    #expect(query.fields["x-goog-upload-size-received"] == "30000")
    for _ in 0..<2 {
      let end = try await part("upload, finalize", 30_000, Array(bytes[30_000...]))
      #expect(end.status == 200 && end.fields["x-goog-upload-status"] == "final")
      #expect(try JSONObject(json: end.body)["cacheControl"] == "no-store")
    }
    #expect(try await part("query", 0).fields["x-goog-upload-status"] == "final")
    #expect(try await send(.get, "/v0/b/\(bucket)/o/large?alt=media").body == bytes)
    #expect(try await part("cancel", 0).status == 400)
    let unknown = try await send(
      .post, "/v0/b/\(bucket)/o?name=large&upload_id=x", ["x-goog-upload-command": "query"])
    #expect(unknown.status == 404 && unknown.fields["x-goog-upload-status"] == "final")
  }

  @Test func `what a guard denies is denied with Firebase's sentences, and a download token opens an object`()
    async throws
  {
    let verifier = try await serve(ManualStorageGuard { $0.uid == "ada" })
    let ada: HTTPFields = ["authorization": "Firebase \(verifier.issue("ada").token)"]
    var upload = multipartFields
    #expect(try await send(.post, "/v0/b/\(bucket)/o?name=a", upload, multipart("{}", [1])).status == 403)
    upload.append(contentsOf: ada)
    let made = try JSONObject(
      json: try await send(.post, "/v0/b/\(bucket)/o?name=a", upload, multipart("{}", [1, 2])).body)
    let token = try #require(made["downloadTokens"]?.string)
    let path = "/v0/b/\(bucket)/o/a"
    for (method, target, word) in [
      (HTTPMethod.get, path, "READ"), (.get, "\(path)?alt=media", "READ"), (.get, "\(path)?alt=media&token=x", "READ"),
      (.get, "/v0/b/\(bucket)/o", "LIST"), (.delete, path, "WRITE"), (.get, "\(path)x", "READ"),
    ] as [(HTTPMethod, String, String)] {
      let denied = try await send(method, target)
      let message = try JSONObject(json: denied.body)["error"]?.object?["message"]?.string
      #expect(denied.status == 403 && message == "Permission denied. No \(word) permission.", "\(target)")
    }
    #expect(try await send(.get, "\(path)?alt=media&token=\(token)").body == [1, 2])
    #expect(try await send(.get, path, ada).status == 200)
    #expect(try await send(.get, path, ["authorization": "Firebase forged"]).status == 401)
    #expect(try await send(.get, "\(path)x", ada).status == 404)
    let owner: HTTPFields = ["authorization": "Bearer owner"]
    // Download tokens are the owner's, also where rules let a user write.
    for change in ["\(path)?create_token=true", "\(path)?delete_token=\(token)"] {
      for user in [ada, HTTPFields()] {
        let denied = try await send(.post, change, user)
        let message = try JSONObject(json: denied.body)["error"]?.object?["message"]?.string
        #expect(denied.status == 403 && message == "Missing admin credentials.", "\(change)")
      }
      #expect(try await send(.post, change, owner).status == 200)
    }
    #expect(try await send(.delete, path, owner).status == 204)
    // A denied upload in parts is refused when it begins, and says that it is over.
    let eve = try await send(
      .post, "/v0/b/\(bucket)/o?name=e", ["x-goog-upload-command": "start", "x-goog-upload-protocol": "resumable"])
    #expect(eve.status == 403 && eve.fields["x-goog-upload-status"] == "final")
    #expect(eve.fields["x-goog-upload-url"] == nil)
  }

  @Test func `metadata is changed and removed, and names are listed by folders`() async throws {
    try await serve()
    for name in ["a/1", "a/2", "a/b/3", "a//4", "c", "d//e"] {
      _ = try await send(
        .post, "/v0/b/\(bucket)/o?name=\(PercentEncoding.unreserved.encode(name))", ["content-type": "x/y"], [1])
    }
    let page = try JSONObject(json: try await send(.get, "/v0/b/\(bucket)/o?prefix=a%2F&delimiter=%2F").body)
    #expect(page["items"]?.array?.map { $0.object?["name"]?.string } == ["a/1", "a/2"])
    #expect(page["prefixes"]?.array?.map(\.string) == ["a/b/"])
    #expect(try await send(.get, "/v0/b/\(bucket)/o?prefix=a").status == 400)
    // Tools list a bucket to learn whether it is there.
    #expect(try await send(.get, "/storage/v1/b/\(bucket)/o?prefix=none").status == 200)
    #expect(try await send(.get, "/storage/v1/b/no-such-bucket/o").status == 404)
    let all = try JSONObject(json: try await send(.get, "/v0/b/\(bucket)/o?maxResults=100").body)
    #expect(all["items"]?.array?.count == 4)
    let change = Array(#"{"contentType":"p/q","cacheControl":"no-store","metadata":{"k":"v"}}"#.utf8)
    let changed = try JSONObject(json: try await send(.patch, "/v0/b/\(bucket)/o/c", [:], change).body)
    #expect(changed["contentType"] == "p/q" && changed["metageneration"] == "2")
    let removed = try await send(
      .put, "/v0/b/\(bucket)/o/c", ["x-http-method-override": "PATCH"],
      Array(#"{"cacheControl":null,"metadata":{"k":null}}"#.utf8))
    let object = try JSONObject(json: removed.body)
    #expect(object["cacheControl"] == nil && object["metadata"] == nil && object["metageneration"] == "3")
    #expect(try await send(.delete, "/v0/b/\(bucket)/o/c").status == 204)
    #expect(try await send(.delete, "/v0/b/\(bucket)/o/c").status == 404)
  }

  @Test func `Google's API has whole objects, no tokens, copies and uploads in parts`() async throws {
    try await serve()
    let made = try JSONObject(
      json: try await send(
        .post, "/upload/storage/v1/b/\(bucket)/o?uploadType=media&name=a", ["content-type": "x/y"], [1, 2, 3]
      ).body)
    #expect(made["kind"] == "storage#object" && made["metadata"] == nil)
    let copied = try JSONObject(
      json: try await send(.post, "/storage/v1/b/\(bucket)/o/a/rewriteTo/b/\(bucket)/o/c", [:], []).body)
    #expect(copied["done"] == true && copied["objectSize"] == "3")
    #expect(copied["resource"]?.object?["contentType"] == "x/y")
    #expect(try await send(.get, "/download/storage/v1/b/\(bucket)/o/c?alt=media").body == [1, 2, 3])
    let generation = try #require(made["generation"]?.string)
    #expect(try await send(.get, "/storage/v1/b/\(bucket)/o/a?generation=\(generation)").status == 200)
    #expect(try await send(.get, "/storage/v1/b/\(bucket)/o/a?generation=1").status == 404)
    #expect(try await send(.delete, "/storage/v1/b/\(bucket)/o/a?ifGenerationMatch=1").status == 412)
    let start = try await send(.post, "/upload/storage/v1/b/\(bucket)/o?uploadType=resumable&name=r", [:], [])
    let url = try #require(HTTPURL(start.fields["location"] ?? ""))
    let bytes = content(30_000)
    let half = try await send(.put, url.target, ["content-range": "bytes 0-19999/30000"], Array(bytes[..<20_000]))
    #expect(half.status == 308 && half.fields["range"] == "bytes=0-19999")
    let asked = try await send(.put, url.target, ["content-range": "bytes */30000"], [])
    #expect(asked.status == 308 && asked.fields["range"] == "bytes=0-19999")
    let fields: HTTPFields = ["content-range": "bytes */30000", "x-guploader-no-308": "yes"]
    let other = try await send(.put, url.target, fields, [])
    #expect(other.status == 200 && other.fields["x-http-status-code-override"] == "308")
    #expect(other.fields["range"] == "bytes=0-19999")
    let end = try await send(.put, url.target, ["content-range": "bytes 20000-29999/30000"], Array(bytes[20_000...]))
    #expect(end.status == 200)
    #expect(try await send(.get, "/storage/v1/b/\(bucket)/o/r?alt=media").body == bytes)
    // Readers of Firebase's API find a token in every object.
    let token = try JSONObject(json: try await send(.get, "/v0/b/\(bucket)/o/r").body)["downloadTokens"]?.string
    #expect(token?.isEmpty == false)
  }

  @Test func `Google's API wants a credential where the server is not one for development`() async throws {
    try await serve(isDevelopment: false)
    #expect(try await send(.get, "/storage/v1/b/\(bucket)/o").status == 401)
    #expect(try await send(.get, "/storage/v1/b/\(bucket)/o", ["authorization": "Bearer owner"]).status == 200)
  }

  @Test func `in production a bucket is there when an owner has made it`() async throws {
    try await serve(isDevelopment: false)
    let owner: HTTPFields = ["authorization": "Bearer owner"]
    for (target, fields) in [("/v0/b/con/o", [:]), ("/v0/b/con/o/a", [:]), ("/storage/v1/b/con/o", owner)]
      as [(String, HTTPFields)]
    {
      #expect(try await send(.get, target, fields).status == 404, "\(target)")
    }
    #expect(try await send(.post, "/v0/b/con/o?name=a", ["content-type": "text/plain"], [1]).status == 404)
    #expect(try await send(.post, "/upload/storage/v1/b/con/o?uploadType=media&name=a", owner, [1]).status == 404)
    #expect(try await send(.post, "/storage/v1/b", owner, Array(#"{"name":"con"}"#.utf8)).status == 200)
    #expect(try await send(.get, "/v0/b/con/o").status == 200)
    #expect(try await send(.post, "/v0/b/con/o?name=a", ["content-type": "text/plain"], [1]).status == 200)
    let copy = "/storage/v1/b/con/o/a/copyTo/b/other/o/a"
    #expect(try await send(.post, copy, owner).status == 404)
  }

  @Test func `requests that cannot be are refused`() async throws {
    try await serve()
    #expect(try await send(.post, "/v0/b/\(bucket)/o", multipartFields, multipart("{}", [1])).status == 400)
    #expect(try await send(.post, "/v0/b/\(bucket)/o?name=a", multipartFields, [1, 2, 3]).status == 400)
    #expect(
      try await send(.post, "/v0/b/\(bucket)/o?name=a", ["x-goog-upload-protocol": "multipart"], [1]).status == 400)
    #expect(
      try await send(.post, "/v0/b/\(bucket)/o?name=a", ["x-goog-upload-command": "dance"], []).status == 400)
    #expect(try await send(.patch, "/v0/b/\(bucket)/o/a", [:], Array("[".utf8)).status == 400)
    #expect(try await send(.get, "/v0/b/\(bucket)/o?maxResults=x").status == 400)
    #expect(try await send(.get, "/unknown").status == 501)
    #expect(try await send(.get, "/v0/b/other.appspot.com/o/a").status == 404)
  }

  @Test func `compressed content is decompressed for a client that does not take it`() async throws {
    var tuning = StorageEndpointsTuning()
    (tuning.decompressionLimit, tuning.readLength) = (10, 3)
    try await serve(nil, tuning)
    let place = "/upload/storage/v1/b/\(bucket)/o?uploadType=media&contentEncoding=gzip&name="
    let contents: [(String, [UInt8])] = [
      ("a", [1, 2, 3, 4, 5]), ("broken", [0, 2]), ("large", Array(repeating: 1, count: 11)),
    ]
    for (name, content) in contents {
      #expect(try await send(.post, "\(place)\(name)", ["content-type": "text/plain"], content).status == 200)
    }
    func read(_ name: String, _ fields: HTTPFields = [:]) async throws -> (
      status: Int, fields: HTTPFields, body: [UInt8]
    ) {
      try await send(.get, "/v0/b/\(bucket)/o/\(name)?alt=media", fields)
    }
    let plain = try await read("a")
    #expect(plain.body == [5, 4, 3, 2, 1] && plain.fields["content-encoding"] == nil)
    #expect(plain.fields["x-goog-stored-content-encoding"] == "gzip")
    #expect(plain.fields["x-goog-stored-content-length"] == "5")
    let stored = try await read("a", ["accept-encoding": "br, GZIP"])
    #expect(stored.body == [1, 2, 3, 4, 5] && stored.fields["content-encoding"] == "gzip")
    // A range is one of the stored bytes: without them everything is sent.
    let ranged = try await read("a", ["range": "bytes=1-2"])
    #expect(ranged.status == 200 && ranged.body == [5, 4, 3, 2, 1])
    let part = try await read("a", ["range": "bytes=1-2", "accept-encoding": "gzip"])
    #expect(part.status == 206 && part.body == [2, 3])
    for (name, content) in contents.dropFirst() {
      let read = try await read(name)
      #expect(read.body == content && read.fields["content-encoding"] == "gzip", "\(name)")
    }
    let patch = Array(#"{"cacheControl":"public, no-transform"}"#.utf8)
    let json: HTTPFields = ["content-type": "application/json"]
    #expect(try await send(.patch, "/v0/b/\(bucket)/o/a", json, patch).status == 200)
    #expect(try await read("a").body == [1, 2, 3, 4, 5])
  }
}
