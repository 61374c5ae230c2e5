import BenchmarkKit
import Foundation

/// A load by h2load: 64 requests at once.
enum H2Load {
  /// - Parameters:
  ///   - url: Where the requests go.
  ///   - body: The body of each.
  ///   - fields: Further fields.
  ///   - arguments: The protocol and the connections.
  /// - Returns: Nanoseconds for each request; not a number when one has failed.
  static func run(
    _ url: String, _ body: [UInt8], count: Int, fields: [String] = [], arguments: [String]
  ) async -> Double {
    let file = FileManager.default.temporaryDirectory.appending(path: "vesta-bench-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    guard (try? Data(body).write(to: file)) != nil else { return .nan }
    let output = await Program.output(
      "/usr/bin/h2load",
      arguments: ["-t1", "-n\(count)", "-d", file.path] + fields.flatMap { ["-H", $0] } + arguments + [url])
    let words = output.split(whereSeparator: \.isWhitespace)
    guard let index = words.firstIndex(where: { $0.hasPrefix("req/s") }), index > 0,
      let rate = Double(words[index - 1]),
      output.contains("\(count) succeeded")
    else {
      print(output)
      return .nan
    }
    return 1e9 / rate
  }

  /// Calls of gRPC: 64 streams of one connection.
  static func calls(_ authority: String, _ path: String, _ message: [UInt8], count: Int) async -> Double {
    let length = UInt32(message.count)
    let frame = [0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + message
    return await run(
      "http://\(authority)\(path)", frame, count: count, fields: ["content-type: application/grpc", "te: trailers"],
      arguments: ["-c1", "-m64"])
  }
}
