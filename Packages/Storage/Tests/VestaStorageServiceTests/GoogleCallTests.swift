import Foundation
import Testing
import VestaBytes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageEndpoints
import VestaStorageWire
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageService

/// Compositions, moves, replacements, batches and access in Google's JSON.
@Suite struct GoogleCallTests {
  private let server: EndpointServer
  private let objects = "/storage/v1/b/demo.appspot.com/o"

  init() throws { server = try EndpointServer() }

  private func serve(isDevelopment: Bool = true, small: StorageEndpointsTuning? = nil) async throws {
    let verifier = FakeCallerVerifier(clock: server.clock.service)
    verifier.accept(.full, token: "owner")
    let callers = CallerCheck(callers: verifier)
    let host = server.host(server.engine(callers: callers), isDevelopment: isDevelopment)
    host.add((any StorageBackend).self, server.engine(in: "other", callers: callers), project: "other")
    try await server.listen(host)
    if let small { try await server.listen(host, small, port: 81) }
  }

  @discardableResult
  private func send(
    _ method: HTTPMethod, _ target: String, _ body: String = "", _ fields: HTTPFields = [:],
    to authority: String = "localhost"
  ) async throws -> (status: Int, fields: HTTPFields, text: String, json: JSONObject) {
    let answer = try await server.send(method, target, fields, Array(body.utf8), to: authority)
    return (
      answer.status, answer.fields, String(decoding: answer.body, as: UTF8.self),
      (try? JSONObject(json: answer.body)) ?? JSONObject()
    )
  }

  /// Uploads an object; returns its generation.
  @discardableResult
  private func put(_ name: String, _ content: String) async throws -> String {
    let made = try await send(.post, "/upload\(objects)?uploadType=media&name=\(name)", content)
    return try #require(made.json["generation"]?.string)
  }

  private func content(_ name: String) async throws -> String {
    try await send(.get, "\(objects)/\(name)?alt=media").text
  }

  // MARK: Conditions

  @Test func `a tag that does not match refuses reads and changes`() async throws {
    try await serve()
    try await put("a", "1")
    let tag = try #require(try await send(.get, "\(objects)/a").json["etag"]?.string)
    let media = "\(objects)/a?alt=media"
    for wrong: HTTPFields in [["if-match": "wrong"], ["if-match": "\"x\", y"]] {
      #expect(try await send(.get, "\(objects)/a", "", wrong).status == 412)
      #expect(try await send(.get, media, "", wrong).status == 412)
      #expect(try await send(.patch, "\(objects)/a", #"{"cacheControl":"x"}"#, wrong).status == 412)
      #expect(try await send(.put, "\(objects)/a", "{}", wrong).status == 412)
      #expect(try await send(.delete, "\(objects)/a", "", wrong).status == 412)
    }
    for known: HTTPFields in [["if-none-match": tag], ["if-none-match": "*"]] {
      for target in ["\(objects)/a", media, "/demo.appspot.com/a"] {
        #expect(try await send(.get, target, "", known).status == 304, "\(target)")
      }
      #expect(try await send(.patch, "\(objects)/a", #"{"cacheControl":"x"}"#, known).status == 412)
    }
    let right: HTTPFields = ["if-match": "W/\"z\", \"\(tag)\""]
    #expect(try await send(.get, media, "", right).text == "1")
    #expect(try await send(.patch, "\(objects)/a", #"{"cacheControl":"x"}"#, right).status == 200)
    // The change has given it another tag.
    #expect(try await send(.delete, "\(objects)/a", "", right).status == 412)
    #expect(try await send(.delete, "\(objects)/a", "", ["if-match": "*"]).status == 204)
  }

