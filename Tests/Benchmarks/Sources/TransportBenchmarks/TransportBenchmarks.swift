public import BenchmarkKit
import VestaTransport
import VestaTransportInterop

/// The server of HTTP/1.1 beside nginx, with wrk as the client of both.
///
/// The loads are taken in turns, and the processor time of each server is measured as well: a machine that is busy distorts
/// rates more than time that was used.
///
/// - Throws: When wrk or nginx is not installed, or no address is free.
public func transportBenchmarks() async throws -> [Benchmark] {
  let nginx = try Nginx.start()
  let server = try VestaTransportServer(loops: 2)
  let listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), handler: Hello())
  let port = listener.address.port ?? 0

  func line(_ name: String, _ path: String, connections: Int, cpu: Bool) -> Benchmark {
    Benchmark(
      name: name, unit: .microseconds, bar: .ratio(atMost: 1),
      ours: (
        "Vesta",
        {
          let load = await Load.run(port: port, path: path, connections: connections) { ProcessorTime.own }
          return cpu ? load.processorNanoseconds : load.nanoseconds
        }
      ),
      other: (
        "nginx",
        {
          let load = await Load.run(port: nginx.port, path: "/", connections: connections) { nginx.processorTime }
          return cpu ? load.processorNanoseconds : load.nanoseconds
        }
      ))
  }
  return [
    line("transport-http1-small", "/", connections: 64, cpu: false),
    line("transport-http1-small-processor", "/", connections: 64, cpu: true),
    line("transport-http1-task-processor", "/task", connections: 64, cpu: true),
  ]
}

/// Ends the servers.
public func stopTransportBenchmarks() { Nginx.stop() }

/// The answer that nginx gives by `return`, in place or by a task.
private struct Hello: HTTPHandler {
  private let response = HTTPResponse(fields: [.contentType: "text/plain"], body: .text("hello, world\n"))

  func reply(to request: HTTPRequest) -> HTTPReply {
    request.target == "/task" ? .task { response } : .response(response)
  }
}
