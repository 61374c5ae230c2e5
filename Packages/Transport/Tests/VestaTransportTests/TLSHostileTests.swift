import CVestaTLS
import Foundation
import Glibc
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSHostileTests {
  /// The bytes with which a client of TLS begins.
  private static let hello: [UInt8] = {
    var pair: [Int32] = [0, 0]
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair)
    defer { pair.forEach { close($0) } }
    guard let context = try? TLSClientContext(.testing),
      let session = try? context.session(pair[0], host: "localhost", resuming: nil)
    else { return [] }
    _ = session.handshake()
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = recv(pair[1], &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
  }()

  @Test(arguments: [
    "GET / HTTP/1.1\r\nhost: h\r\n\r\n", "PUT /x HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "hello", "\r\n",
  ])
  func `a client that speaks in clear is answered with a sentence`(text: String) async throws {
    try await SecureTestServer.run { server in
      let peer = try RawPeer(server.listener.address)
      peer.send(text)
      let answer = peer.receiveText()
      #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.hasSuffix("this port speaks TLS: use https\n"), "\(answer)")
      await server.waitForConnections(0)
    }
  }

  @Test func `a client says so when a server speaks in clear`() async throws {
    try await TestServer.run { server in
      let client = try VestaTransportClient(security: .testing)
      let request = HTTPRequest(.get, "/", scheme: "https", authority: server.listener.address.description)
      let error = await #expect(throws: TransportError.self) { try await client.send(request, timeout: .seconds(20)) }
      #expect(error?.problem == .noTLS && error?.message.contains("use http") ?? false, "\(String(describing: error))")
      await client.close()
    }
  }

  @Test func `handshakes that are cut at any byte leave nothing behind`() async throws {
    #expect(Self.hello.count > 100 && Self.hello.first == 22)
    try await SecureTestServer.run { server in
      for count in stride(from: 0, through: Self.hello.count, by: 7) {
        let peer = try RawPeer(server.listener.address)
        peer.send(Array(Self.hello.prefix(count)))
        if count % 2 == 0 { peer.close() } else { peer.reset() }
      }
      #expect(try await server.isAlive())
      await server.waitForConnections(0)
    }
  }

  @Test func `a handshake with wrong bytes ends`() async throws {
    try await SecureTestServer.run { server in
      var random = SplitMix(seed: 7)
      for _ in 0..<60 {
        var bytes = Self.hello
        for _ in 0..<4 { bytes[5 + random.below(bytes.count - 5)] = UInt8(random.below(256)) }
        let peer = try RawPeer(server.listener.address)
        peer.send(bytes)
        peer.finish()
        _ = peer.receiveText()
      }
      #expect(try await server.isAlive())
      await server.waitForConnections(0)
    }
  }

  @Test(arguments: [0, 1, 50])
  func `a handshake that stops is given up`(count: Int) async throws {
    try await SecureTestServer.run {
      $0.handshakeTimeout = .milliseconds(50)
    } _: { server in
      let peer = try RawPeer(server.listener.address)
      peer.send(Array(Self.hello.prefix(count)))
      #expect(peer.receive()?.isEmpty ?? true)
      await server.waitForConnections(0)
    }
  }

  @Test func `a client gives up a server that stops responding`() async throws {
    guard let place = SocketAddress(host: "127.0.0.1", port: 0) else { return }
    let silent = try PlatformSocket.listen(at: place, shares: false, backlog: 8)
    var tuning = TransportTuning()
    tuning.handshakeTimeout = .milliseconds(50)
    tuning.sweepInterval = .milliseconds(10)
    let client = try VestaTransportClient(security: .testing, tuning: tuning)
    let authority = PlatformSocket.localAddress(silent)?.description ?? ""
    let error = await #expect(throws: TransportError.self) {
      try await client.send(HTTPRequest(.get, "/", scheme: "https", authority: authority), timeout: .seconds(20))
    }
    #expect(error?.code == .timedOut && error?.mayHaveBeenProcessed == false)
    await client.close()
    PlatformSocket.close(silent)
  }

  @Test func `shutting down ends handshakes that are under way`() async throws {
    try await SecureTestServer.run { server in
      let peers = try (0..<4).map { _ in try RawPeer(server.listener.address) }
      peers.forEach { $0.send(Array(Self.hello.prefix(40))) }
      while server.listener.connectionCount < 4 { await Task.yield() }
      await server.listener.shutDown(within: .seconds(60))
      #expect(server.listener.connectionCount == 0)
    }
  }

  /// A server that answers in TLS, and then ends the connection with or without the word of TLS.
  private func answer(_ text: String, saysEnd: Bool) async throws -> Result<[UInt8], any Error> {
    guard let place = SocketAddress(host: "127.0.0.1", port: 0) else { throw TransportError(.cannotListen, "") }
    let descriptor = try PlatformSocket.listen(at: place, shares: false, backlog: 8)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    let certificates = try TLSCertificates([TestAuthority.shared.identity(names: "IP:127.0.0.1")])
    let security = try TLSServerSecurity(TLSServerSettings(certificates))
    _ = PlatformThread.start {
      let accepted = accept(descriptor, nil, nil)
      guard let session = try? security.session(accepted) else { return }
      _ = session.handshake()
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 1)
      defer { buffer.deallocate() }
      _ = session.read(buffer)
      var text = text
      text.withUTF8 { _ = session.write(UnsafeRawBufferPointer($0)) }
      if saysEnd { session.finish() }
      shutdown(accepted, Int32(SHUT_WR))
      _ = recv(accepted, buffer.baseAddress, 4_096, 0)
      close(accepted)
    }
    let client = try VestaTransportClient(security: .testing)
    let authority = PlatformSocket.localAddress(descriptor)?.description ?? ""
    let outcome: Result<[UInt8], any Error>
    do {
      let request = HTTPRequest(.get, "/", scheme: "https", authority: authority)
      outcome = .success(try await client.send(request, timeout: .seconds(20)).body.collect(upTo: 1_000))
    } catch { outcome = .failure(error) }
    await client.close()
    PlatformSocket.close(descriptor)
    return outcome
  }

  @Test func `a body that lasts until the end is whole only when TLS says that it ended`() async throws {
    let head = "HTTP/1.1 200 OK\r\n\r\nbody"
    #expect(try await answer(head, saysEnd: true).get() == Array("body".utf8))
    let cut = try await answer(head, saysEnd: false)
    #expect(throws: TransportError.self) { try cut.get() }
    // A length says where the body ends, whatever follows.
    let known = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody"
    #expect(try await answer(known, saysEnd: false).get() == Array("body".utf8))
  }

  @Test func `new keys are taken, as many as are allowed, and a flood of them ends its connection alone`() async throws
  {
    for wantsAnswer in [SSL_KEY_UPDATE_NOT_REQUESTED, SSL_KEY_UPDATE_REQUESTED] {
      try await SecureTestServer.run {
        $0.tlsControlMessages = 50
        $0.idleTimeout = .seconds(1_000)
        $0.tlsControlMessagesPerSecond = 0
      } _: { server in
        let peer = try TLSRawPeer(server.listener.address, try TLSClientContext(.testing), host: "localhost")
        #expect(try peer.handshake() == nil)
        func renew(_ count: Int) {
          for _ in 0..<count {
            SSL_key_update(peer.session.pointer, wantsAnswer)
            _ = peer.session.handshake()
          }
        }
        renew(40)
        peer.send("GET /behind HTTP/1.1\r\nhost: h\r\n\r\n")
        #expect(peer.receive(until: "/behind").hasSuffix("/behind"))
        renew(2_000)
        #expect(peer.receive()?.isEmpty ?? true)
        #expect(try await server.isAlive())
        await server.waitForConnections(0)
      }
    }
  }

  @Test func `a turn takes no more from the socket than fits, whatever the peer sends`() throws {
    // By TCP: a local pair takes few small writes.
    let listening = try PlatformSocket.listen(
      at: #require(SocketAddress(host: "127.0.0.1", port: 0)), shares: false, backlog: 1)
    defer { PlatformSocket.close(listening) }
    let peer = try RawPeer(#require(PlatformSocket.localAddress(listening)))
    let pair = [peer.duplicate(), accept(listening, nil, nil)]
    for descriptor in pair { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
    defer { pair.forEach { close($0) } }
    let identity = TestAuthority.shared.identity(names: "DNS:localhost")
    let security = try TLSServerSecurity(TLSServerSettings(try TLSCertificates([identity])))
    let server = try security.session(pair[1])
    let client = try TLSClientContext(.testing).session(pair[0], host: "localhost", resuming: nil)
    var isDone = [false, false]
    while isDone != [true, true] {
      for (index, side) in [client, server].enumerated() {
        switch side.handshake() {
        case .done: isDone[index] = true
        case .waits: break
        case .failed(let error): throw error
        }
      }
    }
    // As many new keys as the socket takes.
    var sent = 0
    while SSL_key_update(client.pointer, SSL_KEY_UPDATE_NOT_REQUESTED) == 1, case .done = client.handshake() {
      sent += 1
    }
    var (before, after): (Int32, Int32) = (0, 0)
    _ = ioctl(pair[1], UInt(FIONREAD), &before)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000, alignment: 1)
    defer { buffer.deallocate() }
    guard case .wouldBlock = server.read(buffer) else { throw TransportError(.protocolViolation, "no data was sent") }
    _ = ioctl(pair[1], UInt(FIONREAD), &after)
    #expect(sent > 1_000 && before > 40_000)
    #expect(before - after < 20_000, "\(before - after) bytes of \(before) were read at once")
  }

  @Test func `a peer of TLS that does not read is cut off, and others are served at the same time`() async throws {
    try await SecureTestServer.run {
      $0.writeTimeout = .milliseconds(200)
    } _: { server in
      let peers = try (0..<4).map { _ in
        let peer = try TLSRawPeer(server.listener.address, try TLSClientContext(.testing), host: "localhost")
        #expect(try peer.handshake() == nil)
        peer.send("GET /large HTTP/1.1\r\nhost: h\r\n\r\n")
        return peer
      }
      #expect(try await server.isAlive())
      await server.waitForConnections(0)
      withExtendedLifetime(peers) {}
    }
  }

  @Test func `peers of TLS that vanish leave nothing behind`() async throws {
    let get = "GET / HTTP/1.1\r\nhost: h\r\n\r\n"
    try await SecureTestServer.run { server in
      let beginnings = [
        "", "GET", get, "POST /echo HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\nabc",
        "POST /stream HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
        "GET /never HTTP/1.1\r\nhost: h\r\n\r\n", "GET /large HTTP/1.1\r\nhost: h\r\n\r\n", get + get + "GET /never",
      ]
      for beginning in beginnings {
        for way in 0..<4 {
          let peer = try TLSRawPeer(server.listener.address, try TLSClientContext(.testing), host: "localhost")
          #expect(try peer.handshake() == nil)
          if !beginning.isEmpty { peer.send(beginning) }
          switch way {
          case 0: peer.close()
          case 1: PlatformSocket.resetOnClose(peer.descriptor)
          // Half closed, with and without the word of TLS.
          case 2:
            peer.session.finish()
            while let text = peer.receive(), !text.isEmpty {}
          default:
            shutdown(peer.descriptor, Int32(SHUT_WR))
            while let text = peer.receive(), !text.isEmpty {}
          }
        }
      }
      await server.waitForConnections(0)
      #expect(try await server.isAlive())
    }
  }

  @Test func `a server reads what was sent before the client's end of writing, and answers it`() async throws {
    try await SecureTestServer.run { server in
      let context = try TLSClientContext(.testing)
      let peer = try TLSRawPeer(server.listener.address, context, host: "localhost")
      #expect(try peer.handshake() == nil)
      peer.send("GET /last HTTP/1.1\r\nhost: h\r\n\r\n")
      peer.session.finish()
      #expect(peer.receive(until: "/last").hasSuffix("/last"))
      await server.waitForConnections(0)
    }
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/openssl"), "openssl is not installed"))
  func `a client of TLS 1.2 cannot make the server negotiate again`() async throws {
    try await SecureTestServer.run { server in
      let command =
        "(sleep 0.3; echo R; sleep 0.5; printf 'GET /after HTTP/1.1\\r\\nhost: h\\r\\nconnection: close\\r\\n\\r\\n'; sleep 0.5)"
        + " | timeout 20 openssl s_client -tls1_2 -connect 127.0.0.1:\(server.port) 2>&1"
      let output = try await Peer.run("/bin/sh", ["-c", command]).output
      #expect(output.contains("no renegotiation"), "\(output.suffix(400))")
      #expect(try await server.isAlive())
    }
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/openssl"), "openssl is not installed"))
  func `versions before TLS 1.2 are refused, and ciphers without forward secrecy`() async throws {
    try await SecureTestServer.run { server in
      for option in ["-tls1", "-tls1_1", "-tls1_2 -cipher AES128-SHA:AES256-GCM-SHA384"] {
        let command = "echo | timeout 20 openssl s_client \(option) -connect 127.0.0.1:\(server.port) 2>&1"
        let output = try await Peer.run("/bin/sh", ["-c", command]).output
        #expect(output.contains("Cipher is (NONE)"), "\(option): \(output.suffix(300))")
      }
      #expect(try await server.isAlive())
    }
  }
}