  @Test func `a tag that does not match refuses an upload`() async throws {
    try await serve()
    try await put("a", "1")
    let tag = try #require(try await send(.get, "\(objects)/a").json["etag"]?.string)
    let upload = "/upload\(objects)?uploadType=media&name="
    for (method, target) in [(HTTPMethod.post, "\(upload)a"), (.put, "/demo.appspot.com/a")] {
      #expect(try await send(method, target, "2", ["if-match": "wrong"]).status == 412, "\(target)")
      #expect(try await send(method, target, "2", ["if-none-match": "*"]).status == 412, "\(target)")
    }
    #expect(try await content("a") == "1")
    #expect(try await send(.post, "\(upload)a", "2", ["if-match": tag]).status == 200)
    #expect(try await send(.post, "\(upload)a", "3", ["if-match": tag]).status == 412)
    #expect(try await content("a") == "2")
    #expect(try await send(.post, "\(upload)b", "1", ["if-match": "*"]).status == 412)
    #expect(try await send(.post, "\(upload)b", "1", ["if-none-match": "*"]).status == 200)
    #expect(try await send(.put, "/demo.appspot.com/b", "2", ["if-none-match": "*"]).status == 412)
    #expect(try await content("b") == "1")
  }

  @Test func `conditions of the XML are fields of the request`() async throws {
    try await serve()
    let generation = try await put("a", "1")
    let target = "/demo.appspot.com/a"
    #expect(try await send(.put, target, "2", ["x-goog-if-generation-match": "0"]).status == 412)
    #expect(try await send(.put, target, "2", ["x-goog-if-metageneration-match": "7"]).status == 412)
    #expect(try await send(.delete, target, "", ["x-goog-if-generation-match": "7"]).status == 412)
    #expect(try await content("a") == "1")
    #expect(
      try await send(.put, target, "2", ["x-goog-if-generation-match": generation]).status == 200)
    #expect(try await content("a") == "2")
    #expect(try await send(.put, target, "3", ["x-goog-if-generation-match": "x"]).status == 400)
  }

  @Test(arguments: [
    ("PUT", "acl"), ("PUT", "partNumber=1&uploadId=a"), ("PUT", "compose"), ("DELETE", "uploadId=a"), ("GET", "acl"),
    ("PUT", "partNumber=1"), ("PUT", "tagging="), ("DELETE", "acl"),
  ])
  func `a part of an object in the XML is not taken for its content`(method: String, query: String) async throws {
    try await serve()
    try await send(.put, "/demo.appspot.com/a", "content")
    let answer = try await send(HTTPMethod(method), "/demo.appspot.com/a?\(query)", "other")
    #expect(answer.status == (query.contains("uploadId") ? 404 : 501))
    #expect(try await send(.get, "/demo.appspot.com/a?v=2&response-content-type=a/b").text == "content")
  }

  @Test func `an upload is started at each of Google's places`() async throws {
    try await serve()
    for place in ["/upload", "/resumable/upload"] {
      let target = "\(place)/storage/v1/b/demo.appspot.com/o?uploadType=resumable&name=r"
      let fields: HTTPFields = ["x-forwarded-proto": "https"]
      let start = try await send(.post, target, "", fields)
      #expect(
        start.status == 200 && start.fields["location"]?.hasPrefix("https://localhost/upload/storage/v1/b/") == true)
    }
  }

  @Test func `the XML copies an object`() async throws {
    try await serve()
    try await put("a", "content")
    let made = try await send(.put, "/demo.appspot.com/b", "", ["x-goog-copy-source": "/demo.appspot.com/a"])
    #expect(made.status == 200 && made.text.contains("<CopyObjectResult>"))
    #expect(try await content("b") == "content")
    // Amazon's tools have names of their own.
    #expect(try await send(.put, "/demo.appspot.com/d", "", ["x-amz-copy-source": "/demo.appspot.com/a"]).status == 200)
    #expect(try await content("d") == "content")
    #expect(
      try await send(.put, "/demo.appspot.com/e", "x", ["x-amz-meta-color": "red", "x-amz-meta-": "none"]).status == 200
    )
    #expect(try await send(.get, "\(objects)/e").text.contains(#""metadata":{"color":"red"}"#))
    #expect(
      try await send(.put, "/demo.appspot.com/c", "", ["x-goog-copy-source": "demo.appspot.com/gone"]).status == 404)
    let late: HTTPFields = [
      "x-goog-copy-source": "demo.appspot.com/a", "x-goog-copy-source-if-generation-match": "7",
    ]
    #expect(try await send(.put, "/demo.appspot.com/c", "", late).status == 412)
    #expect(try await send(.put, "/demo.appspot.com/c", "", ["x-goog-copy-source": "nothing"]).status == 400)
    #expect(try await send(.get, "\(objects)/c").status == 404)
  }

  @Test func `a bucket has its first metageneration`() async throws {
    try await serve()
    let bucket = "/storage/v1/b/demo.appspot.com"
    #expect(try await send(.get, "\(bucket)?ifMetagenerationMatch=99").status == 412)
    #expect(try await send(.get, "\(bucket)?ifMetagenerationMatch=1").status == 200)
    #expect(try await send(.get, "\(bucket)?ifMetagenerationNotMatch=1").status == 304)
  }

  // MARK: Forms of requests

  @Test func `a resumable upload is cancelled`() async throws {
    try await serve()
    let started = try await send(.post, "/upload\(objects)?uploadType=resumable&name=a", "{}")
    let location = try #require(started.fields["location"])
    let session = try #require(HTTPURL(location)).target
    #expect(try await send(.delete, session).status == 499)
    #expect(try await send(.put, session, "late").status >= 400)
    #expect(try await send(.get, "\(objects)/a").status == 404)
  }

  @Test func `heads are those of the same requests by GET`() async throws {
    try await serve()
    try await put("a", "content")
    for target in [
      "\(objects)/a", "\(objects)/a?alt=media", "/v0/b/demo.appspot.com/o/a", "/v0/b/demo.appspot.com/o/a?alt=media",
      "/download\(objects)/a", "/demo.appspot.com/a",
    ] {
      let (head, whole) = (try await send(.head, target), try await send(.get, target))
      #expect(head.status == 200 && head.fields["content-type"] == whole.fields["content-type"], "\(target)")
    }
    #expect(try await send(.head, "\(objects)/gone").status == 404)
  }

  @Test func `parameters that cannot be read are named in the envelope`() async throws {
    try await serve()
    try await put("a", "1")
    for (method, target) in [
      (HTTPMethod.get, "\(objects)?maxResults=-1"), (.get, "\(objects)?maxResults=abc"),
      (.post, "/upload\(objects)?uploadType=foo&name=b"),
    ] {
      let answer = try await send(method, target)
      #expect(answer.status == 400 && answer.json["error"]?.object?["code"] == 400, "\(target)")
    }
    #expect(try await send(.get, "\(objects)?softDeleted=true").json["items"]?.array?.isEmpty ?? true)
    #expect(try await send(.get, "\(objects)?softDeleted=false").json["items"]?.array?.count == 1)
  }

  @Test func `an object is made of others, of the generations that are meant`() async throws {
    try await serve()
    let one = try await put("one", "1,")
    try await put("two", "2")
    let body = { (generation: String) in
      #"""
      {"sourceObjects":[{"name":"one","generation":"\#(generation)"},{"name":"two"}],"deleteSourceObjects":true,
      "destination":{"contentType":"text/x","metadata":{"a":"b"}}}
      """#
    }
    #expect(try await send(.post, "\(objects)/whole/compose", body("1")).status == 404)
    #expect(try await send(.post, "\(objects)/whole/compose?ifGenerationMatch=7", body(one)).status == 412)
    let made = try await send(.post, "\(objects)/whole/compose", body(one))
    #expect(made.status == 200 && made.json["size"] == "3" && made.json["contentType"] == "text/x")
    #expect(try await content("whole") == "1,2")
    #expect(try await send(.get, "\(objects)/one").status == 404)
    #expect(try await send(.post, "\(objects)/whole/compose", #"{"sourceObjects":[]}"#).status == 400)
  }

  @Test func `an object is moved, and copied of one generation alone`() async throws {
    try await serve()
    let generation = try await put("old", "text")
    #expect(try await send(.post, "\(objects)/old/moveTo/o/old").status == 400)
    #expect(try await send(.post, "\(objects)/old/moveTo/o/new?ifSourceGenerationMatch=1").status == 412)
    let copy = "\(objects)/old/rewriteTo/b/demo.appspot.com/o/copy"
    #expect(try await send(.post, "\(copy)?sourceGeneration=1").status == 404)
    #expect(try await send(.post, "\(copy)?ifSourceMetagenerationNotMatch=1").status == 412)
    #expect(try await send(.post, "\(copy)?sourceGeneration=\(generation)").status == 200)
    #expect(try await send(.post, "\(objects)/old/moveTo/o/new").json["name"] == "new")
    #expect(try await content("new") == "text")
    #expect(try await send(.get, "\(objects)/old").status == 404)
  }

  @Test func `a copy into a bucket of another project is in the service of that project`() async throws {
    try await serve()
    try await put("a", "text")
    let other = "/storage/v1/b/other.appspot.com/o"
    #expect(try await send(.post, "\(objects)/a/rewriteTo/b/other.appspot.com/o/b").json["done"] == true)
    #expect(try await send(.get, "\(other)/b?alt=media").text == "text")
    let refused = try await send(.post, "\(objects)/a/copyTo/b/other.appspot.com/o/b?ifGenerationMatch=0")
    #expect(refused.status == 412)
    #expect(try await send(.post, "\(objects)/a/copyTo/b/third.appspot.com/o/b").status == 404)
  }

  @Test func `replaced metadata has nothing of the old, and a change of nothing holds to its conditions`() async throws
  {
    try await serve()
    try await put("a", "x")
    try await send(.patch, "\(objects)/a", #"{"cacheControl":"no-cache","metadata":{"a":"1","b":"2"}}"#)
    let replaced = try await send(.put, "\(objects)/a", #"{"metadata":{"b":"3"},"contentLanguage":"de"}"#).json
    #expect(replaced["cacheControl"] == nil && replaced["contentLanguage"] == "de")
    #expect(replaced["metadata"]?.object == ["b": "3"] && replaced["metageneration"] == "3")
    #expect(try await send(.put, "\(objects)/a?ifMetagenerationMatch=2", "{}").status == 412)
    #expect(try await send(.patch, "\(objects)/a?ifMetagenerationMatch=2").status == 412)
    #expect(try await send(.patch, "\(objects)/a?ifMetagenerationMatch=3").status == 200)
    #expect(try await send(.get, "\(objects)/a?ifMetagenerationNotMatch=4").status == 304)
    #expect(try await send(.get, "\(objects)/a?ifMetagenerationNotMatch=4&ifGenerationMatch=1").status == 412)
  }

  @Test func `lists have bounds and patterns`() async throws {
    try await serve()
    for name in ["a.txt", "b.jpg", "c.txt", "d%2Fe.txt"] { try await put(name, "x") }
    func names(_ query: String) async throws -> [String?] {
      try #require(try await send(.get, "\(objects)?\(query)").json["items"]?.array).map { $0.object?["name"]?.string }
    }
    #expect(try await names("startOffset=b&endOffset=d") == ["b.jpg", "c.txt"])
    #expect(try await names("matchGlob=*.txt") == ["a.txt", "c.txt"])
    #expect(try await names("matchGlob=**.txt&startOffset=b") == ["c.txt", "d/e.txt"])
    #expect(try await send(.get, "\(objects)?matchGlob=%5B").status == 400)
  }

  @Test func `calls of a batch are answered one by one`() async throws {
    try await serve()
    try await put("a", "x")
    func part(_ method: String, _ target: String, _ id: Int, _ body: String = "") -> String {
      "--b\nContent-Type: application/http\nContent-ID: <\(id)>\n\n\(method) \(target) HTTP/1.1\n\n\(body)\n"
    }
    let body =
      part("PATCH", "\(objects)/a", 1, #"{"metadata":{"k":"v"}}"#) + part("DELETE", "\(objects)/no", 2)
      + part("GET", "\(objects)/a?alt=media", 3) + part("POST", "/batch/storage/v1", 4) + "--b--"
    let answer = try await send(.post, "/batch/storage/v1", body, ["content-type": "multipart/mixed; boundary=b"])
    #expect(answer.status == 200 && answer.fields["content-type"] == BatchWire.contentType)
    let statuses = answer.text.split(separator: "\r\n").filter {
      $0.hasPrefix("HTTP/1.1 ") || $0.hasPrefix("Content-ID")
    }
    #expect(
      statuses == [
        "Content-ID: <response-1>", "HTTP/1.1 200 OK", "Content-ID: <response-2>", "HTTP/1.1 404 Not Found",
        "Content-ID: <response-3>", "HTTP/1.1 400 Bad Request", "Content-ID: <response-4>", "HTTP/1.1 400 Bad Request",
      ])
    #expect(try await send(.get, "\(objects)/a").json["metadata"]?.object == ["k": "v"])
    #expect(try await send(.post, "/batch/storage/v1", "x").status == 400)
  }

  @Test(arguments: UInt64(0)..<8)
  func `within small limits the answers of a batch are whole, or failures`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    var small = StorageEndpointsTuning()
    (small.batchAnswer, small.batchAnswers) = (random.below(1_500), random.below(6_000))
    try await serve(small: small)
    for name in ["a", "b", "c"] { try await put(name, "x") }
    let calls = (0..<(1 + random.below(20))).map { number in
      let target = random.pick(["\(objects)/a", "\(objects)/none", objects, "\(objects)?maxResults=1"])
      return "--b\nContent-ID: <\(number)>\n\nGET \(target) HTTP/1.1\n\n\n"
    }
    let type: HTTPFields = ["content-type": "multipart/mixed; boundary=b"]
    func answers(of authority: String) async throws -> [String] {
      let answer = try await send(.post, "/batch/storage/v1", calls.joined() + "--b--", type, to: authority).text
      // Without lengths, in which the port is counted.
      let lines = answer.replacing("localhost:81", with: "localhost").components(separatedBy: "\r\n")
        .filter { !$0.hasPrefix("Content-Length: ") }
      return lines.joined(separator: "\n").components(separatedBy: "Content-ID: ")
    }
    let (whole, limited) = (try await answers(of: "localhost"), try await answers(of: "localhost:81"))
    #expect(whole.count == calls.count + 1 && limited.count == whole.count)
    for (whole, limited) in zip(whole, limited).dropFirst() {
      #expect(limited == whole || limited.contains("HTTP/1.1 500 "), "seed \(seed)")
    }
  }

  @Test func `a batch needs a credential for each call where the server is not one for development`() async throws {
    try await serve(isDevelopment: false)
    let body = "--b\n\nGET \(objects)/a HTTP/1.1\n\n\n--b--"
    let type: HTTPFields = ["content-type": "multipart/mixed; boundary=b"]
    #expect(try await send(.post, "/batch/storage/v1", body, type).status == 401)
    var fields = type
    fields.set(.authorization, "Bearer owner")
    #expect(try await send(.post, "/batch/storage/v1", body, fields).text.contains("HTTP/1.1 404"))
  }

  @Test func `a part of content without a type has that of the metadata, and null is no metadata`() async throws {
    try await serve()
    let type: HTTPFields = ["content-type": "multipart/related; boundary=b"]
    for (metadata, found) in [(#"{"contentType":"a/b"}"#, "a/b"), ("{}", "application/octet-stream")] {
      let body = "--b\r\nContent-Type: application/json\r\n\r\n\(metadata)\r\n--b\r\n\r\nx\r\n--b--\r\n"
      let place = "/upload/storage/v1/b/demo.appspot.com/o?uploadType=multipart&name=typed"
      #expect(try await send(.post, place, body, type).status == 200)
      let download = try await send(.get, "\(objects)/typed?alt=media")
      #expect(download.text == "x" && download.fields[.contentType] == found)
      var fields = type
      fields.set("x-goog-upload-protocol", "multipart")
      let refused = try await send(.post, "/v0/b/demo.appspot.com/o?name=typed", body, fields)
      #expect(refused.status == 400 && refused.text.contains("Missing content type."))
    }
    try await send(.patch, "\(objects)/typed", #"{"contentType":"c/d"}"#)
    let copy = "\(objects)/typed/rewriteTo/b/demo.appspot.com/o/copy"
    for body in ["", "null", "null\n"] {
      let copied = try await send(.post, copy, body, ["content-type": "application/json"])
      #expect(copied.json["resource"]?.object?["contentType"] == "c/d", "\(body)")
    }
  }

  @Test func `buckets exist when they were made or have objects`() async throws {
    try await serve()
    #expect(try await send(.get, "/storage/v1/b/no-bucket").status == 404)
    #expect(try await send(.get, "/storage/v1/b/demo.appspot.com").status == 200)
    try await send(.post, "/storage/v1/b?project=demo", #"{"name":"bbb"}"#)
    #expect(try await send(.get, "/storage/v1/b/bbb").json["name"] == "bbb")
    #expect(try await send(.get, "/storage/v1/b?prefix=bb").json["items"]?.array?.count == 1)
    try await send(.post, "/upload/storage/v1/b/bbb/o?uploadType=media&name=x", "x")
    let full = try await send(.delete, "/storage/v1/b/bbb")
    let error = full.json["error"]?.object
    #expect(full.status == 409 && error?["code"] == 409)
    #expect(error?["errors"]?.array?.first?.object?["reason"] == "conflict")
    #expect(try await send(.get, "/storage/v1/b/bbb/iam").json["bindings"]?.array?.count == 1)
    let permissions = try await send(.get, "/storage/v1/b/bbb/iam/testPermissions?permissions=a&permissions=b").json
    #expect(permissions["permissions"] == ["a", "b"])
    #expect(try await send(.get, "/storage/v1/b/bbb/notificationConfigs").json["error"]?.object?["code"] == 501)
  }

  @Test func `access lists exist on a development server, and refused by another one`() async throws {
    try await serve()
    try await put("a", "x")
    let list = try await send(.get, "\(objects)/a/acl").text
    #expect(list.contains("allUsers") && list.contains("READER"))
    let entry = try await send(.post, "\(objects)/a/acl", #"{"entity":"allUsers","role":"READER"}"#).json
    #expect(entry["entity"] == "allUsers" && entry["object"] == "a")
    #expect(try await send(.get, "\(objects)/no/acl").status == 404)
    let put = try await send(.put, "\(objects)/a/acl/allUsers", #"{"entity":"allUsers","role":"READER"}"#)
    #expect(put.json["entity"] == "allUsers")
    #expect(try await send(.delete, "\(objects)/a/acl/allUsers").status == 204)
    #expect(try await send(.delete, "\(objects)/no/acl/allUsers").status == 404)
    let changed = try await send(.patch, "\(objects)/a", #"{"acl":[{"entity":"allUsers","role":"READER"}]}"#).json
    #expect(changed["acl"]?.array?.count == 2)
    #expect(try await send(.patch, "\(objects)/a", #"{"acl":[]}"#).json["acl"] == nil)
  }

  @Test func `signed URLs choose fields of a download, and start an upload in parts`() async throws {
    try await serve()
    let start = try await send(
      .post, "/demo.appspot.com/a", "", ["x-goog-resumable": "start", "content-type": "text/x", "x-goog-meta-k": "v"])
    let url = try #require(HTTPURL(start.fields["location"] ?? ""))
    #expect(start.status == 201)
    #expect(try await send(.put, url.target, "text").json["metadata"]?.object == ["k": "v"])
    let chosen = try await send(
      .get, "/demo.appspot.com/a?response-content-type=a%2Fb&response-content-disposition=a;+b%0D%0AX")
    #expect(chosen.text == "text" && chosen.fields["content-type"] == "a/b")
    #expect(chosen.fields["content-disposition"] == "a; b  X")
    #expect(
      try await send(.get, "\(objects)/a?alt=media&response-content-type=a%2Fb").fields["content-type"] == "text/x")
  }

  @Test func `an upload holds to the metageneration in both spellings`() async throws {
    try await serve()
    try await put("a", "x")
    for name in ["ifMetagenerationNotMatch", "ifMetaGenerationNotMatch"] {
      let upload = "/upload\(objects)?uploadType=media&name=a&\(name)"
      #expect(try await send(.post, "\(upload)=1", "x").status == 412)
      #expect(try await send(.post, "\(upload)=2", "x").status == 200)
    }
  }

  @Test func `another server than one for development has no access lists`() async throws {
    try await serve(isDevelopment: false)
    let owner: HTTPFields = ["authorization": "Bearer owner"]
    let upload = "/upload\(objects)?uploadType=media&name=a"
    #expect(try await send(.post, "\(upload)&predefinedAcl=publicRead", "x", owner).status == 400)
    #expect(try await send(.post, upload, "x", owner).status == 200)
    #expect(try await send(.get, "\(objects)/a/acl", "", owner).status == 400)
    #expect(try await send(.post, "\(objects)/a/acl", #"{"entity":"allUsers","role":"READER"}"#, owner).status == 400)
    let change = #"{"acl":[{"entity":"allUsers","role":"READER"}]}"#
    #expect(try await send(.patch, "\(objects)/a", change, owner).status == 400)
    #expect(try await send(.patch, "\(objects)/a", #"{"acl":[]}"#, owner).status == 200)
  }
}
