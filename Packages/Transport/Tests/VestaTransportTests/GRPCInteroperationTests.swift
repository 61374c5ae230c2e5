import Foundation
import Testing
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

extension Peer {
  /// The interpreter that sees the peers, which `Scripts/python-peers` installs.
  static let python: String? = {
    let root = #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
    let output = try? runBlocking("/\(root)/Scripts/python-peers", [])
    return output?.status == 0 ? output?.output.trimmingCharacters(in: .whitespacesAndNewlines) : nil
  }()

  static func script(_ name: String) -> String {
    Bundle.module.path(forResource: name, ofType: "py", inDirectory: "Peers") ?? name
  }
}

/// The service that the peers call.
private struct TestService: GRPCService {
  func method(at path: String) -> GRPCMethod? {
    switch path {
    case "/t.T/Unary": .unary { .response(Self.answer($0, $1)) }
    case "/t.T/Task":
      .unary { context, message in
        .task {
          await Task.yield()
          return Self.answer(context, message)
        }
      }
    case "/t.T/Fail": .unary { _, _ in .failure(GRPCError(.failedPrecondition, "nö: 100%\n", details: [8, 9])) }
    case "/t.T/Never":
      .unary { _, _ in
        .task {
          try await Task.sleep(for: .seconds(1_000))
          return GRPCResponse([])
        }
      }
    case "/t.T/Count":
      .stream { _, call in
        let request = try await call.requests.next() ?? []
        for index in 0..<(Int(String(decoding: request, as: UTF8.self)) ?? 0) {
          try await call.send([UInt8(truncatingIfNeeded: index)])
        }
      }
    case "/t.T/Sum":
      .stream { _, call in
        var sum = 0
        for try await message in call.requests { sum += message.count }
        try await call.send(Array("\(sum)".utf8))
      }
    case "/t.T/Echo": .stream { _, call in for try await message in call.requests { try await call.send(message) } }
    default: nil
    }
  }

