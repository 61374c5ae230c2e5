import Testing
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaStorageEndpoints
import VestaStorageWire
import VestaStoreInteropFakes
import VestaTransportInterop

@testable import VestaStorageService

/// Uploads in parts by Google's XML, as Google's library for Python and tools for S3 send them.
@Suite struct PartsTests {
  private let server: EndpointServer
  private let store = ModelStore()
  private let target = "/demo.appspot.com/a/large%20one"
  private let hidden = "vesta-upload-parts"

  init() throws { server = try EndpointServer() }

  /// Listens with an engine on the store; parts have at least 1,000 bytes.
  @discardableResult
  private func serve(
    port: Int = 80, _ hook: @escaping @Sendable (HookedStorageBackend.Call) async throws -> Void = { _ in }
  ) async throws -> StorageEngine {
    let engine = server.engine(store)
    let hooked = HookedStorageBackend(engine) { call, moment in if moment == .before { try await hook(call) } }
    var tuning = StorageEndpointsTuning()
    (tuning.chunkLength, tuning.smallestPart) = (700, 1_000)
    try await server.listen(server.host(engine, behind: hooked), tuning, port: port)
    return engine
  }

  private typealias Answer = (status: Int, fields: HTTPFields, body: [UInt8], text: String)

  private func send(
    _ method: HTTPMethod, _ target: String, _ body: [UInt8] = [], _ fields: HTTPFields = [:], port: Int = 80
  ) async throws -> Answer {
    let answer = try await server.send(method, target, fields, body, to: "localhost:\(port)")
    return (answer.status, answer.fields, answer.body, String(decoding: answer.body, as: UTF8.self))
  }

