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

enum Program {
  static func output(_ path: String, _ arguments: String...) async -> String {
    await output(path, arguments: arguments)
  }

  static func output(_ path: String, arguments: [String]) async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        guard (try? process.run()) != nil else { return continuation.resume(returning: "") }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        continuation.resume(returning: String(decoding: data, as: UTF8.self))
      }
    }
  }
}

enum ProcessorTime {
  /// The processor time of this process, in nanoseconds.
  static var own: Double { of("self") }

  /// The processor time of a process, from its file in `/proc`, whose ticks are hundredths of a second.
  static func of(_ process: String) -> Double {
    let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    // The name, in parentheses, may contain anything.
    let fields = text.drop { $0 != ")" }.split(separator: " ")
    guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return .nan }
    return (user + system) * 1e7
  }
}
