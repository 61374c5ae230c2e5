import Foundation
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Programs of other authors; a test says what it skipped where one is absent.
enum Peer {
  static func isThere(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

  static let hasPythonWebSockets =
    isThere("/usr/bin/python3") && (try? runBlocking("/usr/bin/python3", ["-c", "import websockets"]).status) == 0

  static func runBlocking(_ path: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  static func run(_ path: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try runBlocking(path, arguments) }) }
    }
  }
}

extension Peer {
  /// An nginx of a test, with its configuration in a separate folder.
  static func withNginx(_ servers: String, _ folder: TemporaryDirectory, _ body: () async throws -> Void) async throws {
    let text = """
      worker_processes 1; daemon off; pid \(folder.path)/pid; error_log \(folder.path)/errors;
      events { worker_connections 256; }
      http {
        access_log off;
        client_body_temp_path \(folder.path)/body; proxy_temp_path \(folder.path)/proxy;
        fastcgi_temp_path \(folder.path)/fastcgi; uwsgi_temp_path \(folder.path)/uwsgi; scgi_temp_path \(folder.path)/scgi;
        \(servers)
      }
      """
    try folder.write(Array(text.utf8), to: "conf")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
    process.arguments = ["-c", folder.path(of: "conf")]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    process.terminate()
    kill(process.processIdentifier, SIGQUIT)
    process.waitUntilExit()
    try result.get()
  }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct InteroperationTests {
  @Test(.enabled(if: Peer.isThere("/usr/bin/curl"), "curl is not installed"))
  func `curl gets and posts, in chunks, with an expectation, and by HTTP 1.0`() async throws {
    try await TestServer.run { server in
      let base = "http://\(server.listener.address)"
      let cases: [([String], String)] = [
        (["\(base)/a", "\(base)/b"], "/a/b"), (["-d", "content", "\(base)/echo"], "content"),
        (["-H", "Transfer-Encoding: chunked", "-d", "chunked", "\(base)/echo"], "chunked"),
        (["-H", "Expect: 100-continue", "-d", "expected", "\(base)/echo"], "expected"),
        (["--http1.0", "\(base)/old"], "/old"),
        (["-I", "-o", "/dev/null", "-w", "%{http_code}", "\(base)/head"], "200"),
        (["-o", "/dev/null", "-w", "%{size_download}", "\(base)/large"], "20000000"),
        (["-d", String(repeating: "x", count: 90_000), "\(base)/stream"], "90000"),
      ]
      for (arguments, expected) in cases {
        let output = try await Peer.run("/usr/bin/curl", ["-sS", "-m", "20"] + arguments).output
        #expect(output == expected, "\(arguments)")
      }
    }
  }

  @Test(.enabled(if: Peer.hasPythonWebSockets, "python3-websockets is not installed"))
  func `a client in Python speaks with a WebSocket`() async throws {
    try await TestServer.run { server in
      let script = """
        import asyncio, sys, websockets
        async def main():
          async with websockets.connect("ws://\(server.listener.address)/socket", compression=None) as socket:
            for message in ["a", "äö", b"", b"x" * 70000, "", "y" * 126]:
              await socket.send(message)
              assert await socket.recv() == message
            await socket.send(iter(["frag", "ments"]))
            assert await socket.recv() == "fragments"
            await (await socket.ping())
          assert socket.close_code == 1000, socket.close_code
          async with websockets.connect("ws://\(server.listener.address)/socket", compression=None) as socket:
            await socket.send(b"x" * 100001)
            try:
              await socket.recv()
            except websockets.ConnectionClosed as closed:
              assert closed.code == 1009, closed.code
          print("done")
        asyncio.run(main())
        """
      let (status, output) = try await Peer.run("/usr/bin/python3", ["-c", script])
      #expect(status == 0 && output == "done\n")
    }
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/wrk"), "wrk is not installed"))
  func `wrk sees answers alone, on many connections`() async throws {
    try await TestServer.run { server in
      for path in ["/small", "/task"] {
        let output = try await Peer.run(
          "/usr/bin/wrk", ["-t2", "-c64", "-d1", "http://\(server.listener.address)\(path)"]
        ).output
        #expect(
          output.contains("requests in") && !output.contains("errors") && !output.contains("Non-2xx"), "\(output)")
      }
    }
  }

  @Test func `websocket-client speaks with a WebSocket`() async throws {
    let python = try #require(Peer.python)
    try await TestServer.run { server in
      let script = """
        import websocket
        s = websocket.create_connection("ws://\(server.listener.address)/socket", timeout=20)
        for text in ["a", "äö", "", "y" * 126, "z" * 70000]:
          s.send(text)
          assert s.recv() == text
        s.send_binary(b"x" * 65536)
        assert s.recv() == b"x" * 65536
        s.send_frame(websocket.ABNF.create_frame("frag", websocket.ABNF.OPCODE_TEXT, 0))
        s.ping("in between")
        s.send_frame(websocket.ABNF.create_frame("ments", websocket.ABNF.OPCODE_CONT, 1))
        opcode, frame = s.recv_data_frame(control_frame=True)
        assert opcode == websocket.ABNF.OPCODE_PONG and frame.data == b"in between", (opcode, frame)
        assert s.recv() == "fragments"
        s.send_close(4001, b"enough")
        opcode, data = s.recv_data(control_frame=True)
        assert opcode == websocket.ABNF.OPCODE_CLOSE and data[:2] == (4001).to_bytes(2, "big"), (opcode, data)
        print("done")
        """
      let (status, output) = try await Peer.run(python, ["-c", script])
      #expect(status == 0 && output == "done\n", "\(output)")
    }
  }

  @Test(.enabled(if: Peer.hasPythonWebSockets, "python3-websockets is not installed"))
  func `a server in Python speaks with the client's WebSocket`() async throws {
    let script = """
      import asyncio, websockets
      async def echo(socket):
        async for message in socket:
          await socket.send(message)
      async def main():
        async with websockets.serve(echo, "127.0.0.1", 0) as server:
          print(server.sockets[0].getsockname()[1], flush=True)
          await asyncio.Future()
      asyncio.run(main())
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", script]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // Not SIGTERM: a child inherits the signals that the thread has blocked, and one that stays holds the output of the
    // tests open, so that they never end.
    defer { kill(process.processIdentifier, SIGKILL) }
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).filter(\.isNumber)
    let client = try VestaTransportClient()
    let request = HTTPRequest(.get, "/", authority: "127.0.0.1:\(line)")
    let socket = try await client.openWebSocket(request, subprotocols: [], timeout: .seconds(20))
    for message in [.text("a"), .text("ä€"), .binary([UInt8](repeating: 3, count: 100_000))] as [WebSocketMessage] {
      try await socket.send(message)
      #expect(try await socket.messages.next() == message)
    }
    socket.close(WebSocketClose(4000, "enough"))
    #expect(await socket.closed() == WebSocketClose(4000, "enough"))
    await client.close()
  }
}
