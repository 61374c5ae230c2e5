import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct ClientTests {
  private func request(_ server: TestServer, _ target: String = "/") -> HTTPRequest {
    HTTPRequest(.get, target, authority: server.listener.address.description)
  }

  private func tuning(_ change: (inout TransportTuning) -> Void) -> TransportTuning {
    var tuning = TransportTuning()
    tuning.sweepInterval = .milliseconds(10)
    change(&tuning)
    return tuning
  }

  @Test func `a client keeps a bounded number of connections, and none for long`() async throws {
    try await TestServer.run { server in
      let client = try VestaTransportClient(
        tuning: tuning {
          $0.idleConnectionsPerHost = 2
          $0.clientIdleTimeout = .milliseconds(100)
        })
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
          group.addTask { _ = try await client.send(request(server, "/task"), timeout: nil).body.collect(upTo: 10) }
        }
        try await group.waitForAll()
      }
      await server.waitForConnections(2)
      await server.waitForConnections(0)
      await client.close()
    }
  }

  @Test func `a kept connection that the server has closed does not fail a request that can be repeated`() async throws
  {
    try await TestServer.run {
      $0.idleTimeout = .milliseconds(20)
    } _: { server in
      let client = try VestaTransportClient()
      for _ in 0..<20 {
        #expect(try await client.send(request(server), timeout: nil).status == .ok)
        await server.waitForConnections(0)
      }
      await client.close()
    }
  }

  @Test func `a server that does not answer ends by the time-out, and its connection with it`() async throws {
    try await TestServer.run { server in
      let client = try VestaTransportClient()
      await #expect { try await client.send(request(server, "/never"), timeout: .milliseconds(50)) } throws: {
        TransportError.Code.timedOut ~= $0
      }
      await server.waitForConnections(0)
      await client.close()
    }
  }

  @Test func `requests that cannot be written or reached fail before they are sent`() async throws {
    let client = try VestaTransportClient()
    let cases: [(HTTPRequest, TransportError.Code)] = [
      (HTTPRequest(.get, "/ x", authority: "127.0.0.1:1"), .invalidArgument),
      (HTTPRequest(.get, "/\r\nx: y", authority: "127.0.0.1:1"), .invalidArgument),
      (HTTPRequest(.get, "/", authority: "127.0.0.1:1\r\nx: y"), .invalidArgument),
      (HTTPRequest(.get, "/", authority: ""), .invalidArgument),
      (HTTPRequest(.get, "/", scheme: "ftp", authority: "127.0.0.1:1"), .invalidArgument),
      (HTTPRequest(.get, "/", scheme: "https", authority: "127.0.0.1:1"), .cannotConnect),
      (HTTPRequest(.get, "/", authority: "name.invalid:1"), .hostNotFound),
      (HTTPRequest(.get, "/", authority: "127.0.0.1:1"), .cannotConnect),
      // The system refuses to connect to it at once.
      (HTTPRequest(.get, "/", authority: "255.255.255.255:1"), .cannotConnect),
    ]
    for (request, code) in cases {
      let error = await #expect(throws: TransportError.self) { try await client.send(request, timeout: .seconds(20)) }
      #expect(error?.code == code && error?.mayHaveBeenProcessed == false, "\(String(describing: error))")
    }
    await client.close()
  }

  @Test func `a name with two families is reached by the one that answers`() async throws {
    // The server listens on 127.0.0.1 alone; the name is looked up for both families.
    try await TestServer.run { server in
      let client = try VestaTransportClient()
      let request = HTTPRequest(.get, "/", authority: "localhost:\(server.listener.address.port ?? 0)")
      #expect(try await client.send(request, timeout: nil).status == .ok)
      await client.close()
    }
  }

  /// Answers of servers that break the protocol, or vanish.
  @Test(arguments: [
    ("nonsense\r\n\r\n", TransportError.Code.protocolViolation), ("HTTP/1.1 200 OK\nx: y\r\n\r\n", .protocolViolation),
    ("", .connectionLost), ("HTTP/1.1 200", .connectionLost), ("HTTP/1.1 101 X\r\n\r\n", .protocolViolation),
    ("HTTP/1.1 100 Continue\r\n\r\n", .connectionLost),
  ])
  func `a server that breaks the protocol is an error`(answer: String, code: TransportError.Code) async throws {
    let peer = try RawServer(answer: answer)
    let client = try VestaTransportClient()
    let error = await #expect(throws: TransportError.self) {
      try await client.send(HTTPRequest(.post, "/", authority: peer.authority), timeout: .seconds(20))
    }
    #expect(error?.code == code && error?.mayHaveBeenProcessed == true, "\(String(describing: error))")
    await client.close()
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabcx",
  ])
  func `a body that is not whole is an error`(answer: String) async throws {
    let peer = try RawServer(answer: answer)
    let client = try VestaTransportClient()
    let response = try await client.send(HTTPRequest(.get, "/", authority: peer.authority), timeout: .seconds(20))
    await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 100) }
    await client.close()
  }

  @Test(arguments: [1, 3, 5, 100])
  func `a body ends also when its last bytes are more than its reader has room for`(backlog: Int) async throws {
    try await TestServer.run {
      $0.backlogBytes = backlog
      $0.idleTimeout = .seconds(10)
    } _: { server in
      let client = try VestaTransportClient(tuning: tuning { $0.backlogBytes = backlog })
      for _ in 0..<5 {
        let response = try await client.send(request(server, "/abc"), timeout: nil)
        #expect(try await response.body.collect(upTo: 10) == Array("/abc".utf8))
        let authority = server.listener.address.description
        let upload = HTTPRequest(.post, "/stream", authority: authority, body: .bytes([1, 2, 3, 4, 5]))
        #expect(try await client.send(upload, timeout: .seconds(10)).body.collect(upTo: 10) == Array("5".utf8))
      }
      await client.close()
    }
  }

  @Test(arguments: ["HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 10000\r\n\r\n"])
  func `a body is whole also when its reader lags behind the end of the connection`(head: String) async throws {
    let body = String(repeating: "0123456789", count: 1_000)
    let peer = try RawServer(answer: head + body)
    let client = try VestaTransportClient(
      tuning: tuning {
        $0.backlogBytes = 10
        $0.readBytes = 100
      })
    let response = try await client.send(HTTPRequest(.get, "/", authority: peer.authority), timeout: .seconds(20))
    #expect(try await response.body.collect(upTo: 20_000) == Array(body.utf8))
    await client.close()
  }

  @Test func `a body until the end of the connection is whole`() async throws {
    let peer = try RawServer(answer: "HTTP/1.0 200 OK\r\n\r\nabc")
    let client = try VestaTransportClient()
    let response = try await client.send(HTTPRequest(.get, "/", authority: peer.authority), timeout: .seconds(20))
    #expect(try await response.body.collect(upTo: 100) == Array("abc".utf8))
    await client.close()
  }
}
