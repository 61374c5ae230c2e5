import Testing
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageRemote

/// The requests of a remote backend, and its reading of the answers of servers other than `vesta`.
@Suite(.timeLimit(.minutes(10))) struct RequestTests {
  private let network = FakeNetwork()
  private let name = ObjectName(bucket: "b", name: "a")

  /// A remote backend in front of a handler.
  private func remote(
    at host: String = "localhost", _ options: StorageRemoteOptions = StorageRemoteOptions(),
    _ respond: @escaping @Sendable (HTTPRequest, Int) -> HTTPResponse
  ) async throws -> (StorageRemote, Log<HTTPRequest>) {
    let seen = Log<HTTPRequest>()
    let handler = HTTPClosureHandler { request in
      seen.add(request)
      return .response(respond(request, seen.entries.count))
    }
    _ = try await network.listen(at: .internet(host: host, port: 80), handler: handler)
    var rest = RESTOptions()
    rest.userScheme = "Firebase"
    let service = try RESTService(network, at: "http://\(host)", options: rest, clock: network.clock.service)
    return (StorageRemote(on: service, options: options), seen)
  }

  private func failure<Value>(_ call: () async throws -> Value) async -> StorageServiceError? {
    do {
      _ = try await call()
      return nil
    } catch { return error as? StorageServiceError }
  }

  private let headers: HTTPFields = [
    "x-goog-generation": "7", "x-goog-hash": "crc32c=AAAAAA==", "content-type": "a/b",
  ]

  @Test func `the token of a user has Firebase's scheme, and the client its version`() async throws {
    var options = StorageRemoteOptions()
    options.clientVersion = "swift/1"
    let (remote, seen) = try await remote(options) { _, _ in HTTPResponse(404) }
    let user = CallContext(caller: .credential(.idToken("t")), appCheck: AppCheckState("check"))
    let error = await failure { try await remote.deleteObject(name, preconditions: .none, context: user) }
    #expect(error?.code == .notFound)
    let request = try #require(seen.entries.first)
    #expect(request.fields[.authorization] == "Firebase t" && request.fields["x-firebase-appcheck"] == "check")
    #expect(request.fields["x-firebase-storage-version"] == "swift/1" && request.target == "/v0/b/b/o/a")
  }

  @Test func `tokens of downloads are kept from machines that would receive them in clear text`() async throws {
    let (remote, seen) = try await remote(at: "example.com") { _, _ in HTTPResponse(404) }
    let context = CallContext()
    let secret = ReadRequest(object: name, downloadToken: "t")
    #expect(await failure { try await remote.openObject(secret, context: context) }?.code == .failedPrecondition)
    #expect(seen.entries.isEmpty)
    #expect(
      await failure { try await remote.openObject(ReadRequest(object: name), context: context) }?.code == .notFound)
    #expect(seen.entries.count == 1)
  }

  @Test func `parts of an upload are sent to the server that was chosen, whatever it answers`() async throws {
    let (remote, seen) = try await remote { _, number in
      HTTPResponse(
        200,
        fields: [
          "x-goog-upload-status": "active", "x-goog-upload-size-received": "0",
          "x-goog-upload-url": "https://elsewhere.example/v0/b/b/o?name=a&upload_id=i",
        ])
    }
    let id = try await remote.startUpload(UploadRequest(object: name), context: CallContext())
    _ = try await remote.uploadStatus(id, context: CallContext())
    #expect(seen.entries.map(\.authority) == ["localhost", "localhost"])
    #expect(seen.entries[1].target == "/v0/b/b/o?name=a&upload_id=i")
    for text in ["nobody", "/elsewhere", "/v0/b/b/o\r\nx: y", "https://elsewhere.example/v0/b/b/o"] {
      let error = await failure { try await remote.uploadStatus(UploadID(rawValue: text), context: CallContext()) }
      #expect(error?.reason == .uploadGone, "\(text)")
    }
    #expect(seen.entries.count == 2)
  }

  @Test func `Firebase gets parts in multiples of 256 KiB, and the rest with the end`() async throws {
    let commands = Log<String>()
    let (remote, _) = try await remote(.firebase) { request, _ in
      let command = request.fields["x-goog-upload-command"] ?? ""
      let offset = request.fields["x-goog-upload-offset"] ?? "-"
      commands.add("\(command) \(offset) \(request.body.length ?? 0)")
      let object = #"{"name":"a","bucket":"b","generation":"1","size":"700000"}"#
      return HTTPResponse(
        200,
        fields: ["x-goog-upload-status": "active", "x-goog-upload-url": "http://h/v0/b/b/o?upload_id=i"],
        body: command.contains("finalize") ? .text(object) : .empty)
    }
    let context = CallContext()
    let id = try await remote.startUpload(UploadRequest(object: name), context: context)
    for offset in stride(from: 0, to: 700_000, by: 100_000) {
      let part = [UInt8](repeating: 1, count: 100_000)
      let status = try await remote.appendToUpload(id, offset: Int64(offset), bytes: part, context: context)
      #expect(status.received == Int64(offset + 100_000) && status.crc32c == nil)
    }
    _ = try await remote.finalizeUpload(id, expected: ContentDigest(), context: context)
    #expect(
      commands.entries.dropFirst() == [
        "upload 0 262144", "upload 262144 262144", "upload, finalize 524288 175712",
      ])
    #expect(remote.rests.count == 0)
  }

  @Test func `rests of many uploads are bounded, and a forgotten one is sent again`() throws {
    let rests = UploadRests(limit: 2)
    let ids = (0..<5).map { UploadID(rawValue: "/v0/b/\($0)") }
    for id in ids { rests.keep(id, 10, [1, 2]) }
    #expect(rests.count == 2 && rests.rest(of: ids[4])?.bytes == [1, 2] && rests.rest(of: ids[0]) == nil)
    #expect(rests.rest(of: ids[4], at: 11) == nil && rests.count == 1)
    let (offset, whole) = try rests.take(ids[3], 12, [3])
    #expect(offset == 10 && whole == [1, 2, 3] && rests.count == 0)
  }

  @Test func `a server that ignores ranges is read to the range`() async throws {
    let (remote, _) = try await remote { [headers] _, _ in
      HTTPResponse(200, fields: headers, body: .bytes(Array(0..<100)))
    }
    for request in [
      ReadRequest(object: name, offset: 40, length: 20), ReadRequest(object: name, suffix: 7),
      ReadRequest(object: name, offset: 95, length: 50), ReadRequest(object: name, offset: 3, length: 0),
    ] {
      let wanted: Range<UInt8> =
        switch (request.offset, request.length, request.suffix) {
        case (_, _, let suffix?): UInt8(100 - suffix)..<100
        case (let offset, let length?, _): UInt8(offset)..<UInt8(min(100, offset + length))
        default: 0..<100
        }
      let download = try await remote.openObject(request, context: CallContext())
      #expect(try await Served.drain(download, 9) == Array(wanted))
    }
  }

  @Test func `an object of another generation is refused, also by a server that does not look`() async throws {
    let (remote, _) = try await remote { [headers] _, _ in HTTPResponse(200, fields: headers, body: .bytes([1])) }
    let other = ReadRequest(object: name, preconditions: Preconditions(ifGenerationMatch: 6))
    #expect(await failure { try await remote.openObject(other, context: CallContext()) }?.reason == .precondition)
  }

  @Test func `a connection that says nothing for too long is lost`() async throws {
    let body = ByteStream()
    let (remote, _) = try await remote { [headers] _, _ in
      HTTPResponse(200, fields: headers, body: .stream(body, length: 10))
    }
    let download = try await remote.openObject(ReadRequest(object: name), context: CallContext())
    try await body.write([1, 2, 3])
    #expect(try await download.content.read(maximumLength: 3) == [1, 2, 3])
    async let lost = failure { try await download.content.read(maximumLength: 100) }
    await network.clock.waitForTimers()
    network.clock.advance(by: .seconds(60))
    #expect(await lost?.code == .unavailable)
  }

  @Test func `what has arrived before a loss is handed out, and the loss after it`() async throws {
    let body = ByteStream()
    let (remote, _) = try await remote { [headers] _, _ in
      HTTPResponse(200, fields: headers, body: .stream(body, length: 10))
    }
    let download = try await remote.openObject(ReadRequest(object: name), context: CallContext())
    try await body.write([1, 2])
    try await body.write([3])
    body.fail(TransportError(.connectionLost, "The network was cut."))
    #expect(try await download.content.read(maximumLength: 100) == [1, 2, 3])
    let lost = await failure { try await download.content.read(maximumLength: 100) }
    #expect(lost?.code == .unavailable)
  }

  @Test func `a page of a network in between is no answer`() async throws {
    let (remote, _) = try await remote { _, _ in
      HTTPResponse(200, fields: [.contentType: "text/html"], body: .text("<html>Welcome</html>"))
    }
    let context = CallContext()
    let codes = [
      await failure { try await remote.getObject(name, preconditions: .none, context: context) }?.code,
      await failure { try await remote.startUpload(UploadRequest(object: name), context: context) }?.code,
      await failure { try await remote.putObject(UploadRequest(object: name), content: [1], context: context) }?.code,
    ]
    #expect(codes == [.unavailable, .unavailable, .unavailable])
    let download = await failure { try await remote.openObject(ReadRequest(object: name), context: context) }
    #expect(download?.code == .unavailable)
  }

  @Test func `an object may be a page itself`() async throws {
    let (remote, _) = try await remote { [headers] _, _ in
      var fields = headers
      fields.set(.contentType, "text/html")
      return HTTPResponse(200, fields: fields, body: .text("<html>"))
    }
    let download = try await remote.openObject(ReadRequest(object: name), context: CallContext())
    #expect(try await Served.drain(download) == Array("<html>".utf8))
  }
}
