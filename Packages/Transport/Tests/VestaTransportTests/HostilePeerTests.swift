import Glibc
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct HostilePeerTests {
  private let get = "GET / HTTP/1.1\r\nhost: h\r\n\r\n"

  @Test func `pipelined requests are answered in order, however many a turn serves`() async throws {
    for perTurn in [1, 3, 1_000] {
      try await TestServer.run {
        $0.requestsPerTurn = perTurn
      } _: { server in
        let peer = try server.peer()
        let targets = (0..<200).map { $0 % 7 == 0 ? "/task" : "/\($0)" }
        peer.send(targets.map { "GET \($0) HTTP/1.1\r\nhost: h\r\n\r\n" }.joined())
        let text = peer.receive(until: "HTTP/1.1 200 OK", times: 200)
        let bodies = text.split(separator: "HTTP/1.1 200 OK").map { $0.split(separator: "\r\n\r\n").last ?? "" }
        let expected = targets.map { $0 == "/task" ? "task" : $0 }
        #expect(bodies.dropLast().map(String.init) == Array(expected.dropLast()), "\(perTurn)")
      }
    }
  }

  @Test(arguments: [1, 10, 262_144])
  func `a request that arrives byte by byte is served, however small the backlog`(backlog: Int) async throws {
    try await TestServer.run {
      $0.backlogBytes = backlog
    } _: { server in
      let peer = try server.peer()
      let chunks =
        "POST /echo HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
      for byte in chunks.utf8 { peer.send([byte]) }
      #expect(peer.receive(until: "abcde").contains("content-length: 5\r\n\r\nabcde"))
      peer.send(get)
      #expect(peer.receive(until: "\r\n\r\n/").contains("200 OK"))
    }
  }

  @Test(arguments: [
    "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nX",
    "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
    "GET / HTTP/1.1\r\nhost: h\r\nx : y\r\n\r\n", "GET / HTTP/1.1\nhost: h\n\n", "nonsense\r\n\r\n",
    "\u{16}\u{3}\u{1}\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
  ])
  func `a request that could be two ends its connection, and nothing after it is served`(text: String) async throws {
    try await TestServer.run { server in
      let peer = try server.peer()
      peer.send(text + "GET /smuggled HTTP/1.1\r\nhost: h\r\n\r\n")
      let answer = peer.receiveText()
      #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
      #expect(answer.components("HTTP/1.1") == 1 && !answer.contains("/smuggled"))
      #expect(try server.isAlive())
    }
  }

  @Test func `a slow head and a slow body are late, and an idle connection ends`() async throws {
    try await TestServer.run {
      $0.headTimeout = .milliseconds(50)
      $0.bodyTimeout = .milliseconds(50)
      $0.idleTimeout = .milliseconds(50)
    } _: { server in
      let head = try server.peer()
      head.send("GET / HTTP/1.1\r\nhost:")
      #expect(head.receiveText().hasPrefix("HTTP/1.1 408 "))
      let body = try server.peer()
      body.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\nabc")
      #expect(body.receiveText().hasPrefix("HTTP/1.1 408 "))
      let silent = try server.peer()
      #expect(silent.receiveText().isEmpty)
      let idle = try server.peer()
      idle.send(get)
      #expect(idle.receiveText().components("HTTP/1.1") == 1)
      await server.waitForConnections(0)
    }
  }

  /// A handler of which one request holds its loop for longer than a peer has for a head.
  private struct HoldingHandler: HTTPHandler {
    let isHolding = Gate()

    func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .collected(upTo: 100) }

    func reply(to request: HTTPRequest) -> HTTPReply {
      guard request.target == "/hold" else { return .response(HTTPResponse(body: .text("served"))) }
      return .task {
        isHolding.open()
        // The thread itself is held: the clock of a loop is the system's.
        usleep(2_500_000)
        return HTTPResponse(body: .text("held"))
      }
    }
  }

  @Test func `peers that arrive while a loop is held are served, and not late`() async throws {
    let handler = HoldingHandler()
    let shorten: (inout TransportTuning) -> Void = { $0.headTimeout = .seconds(2) }
    try await TestServer.run(shorten, handler: handler) { server in
      let holder = try server.peer()
      holder.send("GET /hold HTTP/1.1\r\nhost: h\r\n\r\n")
      await handler.isHolding.wait()
      let peers = try (0..<16).map { _ in
        let peer = try server.peer()
        peer.send(get)
        return peer
      }
      for peer in peers { #expect(peer.receive(until: "served").hasPrefix("HTTP/1.1 200 OK")) }
      #expect(holder.receive(until: "held").hasPrefix("HTTP/1.1 200 OK"))
    }
  }

  @Test func `a peer that does not read is cut off, and others are served at the same time`() async throws {
    try await TestServer.run {
      $0.writeTimeout = .milliseconds(200)
    } _: { server in
      let peers = try (0..<5).map { _ in try server.peer(receiveBuffer: 4_096) }
      for peer in peers { peer.send("GET /large HTTP/1.1\r\nhost: h\r\n\r\n") }
      #expect(try server.isAlive())
      await server.waitForConnections(0)
    }
  }

  @Test func `peers that vanish leave nothing behind`() async throws {
    try await TestServer.run { server in
      let beginnings = [
        "", "GET", get, "POST /echo HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\nabc",
        "POST /stream HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
        "GET /never HTTP/1.1\r\nhost: h\r\n\r\n", "GET /large HTTP/1.1\r\nhost: h\r\n\r\n", get + get + "GET /never",
        Self.upgrade, Self.upgrade + "\u{1}\u{2}",
      ]
      for beginning in beginnings {
        for way in 0..<3 {
          let peer = try server.peer()
          peer.send(beginning)
          switch way {
          case 0: peer.close()
          case 1: peer.reset()
          default:
            peer.finish()
            while let bytes = peer.receive(), !bytes.isEmpty {}
          }
        }
      }
      await server.waitForConnections(0)
      #expect(try server.isAlive())
    }
  }

  @Test func `a peer that has said all still reads all its answers`() async throws {
    try await TestServer.run {
      $0.requestsPerTurn = 2
    } _: { server in
      let peer = try server.peer()
      peer.send(String(repeating: get, count: 50) + "GET /never")
      peer.finish()
      #expect(peer.receiveText().components("HTTP/1.1 200 OK") == 50)
    }
  }

  @Test func `a body is asked for when its request expects that, and not when it is too large`() async throws {
    try await TestServer.run { server in
      let peer = try server.peer()
      peer.send("POST /echo HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n")
      #expect(peer.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
      peer.send("abc")
      #expect(peer.receive(until: "abc").contains("200 OK"))
      peer.send("POST /echo HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 100001\r\n\r\n")
      #expect(peer.receiveText().hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test func `a body too large in chunks is refused while it arrives, and the answer is read`() async throws {
    try await TestServer.run { server in
      let peer = try server.peer()
      peer.send("POST /echo HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n")
      let chunk = "1000\r\n" + String(repeating: "a", count: 4_096) + "\r\n"
      for _ in 0..<40 { peer.send(chunk) }
      #expect(peer.receiveText().hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test func `the rest of a refused body is not served, also while an earlier answer waits`() async throws {
    try await TestServer.run {
      $0.backlogBytes = 30_000_000
    } _: { server in
      let peer = try server.peer(receiveBuffer: 4_096)
      peer.send("GET /large HTTP/1.1\r\nhost: h\r\n\r\n")
      let tooLarge = "186a1\r\n" + String(repeating: "a", count: 100_001) + "\r\n"
      peer.send("POST /echo HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n" + tooLarge)
      peer.send("3\r\nabc\r\n0\r\n\r\n")
      let answer = String(peer.receiveText().suffix(400))
      #expect(answer.contains("HTTP/1.1 413 ") && !answer.contains("HTTP/1.1 200 "), "\(answer)")
    }
  }

  @Test func `an answer before the end of the body ends the connection after it`() async throws {
    try await TestServer.run { server in
      let peer = try server.peer()
      peer.send("POST /stream HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nab")
      peer.send("cde" + get)
      let answer = peer.receive(until: "\r\n\r\n/")
      #expect(answer.contains("\r\n\r\n5") && answer.components("200 OK") == 2)
    }
  }

  @Test func `clients of HTTP 1.0 get what they understand`() async throws {
    try await TestServer.run { server in
      let once = try server.peer()
      once.send("GET /a HTTP/1.0\r\n\r\n")
      #expect(once.receiveText().contains("connection: close\r\n\r\n/a"))
      let kept = try server.peer()
      kept.send("GET /b HTTP/1.0\r\nconnection: keep-alive\r\n\r\n")
      #expect(kept.receive(until: "/b").contains("connection: keep-alive\r\n\r\n/b"))
      kept.send("GET /c HTTP/1.0\r\n\r\n")
      #expect(kept.receiveText().hasSuffix("/c"))
    }
  }

  @Test func `beyond the limit connections wait until there is room`() async throws {
    try await TestServer.run {
      $0.connectionLimit = 2
      $0.acceptPause = .milliseconds(5)
    } _: { server in
      let first = try (0..<2).map { _ in try server.peer() }
      for peer in first {
        peer.send(get)
        _ = peer.receive(until: "\r\n\r\n/")
      }
      let third = try server.peer()
      third.send(get)
      first[0].close()
      #expect(third.receive(until: "\r\n\r\n/").contains("200 OK"))
      #expect(server.listener.connectionCount <= 2)
    }
  }

  private static let upgrade =
    "GET /socket HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
    + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

  @Test(
    arguments: [
      ([0x81, 0x80, 0, 0, 0, 0, 0x89, 0x81, 0, 0, 0, 0, 7], [0x8A, 1, 7, 0x81, 0]),
      ([0x81, 0], [0x88, 0x1F, 3, 0xEA]),
      ([0x81, 0x81, 0, 0, 0, 0, 0xFF], [0x88, 0x1A, 3, 0xEF]), ([0x82, 0xFE, 0xFF], []),
      ([0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0x86, 0xA1, 0, 0, 0, 0], [0x88, 0x25, 3, 0xF1]),
      ([0x88, 0x82, 0, 0, 0, 0, 3, 0xE8], [0x88, 2, 3, 0xE8]), ([0x88, 0x80, 0, 0, 0, 0], [0x88, 0]),
    ] as [([UInt8], [UInt8])])
  func `frames are answered as the standard says`(sent: [UInt8], expected: [UInt8]) async throws {
    try await TestServer.run { server in
      let peer = try server.peer()
      peer.send(Array(Self.upgrade.utf8) + sent)
      var answer: [UInt8] = []
      let end: [UInt8] = [13, 10, 13, 10]
      while true {
        if let head = (0..<max(0, answer.count - 3)).first(where: { Array(answer[$0..<$0 + 4]) == end }) {
          let frames = answer[(head + 4)...]
          if frames.count >= expected.count {
            #expect(frames.prefix(expected.count).elementsEqual(expected))
            break
          }
        }
        guard let bytes = peer.receive(), !bytes.isEmpty else {
          Issue.record("ended with \(answer.suffix(20))")
          break
        }
        answer += bytes
      }
      #expect(String(decoding: answer, as: UTF8.self).contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
    }
  }

  @Test(arguments: UInt64(1)...4) func `random bytes on many connections do not hurt`(seed: UInt64) async throws {
    try await TestServer.run {
      $0.backlogBytes = 1_000
      $0.readBytes = 333
    } _: { server in
      var random = SplitMix(seed: seed)
      var peers: [RawPeer] = []
      for _ in 0..<200 {
        let peer = try server.peer()
        var bytes = Array((random.oneIn(2) ? Self.upgrade : get + get).utf8)
        for _ in 0..<random.below(3) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
        peer.send(bytes + random.bytes(random.below(2_000)))
        if random.oneIn(3) { peer.reset() } else { peers.append(peer) }
        if peers.count > 20 { peers.removeFirst() }
      }
      peers = []
      await server.waitForConnections(0)
      #expect(try server.isAlive(), "seed \(seed)")
    }
  }
}
