import BenchmarkKit
import VestaConcurrency
import VestaTransport
import VestaTransportInterop

/// Writes of the tree by 64 WebSockets, each of which waits for the acknowledgement.
func treeLines(_ bench: ServerBench) throws -> [Benchmark] {
  let port = try bench.server.port(of: "database")
  let sockets = Locked([WebSocket]())

  @Sendable func connected() async throws -> [WebSocket] {
    let open = sockets.withLock { $0 }
    guard open.isEmpty else { return open }
    var all: [WebSocket] = []
    for _ in 0..<64 {
      let socket = try await bench.client.openWebSocket(
        HTTPRequest(.get, "/.ws?v=5&ns=bench", authority: "127.0.0.1:\(port)"), subprotocols: [],
        timeout: .seconds(10))
      // The handshake.
      _ = try await socket.messages.next()
      all.append(socket)
    }
    sockets.withLock { $0 = all }
    return all
  }
  @Sendable func set(_ socket: WebSocket, _ number: Int) async throws {
    let text =
      #"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/scores/player\#(number % 1_000)","d":{"score":\#(number)}}}}"#
    try await socket.send(.text(text))
    while let message = try await socket.messages.next() {
      guard case .text(let reply) = message else { continue }
      guard reply.contains(#""r":\#(number),"#) else { continue }
      guard reply.contains(#""s":"ok""#) else { throw ServerBench.Absent() }
      return
    }
    throw ServerBench.Absent()
  }
  return [
    Benchmark(
      name: "server-tree-sets", unit: .microseconds, bar: .figure(atMost: 66.67),
      ours: (
        "64 WebSockets",
        {
          do {
            let sockets = try await connected()
            return await together(64, 25_600) { try await set(sockets[$0 % 64], $0) }
          } catch {
            print("failed: \(error)")
            return .nan
          }
        }
      ),
      other: (
        "set of a document, 64",
        {
          let seed = bench.nextSeed()
          return await together(64, 12_800) { try await bench.setByWire($0, seed: seed) }
        }
      ))
  ]
}
