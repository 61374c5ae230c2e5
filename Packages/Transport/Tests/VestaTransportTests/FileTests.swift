import Testing
import VestaBytes
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct FileTests {
  private static let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }

  private struct Files: HTTPHandler {
    let path: String
    func reply(to request: HTTPRequest) -> HTTPReply {
      guard let file = TransportFile(path) else { return .response(HTTPResponse(.notFound)) }
      return .response(file.response(to: request, fields: [.contentType: "application/octet-stream"]))
    }
  }

  private func serving(
    secure isSecure: Bool, version: TransportPeer.Version? = nil, _ change: (inout TransportTuning) -> Void = { _ in },
    _ body: (VestaTransportClient, (HTTPFields) -> HTTPRequest, TemporaryDirectory) async throws -> Void
  ) async throws {
    let folder = try TemporaryDirectory()
    try folder.write(Self.content, to: "file")
    var tuning = TransportTuning()
    tuning.sweepInterval = .milliseconds(10)
    change(&tuning)
    let server = try VestaTransportServer(loops: 1, tuning: tuning)
    let certificates = try TLSCertificates([TestAuthority.shared.identity(names: "IP:127.0.0.1")])
    let listener = try await server.listen(
      at: .internet(host: "127.0.0.1", port: 0), security: isSecure ? TLSServerSettings(certificates) : nil,
      handler: Files(path: folder.path(of: "file")))
    let client = try VestaTransportClient(security: .testing)
    let request = { (fields: HTTPFields) in
      var request = HTTPRequest(
        .get, "/", scheme: isSecure ? "https" : "http", authority: listener.address.description, fields: fields)
      request.version = version
      return request
    }
    let result: Result<Void, any Error>
    do { result = .success(try await body(client, request, folder)) } catch { result = .failure(error) }
    await client.close()
    await listener.shutDown(within: .zero)
    await server.stop()
    try result.get()
  }

  @Test(arguments: [false, true]) func `a file and a range of it arrive by HTTP 2`(isSecure: Bool) async throws {
    try await serving(secure: isSecure, version: .http2) { client, request, _ in
      let whole = try await client.send(request([:]), timeout: .seconds(20))
      #expect(try await whole.body.collect(upTo: 4_000_000) == Self.content)
      let part = try await client.send(request(["range": "bytes=100000-200000"]), timeout: .seconds(20))
      #expect(try await part.body.collect(upTo: 4_000_000) == Array(Self.content[100_000..<200_001]))
    }
  }

  @Test func `a file with fields after it arrives in chunks`() async throws {
    let folder = try TemporaryDirectory()
    try folder.write(Self.content, to: "file")
    let path = folder.path(of: "file")
    let handler = HTTPClosureHandler { request in
      guard var response = TransportFile(path)?.response(to: request, fields: [:]) else {
        return .response(HTTPResponse(.notFound))
      }
      response.trailers = ["x": "y"]
      return .response(response)
    }
    try await TestServer.run(handler: handler) { server in
      let client = try VestaTransportClient()
      for _ in 0..<2 {
        let request = HTTPRequest(.get, "/", authority: server.listener.address.description)
        let response = try await client.send(request, timeout: .seconds(20))
        #expect(try await response.body.collect(upTo: 4_000_000) == Self.content)
      }
      await client.close()
    }
  }

  @Test func `each request for a file has its bytes once, and the next response follows them`() async throws {
    let folder = try TemporaryDirectory()
    try folder.write(Self.content, to: "file")
    var received = try await TestServer.run(handler: Files(path: folder.path(of: "file"))) { server in
      let peer = try server.peer()
      peer.send("GET / HTTP/1.1\r\nhost: h\r\n\r\nGET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
      var received: [UInt8] = []
      while let bytes = peer.receive(), !bytes.isEmpty { received += bytes }
      return received
    }
    for _ in 0..<2 {
      let head = try #require(received.firstRange(of: Array("\r\n\r\n".utf8)))
      // Not within the expectations, which would print megabytes.
      let isAnswered = received.starts(with: Array("HTTP/1.1 200 OK".utf8))
      #expect(isAnswered)
      received.removeFirst(head.upperBound)
      let isWhole = received.starts(with: Self.content)
      #expect(isWhole)
      received.removeFirst(min(received.count, Self.content.count))
    }
    #expect(received.count == 0, "\(received.count) bytes more")
  }

  @Test(arguments: [false, true], [1, 4_096, 2 << 20])
  func `a file and its ranges arrive, in clear and with TLS, in turns of any size`(
    isSecure: Bool, bytesPerTurn: Int
  ) async throws {
    try await serving(secure: isSecure) {
      $0.fileBytesPerTurn = max(bytesPerTurn, 1_000)
    } _: { client, request, _ in
      let content = Self.content
      let whole = try await client.send(request([:]), timeout: .seconds(20))
      #expect(whole.status == .ok && whole.fields["accept-ranges"] == "bytes")
      #expect(try await whole.body.collect(upTo: 4_000_000) == content)
      for (range, found) in [
        ("bytes=0-0", 0..<1), ("bytes=5-", 5..<content.count), ("bytes=-7", content.count - 7..<content.count),
        ("bytes=100000-200000", 100_000..<200_001), ("bytes=2999999-9999999999999999999999", 2_999_999..<3_000_000),
      ] {
        let part = try await client.send(request(["range": range]), timeout: .seconds(20))
        #expect(part.status.code == 206, "\(range)")
        #expect(
          part.fields["content-range"] == "bytes \(found.lowerBound)-\(found.upperBound - 1)/\(content.count)")
        #expect(try await part.body.collect(upTo: 4_000_000) == Array(content[found]), "\(range)")
      }
      let beyond = try await client.send(request(["range": "bytes=3000000-"]), timeout: .seconds(20))
      #expect(beyond.status.code == 416 && beyond.fields["content-range"] == "bytes */3000000")
    }
  }

  @Test func `a file that has not changed is not sent again, and a range of a changed one is the whole`() async throws {
    try await serving(secure: false) { client, request, folder in
      let first = try await client.send(request([:]), timeout: nil)
      let tag = try #require(first.fields["etag"])
      first.body.stream.cancel()
      #expect(try await client.send(request(["if-none-match": "\"x\", W/\(tag)"]), timeout: nil).status.code == 304)
      let range: HTTPFields = ["range": "bytes=0-9", "if-range": tag]
      #expect(try await client.send(request(range), timeout: nil).status.code == 206)
      try folder.write(Array("another content".utf8), to: "file")
      let changed = try await client.send(request(range), timeout: nil)
      #expect(changed.status == .ok)
      #expect(try await changed.body.collect(upTo: 100) == Array("another content".utf8))
    }
  }

  @Test(arguments: [false, true])
  func `a file that becomes shorter while it is sent is not whole for the client`(isSecure: Bool) async throws {
    let folder = try TemporaryDirectory()
    try folder.write([1, 2, 3], to: "file")
    let file = try #require(TransportFile(folder.path(of: "file")))
    let server = try VestaTransportServer(loops: 1)
    let certificates = try TLSCertificates([TestAuthority.shared.identity(names: "IP:127.0.0.1")])
    let listener = try await server.listen(
      at: .internet(host: "127.0.0.1", port: 0), security: isSecure ? TLSServerSettings(certificates) : nil,
      handler: HTTPClosureHandler { _ in
        .response(
          HTTPResponse(body: .stream(ByteStream(FileSection(file, offset: 1, count: 100)), length: 100)))
      })
    let client = try VestaTransportClient(security: .testing)
    let request = HTTPRequest(
      .get, "/", scheme: isSecure ? "https" : "http", authority: listener.address.description)
    await #expect(throws: TransportError.self) {
      try await client.send(request, timeout: .seconds(20)).body.collect(upTo: 1_000)
    }
    await client.close()
    await listener.shutDown(within: .zero)
    await server.stop()
  }

  @Test(arguments: [
    "bytes=", "bytes=-", "bytes=a-", "bytes=5-4", "bytes=1-2,3-4", "lines=1-2", "1-2", "bytes=-0", "bytes=+1-2",
  ])
  func `what is no single range is not followed`(field: String) {
    #expect(ByteRangeField(field)?.bytes(of: 100) == nil)
  }

  @Test func `what is no file that can be read is none`() {
    for path in ["/absent", "/", "/dev/null", "", "/root\u{0}"] { #expect(TransportFile(path) == nil, "\(path)") }
  }
}
