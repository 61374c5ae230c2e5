import Testing
import VestaBytes
import VestaStorageBackend
import VestaTesting

@testable import VestaStorageWire

@Suite struct UploadWireTests {
  private func lookup(_ fields: [(name: String, value: String)]) -> (String) -> String? {
    { name in fields.first { $0.name == name }?.value }
  }

  @Test func `commands and answers survive a round trip`() throws {
    let commands: [ResumableCommand] = [
      .start(length: 5, contentType: "a/b"), .start(length: nil, contentType: nil), .upload(offset: 7, isLast: false),
      .upload(offset: 0, isLast: true), .finalize, .query, .cancel,
    ]
    for command in commands { #expect(try ResumableCommand(field: lookup(command.fields)) == command) }
    #expect(
      lookup(ResumableCommand.upload(offset: 1, isLast: true).fields)("x-goog-upload-command") == "upload, finalize")
    #expect(try ResumableCommand { _ in nil } == nil)
    for (name, value) in [("x-goog-upload-command", "explode"), ("x-goog-upload-command", "query, cancel")] {
      #expect(throws: BytesError.self) { _ = try ResumableCommand { $0 == name ? value : nil } }
    }
    #expect(throws: BytesError.self) {
      _ = try ResumableCommand { $0 == "x-goog-upload-command" ? "upload" : "-1" }
    }
    var start = ResumableAnswer(isActive: true)
    start.url = "http://h/v0/b/b/o?upload_id=i"
    start.uploadID = "i"
    start.granularity = 262_144
    for answer in [start, ResumableAnswer(isActive: false), ResumableAnswer(isActive: true, received: 0)] {
      #expect(try ResumableAnswer(field: lookup(answer.fields)) == answer)
    }
    let cancelled = ResumableAnswer(UploadStatus(state: .cancelled, received: 3, crc32c: 0))
    #expect(lookup(cancelled.fields)("x-goog-upload-status") == "final")
    #expect(throws: BytesError.self) { _ = try ResumableAnswer { _ in nil } }
  }

  @Test func `ranges of uploads`() {
    let part = ByteRangeWire.part("bytes 0-4/5")
    #expect(part == .init(bounds: 0...4, total: 5) && part?.isLast == true)
    #expect(ByteRangeWire.part("bytes 0-4/*")?.isLast == false)
    #expect(ByteRangeWire.part("bytes */0") == .init(bounds: nil, total: 0))
    #expect(ByteRangeWire.part("bytes */0")?.isLast == true && ByteRangeWire.part("bytes */5")?.isLast == false)
    for header in ["bytes 4-0/5", "bytes 0-5/5", "bytes 0-1", "bytes /", "bytes a/b", "0-1/2"] {
      #expect(ByteRangeWire.part(header) == nil, "\(header)")
    }
    #expect(ByteRangeWire.received(0) == nil && ByteRangeWire.received(5) == "bytes=0-4")
    #expect(ByteRangeWire.received(header: "bytes=0-4") == 5 && ByteRangeWire.received(header: nil) == 0)
    #expect(ByteRangeWire.received(header: "bytes=1-4") == nil)
    var random = SplitMix(seed: 1)
    for _ in 0..<20_000 {
      let first = Int64(random.below(1 << 40))
      let part = ByteRangeWire.Part(bounds: first...(first + Int64(random.below(99))), total: random.pick([nil, .max]))
      if ByteRangeWire.part(part.text) != part { Issue.record("\(part.text)"); return }
      _ = ByteRangeWire.part(text(random.damaged(utf8(part.text))))
    }
  }

  private func events(_ pieces: [[UInt8]], _ type: String = "multipart/related; boundary=b") throws
    -> [MultipartMachine.Event]
  {
    var machine = try MultipartMachine(contentType: type, maximumMetadata: 1_000)
    var events: [MultipartMachine.Event] = []
    for piece in pieces {
      for event in try machine.received(piece) {
        // How the network cuts the content has no meaning.
        if case .bytes(let more) = event, case .bytes(let bytes)? = events.last {
          events[events.count - 1] = .bytes(bytes + more)
        } else {
          events.append(event)
        }
      }
    }
    try machine.finish()
    return events
  }

  @Test func `a body in two parts is read in any pieces`() throws {
    for content in [utf8("x"), [], utf8("\r\n"), utf8("\r\n--"), utf8("a\r\n\r\n--\r\n-b"), [0, 255, 13, 10, 45]] {
      let body = MultipartMachine.body(metadata: utf8("{}"), contentType: "a/b", content: content, boundary: "b")
      let read = try Feeding.verify(body) { try events($0) }
      let expected: [MultipartMachine.Event] = [.metadata(utf8("{}")), .content(type: "a/b")]
      #expect(read == expected + (content.isEmpty ? [] : [.bytes(content)]) + [.end], "\(content)")
    }
  }

  @Test func `a body with line feeds alone is read in any pieces`() throws {
    for content in [utf8("x"), [], utf8("\r"), utf8("\n"), utf8("\n--"), utf8("a\r\n--b\r\n"), utf8("\n\n--a")] {
      let body = utf8("--b--\nContent-Type: j\n\n{}\n--b--\nContent-Type: a/b\n\n") + content + utf8("\n--b----")
      let read = try Feeding.verify(body) { try events($0, "multipart/related; boundary=\"b--\"") }
      let expected: [MultipartMachine.Event] = [.metadata(utf8("{}")), .content(type: "a/b")]
      #expect(read == expected + (content.isEmpty ? [] : [.bytes(content)]) + [.end], "\(content)")
    }
  }

  @Test(arguments: [0, 46, 47, 48, 60]) func `headers of a part are read up to their limit, however they are cut`(
    limit: Int
  ) throws {
    // The headers of the metadata have 47 bytes, with the end of the line before them and without the empty one.
    let body = MultipartMachine.body(metadata: utf8("{}"), contentType: "a/b", content: utf8("x"), boundary: "b")
    let isRead = try Feeding.verify(body) { pieces in
      var machine = try MultipartMachine(contentType: "multipart/related; boundary=b", maximumHeaders: limit)
      do throws(BytesError) {
        for piece in pieces { _ = try machine.received(piece) }
        return true
      } catch {
        #expect(error.code == .limitExceeded)
        return false
      }
    }
    #expect(isRead == (limit >= 47))
  }

  @Test func `other types and other numbers of parts are refused`() throws {
    for type in ["", "multipart/form-data; boundary=b", "multipart/related", "multipart/related; boundary=\"\""] {
      #expect(throws: BytesError.self) { _ = try MultipartMachine(contentType: type) }
    }
    let quoted = MultipartMachine.body(metadata: [], contentType: "t", content: utf8("c"), boundary: "x-1")
    for type in ["Multipart/Related; a=b; Boundary=\"x-1\"", "multipart/related;boundary='x-1'"] {
      #expect(try events([quoted], type).last == .end)
    }
    for body in [
      "", "--b--", "--b\r\n\r\n{}\r\n--b--",
      "--b\r\n\r\n{}\r\n--b\r\nContent-Type: t\r\n\r\nx\r\n--b\r\n\r\n\r\n--b--",
      "--b\r\n\r\n{}\r\n--b\r\nContent-Type: t\r\n\r\nx",
    ] {
      #expect(throws: BytesError.self, "\(body)") { _ = try events([utf8(body)]) }
    }
    let untyped = try events([utf8("--b\r\n\r\n{}\r\n--b\r\n\r\nx\r\n--b--")])
    #expect(untyped == [.metadata(utf8("{}")), .content(type: nil), .bytes(utf8("x")), .end])
    let bare = try events([utf8("--b\r\n\r\n--b\r\n\r\nx\r\n--b--")])
    #expect(bare == [.metadata([]), .content(type: nil), .bytes(utf8("x")), .end])
  }

  @Test func `metadata and headers without an end take bounded memory`() {
    #expect(throws: BytesError.self) {
      _ = try events([utf8("--b\r\n\r\n")] + [[UInt8]](repeating: [32], count: 2_000))
    }
    #expect(throws: BytesError.self) { _ = try events([utf8("--b\r\n"), [UInt8](repeating: 97, count: 10_000)]) }
  }

  @Test func `hostile bodies are events or an error`() {
    var random = SplitMix(seed: 2)
    var refused = 0
    let body = MultipartMachine.body(
      metadata: utf8("{\"name\":\"a\"}"), contentType: "a/b", content: utf8("content\r\n-"), boundary: "b")
    for _ in 0..<20_000 {
      do {
        let bytes = random.damaged(body)
        _ = try events(Feeding.pieces(of: bytes, &random))
      } catch {
        refused += 1
      }
    }
    #expect(refused > 2_000 && refused < 19_800, "\(refused)")
  }
}

