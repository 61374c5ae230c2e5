import CVestaZlib
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

struct GzipTests {
  /// The bytes that zlib reads from the gzip received so far.
  private func unzipped(_ bytes: [UInt8]) -> [UInt8]? {
    var bytes = bytes
    var stream = z_stream()
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var all: [UInt8] = []
    return bytes.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(input.count)
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let status = buffer.withUnsafeMutableBufferPointer { output in
          stream.next_out = output.baseAddress
          stream.avail_out = UInt32(output.count)
          return inflate(&stream, Z_SYNC_FLUSH)
        }
        all += buffer.prefix(65_536 - Int(stream.avail_out))
        guard status == Z_OK || status == Z_STREAM_END else { return status == Z_BUF_ERROR ? all : nil }
        if status == Z_STREAM_END || (stream.avail_in == 0 && stream.avail_out > 0) { return all }
      }
    }
  }

  @Test func `the handler inside refuses large bodies in its own words`() {
    struct Wordy: HTTPHandler {
      func reply(to request: HTTPRequest) -> HTTPReply { .response(HTTPResponse()) }
      func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse { HTTPResponse(413, body: .text("\(limit)")) }
    }
    let head = HTTPRequestHead(method: .post, target: "/", fields: [:])
    #expect(GzipHandler(Wordy()).refusal(of: head, limit: 7).body.bytes == Array("7".utf8))
  }

  private func reply(
    _ response: HTTPResponse, accepts: String? = "gzip", method: HTTPMethod = .get
  ) throws -> HTTPResponse {
    var request = HTTPRequest(method, "/", authority: "h")
    if let accepts { request.fields.set("accept-encoding", accepts) }
    let handler = GzipHandler(HTTPClosureHandler { _ in .response(response) }, smallest: 100)
    guard case .response(let made) = handler.reply(to: request) else { throw TransportError(.closed, "no response") }
    return made
  }

  private let long = HTTPResponse(
    fields: [.contentType: "application/json", "etag": "\"1\""], body: .bytes([UInt8](repeating: 97, count: 5_000)))

  @Test func `what was compressed is the same afterwards, in pieces of any size`() throws {
    var random = SplitMix(seed: 1_952)
    for _ in 0..<40 {
      let writer = try #require(GzipWriter(level: 1 + random.below(9), room: random.pick([1, 100, 16_384])))
      var (all, made): ([UInt8], [UInt8]) = ([], [])
      for _ in 0..<random.below(6) {
        let isRandom = random.below(2) == 0
        let piece = (0..<random.below(70_000)).map { _ in isRandom ? UInt8(random.below(256)) : 7 }
        all += piece
        made += writer.write(piece)
        #expect(unzipped(made) == all)
      }
      #expect(unzipped(made + writer.finish()) == all)
      #expect(writer.finish() == [])
    }
  }

  @Test func `a whole body is compressed for a client that takes it`() throws {
    let made = try reply(long)
    #expect(made.fields["content-encoding"] == "gzip" && made.fields["vary"] == "accept-encoding")
    #expect(made.fields["etag"] == "W/\"1\"")
    let bytes = try #require(made.body.bytes)
    #expect(bytes.count < 100 && unzipped(bytes) == long.body.bytes)
    let plain = try reply(long, accepts: nil)
    #expect(plain.fields["content-encoding"] == nil && plain.fields["vary"] == "accept-encoding")
    #expect(try reply(long, method: .head).body.bytes == long.body.bytes)
  }

  @Test(arguments: [
    ("gzip", true), ("deflate, gzip;q=0.5", true), ("*", true), ("GZIP", true), ("x-gzip", true), ("gzip;q=0", false),
    ("gzip; q=0.000", false), ("*;q=0", false), ("gzip;q=0, *", false), ("identity", false), ("br", false), ("", false),
    ("gzipped", false), ("*, gzip;q=0", false),
  ])
  func `the client says whether it takes gzip`(field: String, isTaken: Bool) {
    #expect(AcceptedEncodings.takesGzip(field) == isTaken)
  }

  @Test(arguments: [
    "application/json; charset=utf-8", "application/xml ;charset=utf-8", "image/svg+xml; charset=utf-8", "TEXT/Plain",
  ])
  func `the type of a body decides, whatever parameters follow it`(type: String) throws {
    var response = long
    response.fields.set(.contentType, type)
    #expect(try reply(response).fields["content-encoding"] == "gzip")
  }

  @Test func `small, compressed, partial and unknown bodies stay as they are`() throws {
    let changes: [(inout HTTPResponse) -> Void] = [
      { $0.body = .text("short") }, { $0.fields.set(.contentType, "image/png") },
      { $0.fields.remove(.contentType) }, { $0.fields.set("content-encoding", "br") }, { $0.status = HTTPStatus(206) },
      { $0.fields.set("cache-control", "public, no-transform") }, { $0.body = .empty },
      { $0.fields.set(.contentType, "application/octet-stream") },
    ]
    for (index, change) in changes.enumerated() {
      var response = long
      change(&response)
      let made = try reply(response)
      #expect(made.fields["content-encoding"] == response.fields["content-encoding"], "case \(index)")
      #expect(made.body.bytes == response.body.bytes)
    }
    var random = SplitMix(seed: 3)
    var noise = long
    noise.body = .bytes((0..<5_000).map { _ in UInt8(random.below(256)) })
    #expect(try reply(noise).fields["content-encoding"] == nil)
  }

  @Test func `each piece of a stream can be read when it has arrived, and the end and its trailers after it`()
    async throws
  {
    let source = ByteStream()
    let made = try reply(HTTPResponse(fields: [.contentType: "text/event-stream"], body: .stream(source)))
    #expect(made.fields["content-encoding"] == "gzip")
    let stream = made.body.stream
    var (all, sent): ([UInt8], [UInt8]) = ([], [])
    for number in 0..<20 {
      let piece = Array("data: \(number)\n\n".utf8)
      sent += piece
      try await source.write(piece)
      all += try #require(try await stream.next())
      #expect(unzipped(all) == sent)
    }
    source.finish(trailers: ["x-end": "1"])
    while let bytes = try await stream.next() { all += bytes }
    #expect(unzipped(all) == sent && stream.trailers["x-end"] == "1")
  }

  @Test(arguments: [1, 100, 10_000])
  func `a compressed stream is whole, however little is made ahead`(limit: Int) async throws {
    var tuning = TransportTuning()
    tuning.gzipBacklogBytes = limit
    let source = ByteStream(limit: 1_000)
    let response = HTTPResponse(fields: [.contentType: "text/plain"], body: .stream(source))
    let handler = GzipHandler(HTTPClosureHandler { _ in .response(response) }, tuning: tuning)
    let request = HTTPRequest(.get, "/", authority: "h", fields: ["accept-encoding": "gzip"])
    guard case .response(let made) = handler.reply(to: request) else { throw TransportError(.closed, "no response") }
    let writing = Task {
      for index in 0..<100 as Range<UInt8> { try await source.write([UInt8](repeating: index, count: 500)) }
      source.finish()
    }
    let stream = made.body.stream
    var (all, most): ([UInt8], Int) = ([], 0)
    while let bytes = try await stream.next() {
      all += bytes
      most = max(most, stream.pipe.backlog)
    }
    try await writing.value
    #expect(unzipped(all) == (0..<100 as Range<UInt8>).flatMap { [UInt8](repeating: $0, count: 500) })
    // One piece beyond the limit at most.
    #expect(most <= limit + 600)
  }

  @Test func `a compressed stream is no faster than its reader, and ends with it`() async throws {
    let source = ByteStream(limit: 1_000)
    let stream = try reply(HTTPResponse(fields: [.contentType: "text/plain"], body: .stream(source))).body.stream
    var random = SplitMix(seed: 5)
    let noise = (0..<10_000).map { _ in UInt8(random.below(256)) }
    var written = 0
    while written < 1_000, source.offer(noise) { written += 1 }
    #expect(written < 20)
    #expect(stream.pipe.backlog < 200_000)
    stream.cancel()
    #expect(source.pipe.isCancelled)
    let failing = ByteStream()
    let failed = try reply(HTTPResponse(fields: [.contentType: "text/plain"], body: .stream(failing))).body.stream
    failing.fail(TransportError(.connectionLost, "lost"))
    await #expect(throws: TransportError.self) { while try await failed.next() != nil {} }
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/curl"), "curl is not installed"))
  func `curl reads compressed responses, whole and streamed`() async throws {
    let text = String(repeating: "line of text\n", count: 20_000)
    let handler = GzipHandler(
      HTTPClosureHandler { request in
        if request.target == "/whole" {
          return .response(HTTPResponse(fields: [.contentType: "text/plain"], body: .text(text)))
        }
        return .task {
          let stream = ByteStream()
          Task {
            for _ in 0..<20 { try await stream.write(Array(String(repeating: "line of text\n", count: 1_000).utf8)) }
            stream.finish()
          }
          return HTTPResponse(fields: [.contentType: "text/plain"], body: .stream(stream))
        }
      })
    let certificates = try TLSCertificates([TestAuthority.shared.identity(names: "IP:127.0.0.1")])
    try await SecureTestServer.run(TLSServerSettings(certificates), handler: handler) { server in
      for target in ["/whole", "/streamed"] {
        let url = "https://127.0.0.1:\(server.port)\(target)"
        let output = try await Peer.run("/usr/bin/curl", ["-sSk", "-m", "20", "--compressed", url]).output
        #expect(output == text)
      }
    }
  }
}
