public import BenchmarkKit
import VestaConcurrency
import VestaTransport
import VestaTransportInterop

/// The server of HTTP/1.1 compared with nginx, with wrk as the client of both.
///
/// The loads are taken in turns, and the processor time of each server is measured as well: a machine that is busy
/// distorts rates more than time that was used.
///
/// - Throws: When wrk or nginx is not installed, or no address is free.
public func transportBenchmarks() async throws -> [Benchmark] {
  let nginx = try Nginx.start()
  let nghttpd = try Nghttpd.start()
  let redis = try Redis.start()
  peersOfBenchmarks.withLock { $0 = (nghttpd, redis) }
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
  let security = TLSServerSettings(try TLSCertificates([.files(chain: Nginx.chain, key: Nginx.key)]))
  let secure = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), security: security, handler: Hello())
  let ports = Ports(ours: port, oursSecure: secure.address.port ?? 0, nginx: nginx)
  return [
    line("transport-http1-small", "/", connections: 64, cpu: false),
    line("transport-http1-small-processor", "/", connections: 64, cpu: true),
    line("transport-http1-task-processor", "/task", connections: 64, cpu: true),
  ] + (try await http2Benchmarks(nghttpd)) + tlsBenchmarks(ports)
    + transferBenchmarks(ports) + (try await streamBenchmarks()) + (try await fanOutBenchmarks(redis))
    + (try await idleBenchmarks()) + (try await callBenchmarks())
}

/// Ends the servers.
public func stopTransportBenchmarks() {
  Nginx.stop()
  let peers = peersOfBenchmarks.withLock { $0.take() }
  peers?.0.stop()
  peers?.1.stop()
}

private let peersOfBenchmarks = Locked<(Nghttpd, Redis)?>(nil)

/// The answer that nginx gives by `return`, in place or by a task.
struct Hello: HTTPHandler {
  private let response = HTTPResponse(fields: [.contentType: "text/plain"], body: .text("hello, world\n"))

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery {
    head.method == .put ? .streamed : .collected(upTo: 1 << 20)
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    if request.method == .put { return Upload.reply(to: request) }
    if request.target == "/socket" {
      return .webSocket(WebSocketService { socket in for try await _ in socket.messages {} })
    }
    if request.target == "/file" {
      return .response(TransportFile(Nginx.file)?.response(to: request) ?? HTTPResponse(.notFound))
    }
    return request.target == "/task" ? .task { response } : .response(response)
  }
}
