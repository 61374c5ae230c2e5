import BenchmarkKit
import Foundation
import VestaTransport
import VestaTransportInterop

/// A load by h2load: 8 connections, 32 streams each, one thread.
struct HTTP2Load {
  var nanoseconds: Double
  var processorNanoseconds: Double

  /// - Parameter processorTime: The processor time of the server so far, in nanoseconds.
  static func run(_ arguments: [String], count: Int, processorTime: () -> Double) async -> HTTP2Load {
    let before = processorTime()
    let output = await Program.output(
      "/usr/bin/h2load", arguments: ["-c8", "-m32", "-t1", "-n\(count)"] + arguments)
    let used = processorTime() - before
    // "finished in 1.23s, 123456.78 req/s, …", "requests: … 200000 succeeded, 0 failed, …"
    let words = output.split(whereSeparator: \.isWhitespace)
    guard let index = words.firstIndex(where: { $0.hasPrefix("req/s") }), index > 0,
      let rate = Double(words[index - 1]),
      output.contains("\(count) succeeded")
    else { return HTTP2Load(nanoseconds: .nan, processorNanoseconds: .nan) }
    return HTTP2Load(nanoseconds: 1e9 / rate, processorNanoseconds: used / Double(count))
  }
}

/// An nghttpd with one worker that serves a file of 13 bytes.
struct Nghttpd {
  static let port = 18_093
  private static let folder = FileManager.default.temporaryDirectory.appendingPathComponent("vesta-bench-nghttpd").path
  let process: Process

  static func start() throws -> Nghttpd {
    for program in ["/usr/bin/h2load", "/usr/sbin/nghttpd"] where !FileManager.default.isExecutableFile(atPath: program)
    {
      throw TransportBenchmarkError.missing(program)
    }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try "hello, world\n".write(toFile: "\(folder)/hello", atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/sbin/nghttpd")
    process.arguments = ["--no-tls", "-n1", "-d", folder, "-a", "127.0.0.1", "\(port)"]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return Nghttpd(process: process)
  }

  func stop() {
    // Not SIGTERM: a child inherits the signals that the thread has blocked.
    kill(process.processIdentifier, SIGKILL)
    try? FileManager.default.removeItem(atPath: Self.folder)
  }

  var processorTime: Double { ProcessorTime.of("\(process.processIdentifier)") }

  /// The body of a call: a message of seven bytes.
  static func requestFile() throws -> String {
    let path = "\(folder)/request"
    try Data([0, 0, 0, 0, 7, 10, 5, 119, 111, 114, 108, 100]).write(to: URL(fileURLWithPath: path))
    return path
  }
}

/// HTTP/2 and gRPC compared with nghttpd, one thread each.
func http2Benchmarks(_ nghttpd: Nghttpd) async throws -> [Benchmark] {
  let server = try VestaTransportServer(loops: 1)
  let plain = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), handler: Hello())
  let grpc = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), handler: GRPCHandler(Greeter()))
  let file = try Nghttpd.requestFile()
  let count = 200_000

  func line(_ name: String, cpu: Bool, _ arguments: [String]) -> Benchmark {
    Benchmark(
      name: name, unit: .microseconds, bar: .ratio(atMost: 1),
      ours: (
        "Vesta",
        {
          let load = await HTTP2Load.run(arguments, count: count) { ProcessorTime.own }
          return cpu ? load.processorNanoseconds : load.nanoseconds
        }
      ),
      other: (
        "nghttpd GET",
        {
          let load = await HTTP2Load.run(["http://127.0.0.1:\(Nghttpd.port)/hello"], count: count) {
            nghttpd.processorTime
          }
          return cpu ? load.processorNanoseconds : load.nanoseconds
        }
      ))
  }
  let get = ["http://\(plain.address)/"]
  let call = [
    "-d", file, "-H", "content-type: application/grpc", "-H", "te: trailers",
    "http://\(grpc.address)/greet.Greeter/Hello",
  ]
  let task = Array(call.dropLast()) + ["http://\(grpc.address)/greet.Greeter/Task"]
  return [
    line("transport-http2-small", cpu: false, get), line("transport-http2-small-processor", cpu: true, get),
    line("transport-grpc-unary", cpu: false, call), line("transport-grpc-unary-processor", cpu: true, call),
    line("transport-grpc-task-processor", cpu: true, task),
  ]
}

/// Answers with the message of the request.
private struct Greeter: GRPCService {
  func method(at path: String) -> GRPCMethod? {
    switch path {
    case "/greet.Greeter/Hello": .unary { _, request in .response(GRPCResponse(request)) }
    case "/greet.Greeter/Task": .unary { _, request in .task { GRPCResponse(request) } }
    default: nil
    }
  }
}
