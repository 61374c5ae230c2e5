import BenchmarkKit
import Foundation
import VestaTransport
import VestaTransportInterop

/// One call of gRPC at a time over one connection, compared with grpcio with a server and a client in one process
/// each, whose core is gRPC C++.
func callBenchmarks() async throws -> [Benchmark] {
  let server = try VestaTransportServer(loops: 1)
  let listener = try await server.listen(
    at: .internet(host: "127.0.0.1", port: 0), handler: GRPCHandler(OneByOne()))
  let channel = GRPCChannel(try VestaTransportClient(loops: 1), authority: listener.address.description)

  @Sendable func ours(_ part: Int) async -> Double {
    let clock = ContinuousClock()
    var times: [Double] = []
    for index in 0..<5_500 {
      let start = clock.now
      guard let response = try? await channel.unary("/o.O/Echo", [1, 2, 3], timeout: .seconds(60)),
        response.message.count == 3
      else { return .nan }
      if index >= 500 { times.append((clock.now - start) / .nanoseconds(1)) }
    }
    return times.sorted()[times.count * part / 100]
  }
  return [50, 99].map { part in
    Benchmark(
      name: "transport-grpc-one-call-p\(part)", unit: .microseconds, bar: .ratio(atMost: 1),
      ours: ("Vesta", { await ours(part) }), other: ("grpcio", { await GRPCIO.time(part) }))
  }
}

private struct OneByOne: GRPCService {
  func method(at path: String) -> GRPCMethod? { .unary { _, request in .response(GRPCResponse(request)) } }
}

private enum GRPCIO {
  private static let script = """
    import grpc, sys, time
    from concurrent import futures
    if sys.argv[1] == "server":
      class Handler(grpc.GenericRpcHandler):
        def service(self, details): return grpc.unary_unary_rpc_method_handler(lambda request, context: request)
      server = grpc.server(futures.ThreadPoolExecutor(1))
      server.add_generic_rpc_handlers((Handler(),))
      print(server.add_insecure_port("127.0.0.1:0"), flush=True)
      server.start()
      server.wait_for_termination()
    channel = grpc.insecure_channel("127.0.0.1:" + sys.argv[2])
    call, times = channel.unary_unary("/o.O/Echo"), []
    for index in range(5500):
      start = time.perf_counter_ns()
      call(b"abc", timeout=60)
      if index >= 500: times.append(time.perf_counter_ns() - start)
    print(sorted(times)[len(times) * int(sys.argv[3]) // 100])
    """

  static func time(_ part: Int) async -> Double {
    let server = Process()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    server.arguments = ["-c", script, "server"]
    let output = Pipe()
    server.standardOutput = output
    guard (try? server.run()) != nil else { return .nan }
    // Not SIGTERM: a child inherits the signals that the thread has blocked.
    defer { kill(server.processIdentifier, SIGKILL) }
    let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).filter(\.isNumber)
    let text = await Program.output("/usr/bin/python3", "-c", script, "client", port, "\(part)")
    return Double(text.filter(\.isNumber)) ?? .nan
  }
}
