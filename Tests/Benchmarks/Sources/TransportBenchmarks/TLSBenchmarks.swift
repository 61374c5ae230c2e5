import BenchmarkKit
import VestaTransport

/// Where the servers listen.
struct Ports: Sendable {
  let ours: Int
  let oursSecure: Int
  let nginx: Nginx
}

/// TLS and files compared with nginx with the same key and the same OpenSSL.
func tlsBenchmarks(_ ports: Ports) -> [Benchmark] {
  func load(_ name: String, closes: Bool, connections: Int, cpu: Bool, bar: Double) -> Benchmark {
    Benchmark(
      name: name, unit: .microseconds, bar: .ratio(atMost: bar),
      ours: (
        "Vesta",
        {
          let load = await Load.run(
            port: ports.oursSecure, path: "/", connections: connections, scheme: "https", closes: closes
          ) { ProcessorTime.own }
          return cpu ? load.processorNanoseconds : load.nanoseconds
        }
      ),
      other: (
        "nginx",
        {
          let load = await Load.run(
            port: ports.nginx.securePort, path: "/", connections: connections, scheme: "https", closes: closes
          ) { ports.nginx.processorTime }
          return cpu ? load.processorNanoseconds : load.nanoseconds
        }
      ))
  }
  func download(_ name: String, isSecure: Bool, cpu: Bool, bar: Double) -> Benchmark {
    let scheme = isSecure ? "https" : "http"
    @Sendable func figure(_ download: Transfer) -> Double { cpu ? download.processorNanoseconds : download.nanoseconds }
    return Benchmark(
      name: name, unit: .microseconds, bar: .ratio(atMost: bar),
      ours: (
        "Vesta",
        {
          let port = isSecure ? ports.oursSecure : ports.ours
          return figure(
            await Transfer.download("\(scheme)://127.0.0.1:\(port)/file", bytes: Nginx.fileBytes) { ProcessorTime.own })
        }
      ),
      other: (
        "nginx",
        {
          let port = isSecure ? ports.nginx.securePort : ports.nginx.port
          return figure(
            await Transfer.download("\(scheme)://127.0.0.1:\(port)/file", bytes: Nginx.fileBytes) {
              ports.nginx.processorTime
            })
        }
      ))
  }
  return [
    load("transport-tls-handshake", closes: true, connections: 16, cpu: false, bar: 1.11),
    load("transport-tls-handshake-processor", closes: true, connections: 16, cpu: true, bar: 1.11),
    load("transport-tls-small-processor", closes: false, connections: 64, cpu: true, bar: 1.11),
    download("transport-file-gibibyte", isSecure: false, cpu: false, bar: 1.11),
    download("transport-file-gibibyte-processor", isSecure: false, cpu: true, bar: 1.11),
    download("transport-tls-gibibyte", isSecure: true, cpu: false, bar: 1.25),
    download("transport-tls-gibibyte-processor", isSecure: true, cpu: true, bar: 1.25),
  ]
}
