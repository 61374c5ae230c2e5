import Foundation
import Testing
import VestaTransportInterop

@testable import VestaTransport

/// Programs that nobody here wrote; a test says what it skipped where one is absent.
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

@Suite(.serialized, .timeLimit(.minutes(2))) struct InteroperationTests {
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
