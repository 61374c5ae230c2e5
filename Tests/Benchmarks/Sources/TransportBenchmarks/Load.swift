import BenchmarkKit
import Foundation
import Glibc

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

enum ProcessorTime {
  /// The processor time of this process, in nanoseconds.
  static var own: Double { read(CLOCK_PROCESS_CPUTIME_ID) }

  /// The processor time of the calling thread, in nanoseconds.
  static var ofThread: Double { read(CLOCK_THREAD_CPUTIME_ID) }

  /// The processor time of a process with all of its threads, in nanoseconds.
  static func of(_ process: String) -> Double {
    var clock = clockid_t()
    guard let id = Int32(process), clock_getcpuclockid(id, &clock) == 0 else { return .nan }
    return read(clock)
  }

  private static func read(_ clock: clockid_t) -> Double {
    var time = timespec()
    return clock_gettime(clock, &time) == 0 ? Double(time.tv_sec) * 1e9 + Double(time.tv_nsec) : .nan
  }
}

enum Memory {
  /// The memory of a process that is resident, in bytes.
  static func resident(_ process: String = "self") -> Double { line("VmRSS", process) }

  /// The most memory that a process had since ``forgetPeak(_:)``.
  static func peak(_ process: String = "self") -> Double { line("VmHWM", process) }

  static func forgetPeak(_ process: String = "self") {
    try? "5".write(toFile: "/proc/\(process)/clear_refs", atomically: false, encoding: .utf8)
  }

  private static func line(_ name: String, _ process: String) -> Double {
    let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line.flatMap { Double($0.filter(\.isNumber)) }.map { $0 * 1_024 } ?? .nan
  }
}
