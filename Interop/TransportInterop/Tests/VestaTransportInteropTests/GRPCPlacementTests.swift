import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

/// Where calls run.
@Suite(.timeLimit(.minutes(10))) struct GRPCPlacementTests {
  /// Two methods whose calls are placed, and wait.
  private struct Placed: GRPCService {
    let log = Log<String>()
    let gate = Gate()

    func method(at path: String) -> GRPCMethod? {
      let placement = GRPCPlacement {
        log.add("begin")
        return globalConcurrentExecutor
      } end: {
        log.add("end")
      }
      if path == "/w.W/Stream" { return .stream(placement: placement) { _, _ in await gate.wait() } }
      return .unary(placement: placement) { _, bytes in
        .task {
          log.add(withUnsafeCurrentTask { $0?.unownedTaskExecutor } == nil ? "anywhere" : "placed")
          await gate.wait()
          return GRPCResponse(bytes)
        }
      }
    }
  }

  private let placed = Placed()

  private func reply(_ path: String, timeout: String? = nil) -> HTTPReply {
    var fields: HTTPFields = [.contentType: "application/grpc"]
    if let timeout { fields["grpc-timeout"] = timeout }
    return GRPCHandler(placed).reply(
      to: HTTPRequest(.post, path, authority: "h", fields: fields, body: .bytes([0, 0, 0, 0, 0])))
  }

  @Test func `a stream is placed before its task begins, until its closure has returned`() async throws {
    let replies = (0..<2).map { _ in reply("/w.W/Stream") }
    // Nothing was awaited yet.
    #expect(placed.log.entries == ["begin", "begin"])
    placed.gate.open()
    for reply in replies { if case .task(let work) = reply { _ = try await work() } }
    await placed.log.wait { $0 == ["begin", "begin", "end", "end"] }
  }

  @Test(arguments: [nil, "10S"]) func `a call with one response runs where it is placed`(timeout: String?) async throws
  {
    do {
      let replies = (0..<2).map { _ in reply("/w.W/Unary", timeout: timeout) }
      #expect(placed.log.entries == ["begin", "begin"])
      placed.gate.open()
      for reply in replies {
        guard case .task(let work) = reply else {
          Issue.record("The reply is no task.")
          continue
        }
        #expect(try await work().status == 200)
      }
    }
    await placed.log.wait { $0.count == 6 }
    #expect(placed.log.entries.filter { $0 == "placed" }.count == 2)
    #expect(placed.log.entries.filter { $0 == "end" }.count == 2)
  }

  @Test func `a call that never runs gives its place back`() {
    do {
      let reply = reply("/w.W/Unary")
      withExtendedLifetime(reply) { #expect(placed.log.entries == ["begin"]) }
    }
    #expect(placed.log.entries == ["begin", "end"])
  }
}
