import BenchmarkKit
import Foundation
import Glibc
import VestaConcurrency
import VestaTransport
import VestaTransportInterop

/// A transfer by curl.
struct Transfer {
  var nanoseconds: Double
  var processorNanoseconds: Double

  static func download(_ url: String, bytes: UInt64, processorTime: () -> Double) async -> Transfer {
    await run(["-o", "/dev/null", "-w", "%{size_download} %{time_total}", url], bytes, processorTime)
  }

  static func upload(_ url: String, bytes: UInt64, processorTime: () -> Double) async -> Transfer {
    await run(
      ["-T", Nginx.file, "-H", "expect:", "-o", "/dev/null", "-w", "%{size_upload} %{time_total}", url], bytes,
      processorTime)
  }

  private static func run(_ arguments: [String], _ bytes: UInt64, _ processorTime: () -> Double) async -> Transfer {
    let before = processorTime()
    let output = await Program.output("/usr/bin/curl", arguments: ["-sk"] + arguments)
    let used = processorTime() - before
    let words = output.split(separator: " ").compactMap { Double($0) }
    guard words.count == 2, words[0] == Double(bytes) else {
      return Transfer(nanoseconds: .nan, processorNanoseconds: .nan)
    }
    return Transfer(nanoseconds: words[1] * 1e9, processorNanoseconds: used)
  }
}

/// A gibibyte from a client to a file, and the memory that a gibibyte takes on its way.
func transferBenchmarks(_ ports: Ports) -> [Benchmark] {
  @Sendable func upload(ours: Bool) async -> Transfer {
    let port = ours ? ports.ours : ports.nginx.port
    let name = ours ? "ours" : "theirs"
    defer { unlink("\(Nginx.uploads)/\(name)") }
    return await Transfer.upload("http://127.0.0.1:\(port)/put/\(name)", bytes: Nginx.fileBytes) {
      ours ? ProcessorTime.own : ports.nginx.processorTime
    }
  }
  func line(_ name: String, _ figure: @escaping @Sendable (Transfer) -> Double) -> Benchmark {
    Benchmark(
      name: name, unit: .microseconds, bar: .ratio(atMost: 1.25),
      ours: ("Vesta", { figure(await upload(ours: true)) }), other: ("nginx dav", { figure(await upload(ours: false)) })
    )
  }
  func memory(_ name: String, _ transfer: @escaping @Sendable () async -> Void) -> Benchmark {
    Benchmark(
      name: name, unit: .kibibytes, bar: .figure(atMost: 1_024),
      ours: (
        "Vesta",
        {
          Memory.forgetPeak()
          let before = Memory.resident()
          await transfer()
          return max(0, Memory.peak() - before)
        }
      ), other: ("nothing", { .nan }))
  }
  return [
    line("transport-upload-gibibyte", \.nanoseconds),
    line("transport-upload-gibibyte-processor", \.processorNanoseconds),
    memory("transport-file-memory") {
      _ = await Transfer.download("http://127.0.0.1:\(ports.ours)/file", bytes: Nginx.fileBytes) { 0 }
    },
    memory("transport-tls-memory") {
      _ = await Transfer.download("https://127.0.0.1:\(ports.oursSecure)/file", bytes: Nginx.fileBytes) { 0 }
    },
    memory("transport-upload-memory") { _ = await upload(ours: true) },
  ]
}

/// Writes the body of a request to a file.
enum Upload {
  static func reply(to request: HTTPRequest) -> HTTPReply {
    let name = request.target.split(separator: "/").last.map(String.init) ?? "none"
    let body = request.body.stream
    return .task {
      mkdir(Nginx.uploads, 0o755)
      let file = open("\(Nginx.uploads)/\(name)", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o644)
      guard file >= 0 else { return HTTPResponse(.internalServerError) }
      defer { close(file) }
      while let bytes = try await body.next() {
        guard bytes.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) == bytes.count else {
          return HTTPResponse(.internalServerError)
        }
      }
      return HTTPResponse(201)
    }
  }
}