@Suite struct StorageRouteTests {
  private func route(_ method: String, _ target: String, _ fields: [String: String] = [:]) throws -> StorageRoute? {
    try StorageRoute(method: method, target: target) { fields[$0] }
  }

  @Test func `targets are read with names in one part of the path`() throws {
    let object = ObjectName(bucket: "b", name: "a/cat é.jpg")
    #expect(try route("GET", "/v0/b/b/o/a%2Fcat%20%C3%A9.jpg")?.call == .get(object))
    #expect(
      try route("GET", "/v0/b/b/o/a%2Fcat%20%C3%A9.jpg?alt=media&token=t")?.call == .download(object, token: "t"))
    #expect(try route("POST", "/v0/b/b/o/x", ["x-http-method-override": "PATCH"])?.method == "PATCH")
    #expect(
      try route("POST", "/v0/b/b/o?name=a%2Bb", ["x-goog-upload-protocol": "multipart"])?.call
        == .upload(bucket: "b", name: "a+b", .multipart))
    #expect(
      try route("POST", "/v0/b/b/o?name=a&upload_id=i", ["x-goog-upload-command": "query"])?.call
        == .upload(bucket: "b", name: "a", .resumable(id: "i")))
    #expect(
      try route("GET", "/storage/v1/b/b/o?prefix=a+b%2Bc")?.call == .list(ListRequest(bucket: "b", prefix: "a b+c")))
    #expect(
      try route("GET", "/v0/b/b/o?prefix=a/&delimiter=/&maxResults=9999")?.call
        == .list(ListRequest(bucket: "b", prefix: "a/", delimiter: "/")))
    #expect(try route("GET", "/download/storage/v1/b/b/o/x?alt=media")?.api == .google)
    #expect(
      try route("GET", "/b/b/o/x?ifGenerationMatch=0")?.preconditions == Preconditions(ifGenerationMatch: 0))
    #expect(
      try route("GET", "/bucket/a/b.txt")?.call == .download(ObjectName(bucket: "bucket", name: "a/b.txt"), token: nil))
    // Buckets may have the names of the paths of the other APIs.
    for bucket in ["download", "upload"] {
      for name in ["storage/v2/b/b/o/x", "other/v1/b/b/o/x"] {
        let object = ObjectName(bucket: bucket, name: name)
        #expect(try route("GET", "/\(bucket)/\(name)")?.call == .download(object, token: nil))
      }
    }
    for target in ["/v0/b/b", "/v0/b/b/o/x/y", "/", "", "/b/b/o/x/y", "/upload/storage/v1/b/b"] {
      #expect(try route("GET", target) == nil, "\(target)")
    }
    for target in ["/v0/b/b/o/%zz", "/b/b/o/x?ifGenerationMatch=-1", "/v0/b/b/o?maxResults=x", "/b/b/o/x?generation="] {
      #expect(throws: BytesError.self, "\(target)") { _ = try route("GET", target) }
    }
  }

  @Test func `random routes survive a round trip, and hostile ones are a route, none, or an error`() throws {
    var random = SplitMix(seed: 1)
    for round in 0..<20_000 {
      let route = random.route()
      let read = try StorageRoute(method: route.method, target: route.target) { name in
        name == "x-goog-upload-protocol" ? route.uploadProtocol : nil
      }
      if read != route {
        Issue.record("round \(round): \(route.method) \(route.target) is \(read as Any), not \(route)"); return
      }
      _ = try? StorageRoute(method: route.method, target: text(random.damaged(utf8(route.target)))) { _ in nil }
    }
  }
}
