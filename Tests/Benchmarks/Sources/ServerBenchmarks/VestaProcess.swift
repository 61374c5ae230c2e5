import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A process of `vesta serve`, the program that was built with this one, at ports that the system has chosen.
final class VestaProcess: Sendable {
  enum Failure: Error { case ended(String), noPort(String) }

  let process: Process
  /// From the start of the process until all ports were open, in nanoseconds.
  let startNanoseconds: Double
  private let ports: [String: Int]

  private init(_ process: Process, _ startNanoseconds: Double, _ ports: [String: Int]) {
    self.process = process
    self.startNanoseconds = startNanoseconds
    self.ports = ports
  }

  static var path: String {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "vesta").path
  }

  /// Starts a server whose data is in a directory.
  static func start(_ data: URL) async throws -> VestaProcess {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try started(data) }) }
    }
  }

  private static func started(_ data: URL) throws -> VestaProcess {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    let products = ["", "-auth", "-database", "-firestore", "-functions", "-hub", "-storage"]
    process.arguments =
      ["serve", "--project", "bench", "--data", data.path] + products.flatMap { ["--port\($0)", "0"] }
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": data.path]) { $1 }
    process.currentDirectoryURL = data
    let output = Pipe()
    process.standardOutput = output
    let clock = ContinuousClock()
    let start = clock.now
    try process.run()
    var text = ""
    // The table is written when all ports are open, the hub last.
    while !text.split(separator: "\n").dropLast().contains(where: { $0.hasPrefix("  hub ") }) {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw Failure.ended(text) }
      text += String(decoding: data, as: UTF8.self)
    }
    let time = (clock.now - start) / .nanoseconds(1)
    var ports: [String: Int] = [:]
    for line in text.split(separator: "\n") where line.hasPrefix("  ") {
      let words = line.split(separator: " ")
      if words.count > 1, let port = words[1].split(separator: ":").last.flatMap({ Int($0) }) {
        ports[String(words[0])] = port
      }
    }
    return VestaProcess(process, time, ports)
  }

  func port(of product: String) throws -> Int {
    guard let port = ports[product] else { throw Failure.noPort(product) }
    return port
  }

  var id: String { "\(process.processIdentifier)" }

  // Not SIGTERM: a child inherits the signals that the thread has blocked.
  func kill() {
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
