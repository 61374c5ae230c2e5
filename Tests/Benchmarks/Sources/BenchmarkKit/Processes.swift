import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The processor time of processes and threads.
public enum ProcessorTime {
  /// The processor time of this process, in nanoseconds.
  public static var own: Double { read(CLOCK_PROCESS_CPUTIME_ID) }

  /// The processor time of the calling thread, in nanoseconds.
  public static var ofThread: Double { read(CLOCK_THREAD_CPUTIME_ID) }

  /// The processor time of a process with all of its threads, in nanoseconds.
  public static func of(_ process: String) -> Double {
    var clock = clockid_t()
    guard let id = Int32(process), clock_getcpuclockid(id, &clock) == 0 else { return .nan }
    return read(clock)
  }

  private static func read(_ clock: clockid_t) -> Double {
    var time = timespec()
    return clock_gettime(clock, &time) == 0 ? Double(time.tv_sec) * 1e9 + Double(time.tv_nsec) : .nan
  }
}

/// The memory of processes.
public enum Memory {
  /// The memory of a process that is resident, in bytes.
  public static func resident(_ process: String = "self") -> Double { line("VmRSS", process) }

  /// The most memory that a process had since ``forgetPeak(_:)``.
  public static func peak(_ process: String = "self") -> Double { line("VmHWM", process) }

  /// Begins to measure the most memory anew.
  public static func forgetPeak(_ process: String = "self") {
    try? "5".write(toFile: "/proc/\(process)/clear_refs", atomically: false, encoding: .utf8)
  }

  private static func line(_ name: String, _ process: String) -> Double {
    let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line.flatMap { Double($0.filter(\.isNumber)) }.map { $0 * 1_024 } ?? .nan
  }
}