  static func answer(_ context: GRPCContext, _ message: [UInt8]) -> GRPCResponse {
    var trailers: HTTPFields = [:]
    if let raw = context.metadata.grpcBytes("x-raw-bin") { trailers.appendGRPC("x-back-bin", raw) }
    return GRPCResponse(message, metadata: ["x-text": context.metadata.first("x-text") ?? "none"], trailers: trailers)
  }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct GRPCInteroperationTests {
  @Test(arguments: [false, true])
  func `grpcio calls the server, in threads and asynchronously`(isSecure: Bool) async throws {
    let folder = try TemporaryDirectory()
    try folder.write(TestAuthority.shared.root, to: "root.pem")
    let certificates = try TLSCertificates([TestAuthority.shared.identity(names: "DNS:localhost,IP:127.0.0.1")])
    let python = try #require(Peer.python)
    let server = try VestaTransportServer(loops: 2)
    let handler = GRPCHandler(TestService(), options: GRPCOptions(compression: .gzip))
    let listener = try await server.listen(
      at: .internet(host: "127.0.0.1", port: 0), security: isSecure ? TLSServerSettings(certificates) : nil,
      handler: handler)
    let (status, output) = try await Peer.run(
      python,
      [Peer.script("grpc_client"), "\(listener.address)"] + (isSecure ? [folder.path(of: "root.pem")] : []))
    #expect(status == 0 && output.hasSuffix("done\n"), "\(output)")
    await listener.shutDown(within: .seconds(1))
    #expect(handler.streamCount == 0)
    await server.stop()
  }

  @Test(arguments: [[], ["gzip"], ["tls"]]) func `the client calls grpcio`(arguments: [String]) async throws {
    let isSecure = arguments == ["tls"]
    let folder = try TemporaryDirectory()
    let files = TestAuthority.shared.files(names: "DNS:localhost,IP:127.0.0.1")
    try folder.write(files.key, to: "key.pem")
    try folder.write(files.chain, to: "chain.pem")
    let paths = [folder.path(of: "key.pem"), folder.path(of: "chain.pem")]
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Peer.python))
    process.arguments = [Peer.script("grpc_server")] + arguments + (isSecure ? paths : [])
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // Not SIGTERM: a child inherits the signals that the thread has blocked.
    defer { kill(process.processIdentifier, SIGKILL) }
    let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).filter(\.isNumber)
    let client = try VestaTransportClient(security: .testing)
    let channel = GRPCChannel(
      client, authority: "127.0.0.1:\(port)", scheme: isSecure ? "https" : "http",
      options: GRPCOptions(messageBytes: 8 << 20, compression: arguments == ["gzip"] ? .gzip : nil))
    try await callUnary(channel)
    try await callStreams(channel)
    await client.close()
  }

  private func callUnary(_ channel: GRPCChannel) async throws {
    var metadata: HTTPFields = ["x-text": "v"]
    metadata.appendGRPC("x-raw-bin", [0, 255])
    for size in [0, 1, 70_000, 4 << 20] {
      let message = [UInt8](repeating: 7, count: size)
      let response = try await channel.unary("/t.T/Unary", message, metadata: metadata, timeout: .seconds(30))
      #expect(response.message == message && response.metadata.first("x-text") == "v")
      #expect(response.trailers.grpcBytes("x-back-bin") == [0, 255])
    }
    let failure = await #expect(throws: GRPCError.self) { try await channel.unary("/t.T/Fail", []) }
    #expect(failure?.code == .failedPrecondition && failure?.message == "nö: 100%\n" && failure?.details == [8, 9])
    let missing = await #expect(throws: GRPCError.self) { try await channel.unary("/t.T/No", []) }
    #expect(missing?.code == .unimplemented)
    let late = await #expect(throws: GRPCError.self) {
      try await channel.unary("/t.T/Never", [], timeout: .milliseconds(100))
    }
    #expect(late?.code == .deadlineExceeded)
    // The server accepts five at a time.
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for index in 0..<100 as Range<UInt8> { group.addTask { try await channel.unary("/t.T/Unary", [index]).message } }
      var all: Set<[UInt8]> = []
      for try await message in group { all.insert(message) }
      #expect(all.count == 100)
    }
  }

  private func callStreams(_ channel: GRPCChannel) async throws {
    let count = channel.open("/t.T/Count")
    count.offer(Array("3000".utf8))
    count.finish()
    var received = 0
    while try await count.next() != nil { received += 1 }
    #expect(received == 3_000)
    let sum = channel.open("/t.T/Sum")
    for size in 0..<200 { try await sum.send([UInt8](repeating: 1, count: size)) }
    sum.finish()
    #expect(try await sum.next() == Array("19900".utf8))
    #expect(try await sum.next() == nil)
    let echo = channel.open("/t.T/Echo")
    for index in 0..<50 {
      let message = [UInt8](repeating: UInt8(index), count: index * 1_000)
      try await echo.send(message)
      #expect(try await echo.next() == message)
    }
    echo.cancel()
    #expect(try await echo.next() == nil)
    #expect(try await channel.unary("/t.T/Unary", [1]).message == [1])
  }

  @Test(.enabled(if: Peer.isThere("/usr/sbin/nginx"), "nginx is not installed"))
  func `calls go through an nginx in front, by HTTP 2 on both sides`() async throws {
    let folder = try TemporaryDirectory()
    let port = 20_000 + Int.random(in: 0..<12_000)
    let server = try VestaTransportServer(loops: 2)
    let listener = try await server.listen(
      at: .internet(host: "127.0.0.1", port: 0), handler: GRPCHandler(TestService()))
    let servers = """
      server {
        listen 127.0.0.1:\(port) http2;
        client_max_body_size 0;
        location / { grpc_pass grpc://\(listener.address); }
      }
      """
    try await Peer.withNginx(servers, folder) {
      let client = try VestaTransportClient()
      let channel = GRPCChannel(client, authority: "127.0.0.1:\(port)", options: GRPCOptions(messageBytes: 8 << 20))
      var first: GRPCResponse?
      while first == nil {
        do {
          first = try await channel.unary("/t.T/Unary", [1])
        } catch let error as GRPCError where error.code == .unavailable { await Task.yield() }
      }
      #expect(first?.message == [1])
      try await callUnary(channel)
      try await callStreams(channel)
      await client.close()
    }
    await listener.shutDown(within: .seconds(1))
    await server.stop()
  }

  @Test func `gzip is read by the limit, and what is none is refused`() throws {
    for (size, piece) in [
      (0, 1), (1, 1), (2_000, 1), (65_535, 7), (65_536, 65_536), (65_537, 65_536), (1_000_000, 999),
    ] {
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
      let packed = try Gzip.compress(bytes, piece: piece)
      #expect(try Gzip.decompress(packed, limit: size, piece: piece) == bytes)
      if size > 0 {
        #expect(throws: TransportError.self) { try Gzip.decompress(packed, limit: size - 1) }
        #expect(throws: TransportError.self) { try Gzip.decompress(packed.dropLast(1) + [], limit: size) }
      }
      #expect(throws: TransportError.self) { try Gzip.decompress(packed + [0], limit: size) }
    }
    #expect(throws: TransportError.self) { try Gzip.decompress([1, 2, 3], limit: 10) }
    #expect(throws: TransportError.self) { try Gzip.decompress([], limit: 10) }
  }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2InteroperationTests {
  @Test(.enabled(if: Peer.isThere("/usr/bin/curl"), "curl is not installed"))
  func `curl gets and posts by HTTP 2 with prior knowledge`() async throws {
    try await TestServer.run { server in
      let base = "http://\(server.listener.address)"
      let folder = try TemporaryDirectory()
      try folder.write([UInt8](repeating: 65, count: 1_000_000), to: "large")
      let refused = ["--data-binary", "@\(folder.path(of: "large"))", "-o", "/dev/null", "-w", "%{http_code}"]
      let cases: [([String], String)] = [
        // One at a time: curl 7.88 cannot use such a connection again, with no server.
        (["\(base)/a"], "/a"), (["-d", "content", "\(base)/echo"], "content"),
        (["-I", "-o", "/dev/null", "-w", "%{http_code} %{http_version}", "\(base)/head"], "200 2"),
        (["-o", "/dev/null", "-w", "%{size_download}", "\(base)/large"], "20000000"),
        (["-d", String(repeating: "x", count: 90_000), "\(base)/stream"], "90000"),
        (["\(base)/task"], "task"),
        // More than its handler takes, and more than the window.
        (refused + ["\(base)/echo"], "413"),
        (refused + ["-H", "expect: 100-continue", "\(base)/echo"], "413"),
        (refused + ["-H", "transfer-encoding: chunked", "\(base)/echo"], "413"),
      ]
      for (arguments, expected) in cases {
        let output = try await Peer.run(
          "/usr/bin/curl", ["-sS", "-m", "20", "--http2-prior-knowledge"] + arguments
        ).output
        #expect(output == expected, "\(arguments)")
      }
    }
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/nghttp"), "nghttp is not installed"))
  func `nghttp sees a connection without errors`() async throws {
    try await TestServer.run { server in
      let base = "http://\(server.listener.address)"
      let (status, output) = try await Peer.run(
        "/usr/bin/nghttp", ["-v", "-n", "\(base)/a", "\(base)/large", "\(base)/task"])
      #expect(status == 0 && output.components(":status: 200") == 3 && !output.contains("PROTOCOL_ERROR"))
      let trailers = try await Peer.run(
        "/usr/bin/nghttp", ["-v", "-d", "/etc/hostname", "--trailer", "x-sum: 1", "\(base)/stream"])
      #expect(trailers.output.contains(":status: 200"))
    }
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/h2load"), "h2load is not installed"))
  func `h2load loses no request`() async throws {
    try await TestServer.run { server in
      for (path, count) in [("/small", 20_000), ("/task", 20_000), ("/large", 20)] {
        let output = try await Peer.run(
          "/usr/bin/h2load", ["-n", "\(count)", "-c", "8", "-m", "16", "http://\(server.listener.address)\(path)"]
        ).output
        #expect(output.contains("\(count) succeeded, 0 failed"), "\(output)")
      }
    }
  }
}
