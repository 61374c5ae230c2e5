import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageRemote

/// The fields and the limits of single requests of a remote backend.
@Suite(.timeLimit(.minutes(5))) struct PartTests {
  private static let name = ObjectName(bucket: "b", name: "a")
  private let network = FakeNetwork()

  private func remote(
    at host: String = "localhost", _ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) async throws -> (StorageRemote, Log<HTTPRequest>) {
    let seen = Log<HTTPRequest>()
    let handler = HTTPClosureHandler { request in
      seen.add(request)
      return .response(respond(request))
    }
    _ = try await network.listen(at: .internet(host: host, port: 80), handler: handler)
    return (StorageRemote(on: try RESTService(network, at: "http://\(host)")), seen)
  }

  private static let headers: HTTPFields = [
    "x-goog-generation": "7", "x-goog-hash": "crc32c=AAAAAA==", "content-type": "a/b",
  ]

  @Test(
    arguments: [
      (ReadRequest(object: name), nil), (ReadRequest(object: name, offset: 5), "bytes=5-"),
      (ReadRequest(object: name, offset: 3, length: 4), "bytes=3-6"),
      (ReadRequest(object: name, offset: 3, length: 0), "bytes=3-3"),
      (ReadRequest(object: name, offset: 3, length: .max), "bytes=3-"),
      (ReadRequest(object: name, suffix: 7), "bytes=-7"),
    ] as [(ReadRequest, String?)])
  func `a part is asked for by its first and its last byte`(request: ReadRequest, range: String?) async throws {
    let (remote, seen) = try await remote { _ in
      HTTPResponse(200, fields: Self.headers, body: .bytes(Array(0..<100)))
    }
    try await remote.openObject(request, context: CallContext()).content.close()
    #expect(seen.entries.map { $0.fields["range"] } == [range])
  }

  @Test func `a read has as many bytes as were asked for, however they arrive`() async throws {
    let body = ByteStream()
    let (remote, _) = try await remote { _ in
      HTTPResponse(200, fields: Self.headers, body: .stream(body, length: 10))
    }
    let download = try await remote.openObject(ReadRequest(object: Self.name), context: CallContext())
    for piece in [[1, 2], [3, 4, 5, 6, 7], [8], [9, 10]] as [[UInt8]] { try await body.write(piece) }
    body.finish()
    for expected in [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10], []] as [[UInt8]] {
      #expect(try await download.content.read(maximumLength: 3) == expected)
    }
  }

  @Test func `what has no token may be asked for in clear text`() async throws {
    let (remote, seen) = try await remote(at: "example.com") { _ in HTTPResponse(404) }
    let error = await #expect(throws: StorageServiceError.self) {
      try await remote.getObject(Self.name, preconditions: .none, context: CallContext())
    }
    #expect(error?.code == .notFound && seen.entries.count == 1)
  }

  @Test func `a page has 1 to 1000 results`() async throws {
    let (remote, seen) = try await remote { _ in HTTPResponse(200, body: .text("{}")) }
    for count in [0, 1, 1_000, 1_001] {
      let request = ListRequest(bucket: "b", maximumResults: count)
      var code: ServiceCode?
      do { _ = try await remote.listObjects(request, context: CallContext()) } catch {
        code = (error as? StorageServiceError)?.code
      }
      #expect(code == ((1...1_000).contains(count) ? nil : .invalidArgument), "\(count)")
    }
    #expect(seen.entries.count == 2)
  }

  @Test func `the bytes of a part have a type, and a part without bytes has none`() async throws {
    let (remote, seen) = try await remote { _ in
      HTTPResponse(200, fields: ["x-goog-upload-status": "active"])
    }
    let id = UploadID(rawValue: "/v0/b/b/o?upload_id=i")
    for bytes in [[1, 2], []] as [[UInt8]] {
      _ = try await remote.appendToUpload(id, offset: 0, bytes: bytes, context: CallContext())
    }
    #expect(seen.entries.map { $0.fields[.contentType] } == ["application/octet-stream", nil])
  }

  @Test func `a part that is refused says how much the service has`() async throws {
    let (remote, _) = try await remote { _ in
      HTTPResponse(400, fields: ["x-goog-upload-status": "active", "x-goog-upload-size-received": "5"])
    }
    let id = UploadID(rawValue: "/v0/b/b/o?upload_id=i")
    let error = await #expect(throws: StorageServiceError.self) {
      try await remote.appendToUpload(id, offset: 9, bytes: [1], context: CallContext())
    }
    #expect(error?.code == .outOfRange && error?.reason == .wrongOffset(received: 5))
  }

  @Test func `a deletion that is cancelled still gets its answer`() async throws {
    let (begun, gate) = (Log<String>(), Gate())
    let handler = HTTPClosureHandler { request in
      begun.add(request.target)
      return .task {
        await gate.wait()
        return HTTPResponse(204)
      }
    }
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
    let remote = StorageRemote(on: try RESTService(network, at: "http://localhost"))
    let call = Task { try await remote.deleteObject(Self.name, preconditions: .none, context: CallContext()) }
    await begun.wait { !$0.isEmpty }
    call.cancel()
    gate.open()
    try await call.value
  }
}