  private func content(_ length: Int, _ seed: Int = 0) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251 &+ seed) }
  }

  private func start() async throws -> String {
    let started = try await send(
      .post, "\(target)?uploads", [], ["content-type": "image/png", "x-goog-meta-k": "v"])
    #expect(started.status == 200 && started.text.contains("<Key>a/large one</Key>"))
    #expect(started.text.contains("xmlns='http://s3.amazonaws.com/doc/2006-03-01/'"))
    return try #require(started.text.split(separator: "UploadId>").dropFirst().first?.split(separator: "<").first)
      .description
  }

  private func put(_ id: String, _ number: Int, _ bytes: [UInt8]) async throws -> String {
    let answer = try await send(.put, "\(target)?partNumber=\(number)&uploadId=\(id)", bytes)
    #expect(answer.status == 200 && answer.fields["x-goog-hash"]?.hasPrefix("crc32c=") == true)
    return try #require(answer.fields["etag"])
  }

  private func list(_ parts: [(Int, String)]) -> [UInt8] {
    let text = parts.map { number, tag in
      let tag = number.isMultiple(of: 2) ? tag : "&quot;\(tag.filter { $0 != "\"" })&quot;"
      return "<Part>\n <PartNumber>\(number)</PartNumber>\n <ETag>\(tag)</ETag></Part>"
    }.joined()
    return Array("<CompleteMultipartUpload xmlns=\"x\">\(text)</CompleteMultipartUpload>".utf8)
  }

  private func end(_ id: String, _ parts: [(Int, String)], port: Int = 80) async throws -> Answer {
    try await send(.post, "\(target)?uploadId=\(id)", list(parts), port: port)
  }

  private func leftParts(_ engine: StorageEngine) async throws -> Int {
    try await engine.listObjects(ListRequest(bucket: hidden), context: .owner).items
      .filter { !$0.name.name.hasSuffix("/00000") }.count
  }

  @Test func `parts in any order make one object, which is there at the end alone`() async throws {
    let engine = try await serve()
    let id = try await start()
    let (first, second, last) = (content(2_000), content(1_000, 3), content(10, 5))
    async let late = put(id, 7, last)
    async let early = put(id, 2, first)
    _ = try await put(id, 3, content(1_500, 9))
    let (lastTag, firstTag) = (try await late, try await early)
    // A part that is sent again takes the place of the one that was there.
    let secondTag = try await put(id, 3, second)
    let listed = try await send(.get, "\(target)?uploadId=\(id)&max-parts=2")
    #expect(listed.status == 200 && listed.text.contains("<IsTruncated>true</IsTruncated>"))
    #expect(listed.text.contains("<NextPartNumberMarker>3</NextPartNumberMarker>"))
    #expect(listed.text.contains("<Size>2000</Size>") && listed.text.contains("<PartNumber>3</PartNumber>"))
    let rest = try await send(.get, "\(target)?uploadId=\(id)&part-number-marker=3")
    #expect(rest.text.contains("<PartNumber>7</PartNumber>") && !rest.text.contains("<PartNumber>3</PartNumber>"))
    #expect(try await send(.get, target).status == 404)
    let parts = [(2, firstTag), (3, secondTag), (7, lastTag)]
    let made = try await end(id, parts)
    #expect(made.status == 200 && made.text.contains("<CompleteMultipartUploadResult"), "\(made.text)")
    let read = try await send(.get, target)
    #expect(read.body == first + second + last)
    #expect(read.fields["content-type"] == "image/png" && read.fields["x-goog-meta-k"] == "v")
    #expect(made.fields["x-goog-generation"] == read.fields["x-goog-generation"])
    // The answer was lost.
    #expect(try await end(id, parts).text == made.text)
    #expect(try await leftParts(engine) == 0)
    #expect(try await send(.put, "\(target)?partNumber=1&uploadId=\(id)", [1]).status == 404)
  }

  @Test func `parts are not seen as objects`() async throws {
    try await serve()
    let id = try await start()
    _ = try await put(id, 1, content(10))
    let buckets = try await send(.get, "/storage/v1/b?project=demo")
    #expect(buckets.status == 200 && !buckets.text.contains(hidden))
    for path in [
      "/v0/b/\(hidden)/o", "/storage/v1/b/\(hidden)/o", "/v0/b/\(hidden)/o/\(id)%2F00001", "/\(hidden)/\(id)/00001",
    ] {
      #expect(try await send(.get, path).status == 404, "\(path)")
    }
    #expect(try await send(.put, "/\(hidden)/\(id)/00001", [1]).status == 404)
    let named = Array(#"{"name":"\#(hidden)"}"#.utf8)
    #expect(try await send(.post, "/storage/v1/b?project=demo", named).status == 404)
    let copy = "/storage/v1/b/demo.appspot.com/o/x/rewriteTo/b/\(hidden)/o/\(id)%2F00001"
    #expect(try await send(.post, copy).status == 404)
  }

  @Test func `parts have the numbers 1 to 10000`() async throws {
    try await serve()
    let id = try await start()
    for (number, status) in [(0, 400), (1, 200), (10_000, 200), (10_001, 400)] {
      #expect(try await send(.put, "\(target)?partNumber=\(number)&uploadId=\(id)", [1]).status == status, "\(number)")
    }
  }

  @Test func `parts are copied from objects, whole and in ranges`() async throws {
    try await serve()
    #expect(try await send(.put, "/demo.appspot.com/source", content(3_000)).status == 200)
    let id = try await start()
    func copy(
      _ number: Int, _ fields: HTTPFields, _ source: String = "demo.appspot.com/source",
      name: String = "x-goog-copy-source"
    ) async throws -> Answer {
      var fields = fields
      if let name = HTTPFieldName(name) { fields.append(name, source) }
      return try await send(.put, "\(target)?partNumber=\(number)&uploadId=\(id)", [], fields)
    }
    var tags: [(Int, String)] = []
    for (number, fields) in [(1, [:]), (2, ["x-goog-copy-source-range": "bytes=1000-1999"])] as [(Int, HTTPFields)] {
      let copied = try await copy(number, fields)
      #expect(copied.status == 200 && copied.text.contains("<CopyPartResult"), "\(copied.text)")
      let tag = copied.text.split(separator: "ETag>").dropFirst().first?.prefix { $0 != "<" } ?? ""
      tags.append((number, String(tag).replacing("&quot;", with: "").filter { $0 != "\"" }))
    }
    let amazons = "x-amz-copy-source"
    #expect(try await copy(4, ["x-amz-copy-source-range": "bytes=1-2"], name: amazons).status == 200)
    #expect(try await send(.get, "\(target)?uploadId=\(id)").text.contains("<Size>2</Size>"))
    #expect(try await copy(3, ["x-goog-copy-source-range": "bytes=2000-3000"]).status == 400)
    #expect(try await copy(3, ["x-goog-copy-source-range": "bytes=5-"]).status == 400)
    #expect(try await copy(3, ["x-goog-copy-source-if-generation-match": "7"]).status == 412)
    #expect(try await copy(3, [:], "demo.appspot.com/gone").status == 404)
    #expect(try await copy(3, [:], "\(hidden)/\(id)/00001").status == 404)
    #expect(try await copy(0, [:]).status == 400)
    #expect(try await end(id, tags).status == 200)
    #expect(try await send(.get, target).body == content(3_000) + content(3_000)[1_000..<2_000])
  }

  @Test func `the uploads of a bucket that are under way are listed in the order of their objects`() async throws {
    try await serve()
    func begin(_ path: String) async throws -> String {
      let started = try await send(.post, "\(path)?uploads")
      return String(started.text.split(separator: "UploadId>").dropFirst().first?.prefix { $0 != "<" } ?? "")
    }
    let ids = [
      try await begin("/demo.appspot.com/b/2"), try await begin("/demo.appspot.com/a"),
      try await begin("/demo.appspot.com/b/1"), try await begin("/other.bucket/x"),
    ]
    func keys(_ query: String) async throws -> [String] {
      let answer = try await send(.get, "/demo.appspot.com?uploads\(query)")
      #expect(answer.status == 200 && answer.text.contains("<ListMultipartUploadsResult"))
      return answer.text.split(separator: "<Upload>").dropFirst().map { upload in
        String(upload.split(separator: "Key>").dropFirst().first?.prefix { $0 != "<" } ?? "")
      }
    }
    #expect(try await keys("") == ["a", "b/1", "b/2"])
    #expect(try await keys("&prefix=b/&key-marker=b/1") == ["b/2"])
    let page = try await send(.get, "/demo.appspot.com/?uploads&max-uploads=1")
    #expect(
      page.text.contains("<IsTruncated>true</IsTruncated>") && page.text.contains("<NextKeyMarker>a</NextKeyMarker>"))
    #expect(page.text.contains("<NextUploadIdMarker>\(ids[1])</NextUploadIdMarker>"))
    #expect(try await keys("&key-marker=a&upload-id-marker=\(ids[1])&max-uploads=1") == ["b/1"])
    let folders = try await send(.get, "/demo.appspot.com?uploads&delimiter=/")
    #expect(folders.text.contains("<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>"))
    #expect(try await send(.delete, "/demo.appspot.com/a?uploadId=\(ids[1])").status == 204)
    #expect(try await keys("") == ["b/1", "b/2"])
  }

  @Test func `what cannot be an upload in parts is refused with the words of the XML`() async throws {
    let engine = try await serve()
    let id = try await start()
    let tags = [
      try await put(id, 1, content(1_000)), try await put(id, 2, content(10)), try await put(id, 3, content(5)),
    ]
    func refusal(_ parts: [(Int, String)]) async throws -> String {
      let answer = try await end(id, parts)
      #expect(answer.status == 400)
      return String(answer.text.split(separator: "Code>").dropFirst().first?.prefix { $0 != "<" } ?? "")
    }
    #expect(try await refusal([(2, tags[1]), (1, tags[0])]) == "InvalidPartOrder")
    #expect(try await refusal([(1, tags[0]), (1, tags[0])]) == "InvalidPartOrder")
    #expect(try await refusal([(1, tags[0]), (4, tags[1])]) == "InvalidPart")
    #expect(try await refusal([(1, tags[1])]) == "InvalidPart")
    #expect(try await refusal([(1, tags[0]), (2, tags[1]), (3, tags[2])]) == "EntityTooSmall")
    #expect(try await refusal([]) == "MalformedXML")
    for number in ["0", "10001", ""] {
      #expect(try await send(.put, "\(target)?partNumber=\(number)&uploadId=\(id)", [1]).status == 400, "\(number)")
    }
    let wrong: HTTPFields = ["content-md5": Base64.standard.encode([UInt8](repeating: 1, count: 16))]
    let damaged = try await send(.put, "\(target)?partNumber=9&uploadId=\(id)", [1], wrong)
    #expect(damaged.status == 400 && damaged.text.contains("BadDigest"), "\(damaged.text)")
    for (method, path) in [
      (HTTPMethod.get, "\(target)?uploadId=none"), (.delete, "\(target)?uploadId=none"),
      (.put, "\(target)?partNumber=1&uploadId="),
      (.post, "\(target)?uploadId=none"), (.delete, "/demo.appspot.com/other?uploadId=\(id)"),
    ] {
      let answer = try await send(method, path)
      #expect(answer.status == 404 && answer.text.contains("NoSuchUpload"), "\(method) \(path): \(answer.text)")
    }
    #expect(try await send(.delete, "\(target)?uploadId=\(id)").status == 204)
    #expect(try await leftParts(engine) == 0)
    #expect(try await end(id, [(1, tags[0])]).status == 404)
    #expect(try await send(.get, target).status == 404)
  }

  @Test func `an upload continues after a restart, also one whose end was cut off`() async throws {
    let engine = try await serve()
    let id = try await start()
    let first = try await put(id, 1, content(3_000))
    // The first engine ends without a word; the system closes its files.
    for upload in await engine.uploads.removeAll() { await upload.close() }
    let appends = Locked(0)
    let next = try await serve(port: 81) { call in
      guard call == .append,
        appends.withLock({
          $0 += 1; return $0
        }) == 3
      else { return }
      throw StorageServiceError(.unavailable, "The disk is away.")
    }
    let second = try await send(.put, "\(target)?partNumber=2&uploadId=\(id)", content(10, 1), port: 81)
    let parts = [(1, first), (2, try #require(second.fields["etag"]))]
    #expect(try await end(id, parts, port: 81).status == 503)
    #expect(try await end(id, parts, port: 81).status == 200)
    #expect(try await send(.get, target, port: 81).body == content(3_000) + content(10, 1))
    #expect(try await leftParts(next) == 0)
  }

  @Test func `parts arrive while another process has the upload, and its end is tried again`() async throws {
    let isTaken = Locked(false)
    try await serve { call in
      guard call == .status, isTaken.withLock({ $0 }) else { return }
      throw StorageServiceError(.aborted, "Another process has this upload now.")
    }
    let id = try await start()
    isTaken.withLock { $0 = true }
    let tag = try await put(id, 1, content(10))
    #expect(try await send(.get, "\(target)?uploadId=\(id)").text.contains("<Size>10</Size>"))
    #expect(try await end(id, [(1, tag)]).status == 503)
    isTaken.withLock { $0 = false }
    #expect(try await end(id, [(1, tag)]).status == 200)
  }

  @Test func `parts of an upload that is given up are removed in time`() async throws {
    let engine = try await serve()
    let id = try await start()
    _ = try await put(id, 1, content(10))
    try await engine.cancelUpload(UploadID(rawValue: id), context: .owner)
    var starts = 0
    while try await leftParts(engine) > 0, starts < 200 {
      _ = try await start()
      starts += 1
    }
    #expect(starts < 200)
  }
}
