import BenchmarkKit
import Foundation

/// A load by wrk: two threads, two seconds.
struct Load {
  var nanoseconds: Double
  var processorNanoseconds: Double

  /// - Parameter processorTime: The processor time of the server so far, in nanoseconds.
  static func run(
    port: Int, path: String, connections: Int, scheme: String = "http", closes: Bool = false,
    processorTime: () -> Double
  ) async -> Load {
    let before = processorTime()
    let connection = closes ? "connection: close" : "connection: keep-alive"
    let output = await Program.output(
      "/usr/bin/wrk", "-t2", "-c\(connections)", "-d2", "-H", connection, "\(scheme)://127.0.0.1:\(port)\(path)")
    let used = processorTime() - before
    let words = output.split(whereSeparator: \.isWhitespace)
    // "123456 requests in 2.00s, …"
    guard let index = words.firstIndex(of: "requests"), index > 0, let count = Double(words[index - 1]), count > 0,
      let rateIndex = words.firstIndex(of: "Requests/sec:"), let rate = Double(words[rateIndex + 1])
    else { return Load(nanoseconds: .nan, processorNanoseconds: .nan) }
    return Load(nanoseconds: 1e9 / rate, processorNanoseconds: used / count)
  }
}
