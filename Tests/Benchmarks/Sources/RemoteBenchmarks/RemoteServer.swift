import Foundation
import VestaConcurrency
import VestaServer

/// The program `vesta` as a process, which ends with this one.
public enum RemoteServer {
  private struct Running: Sendable {
    let input: FileHandle
    let port: Int
  }

  private static let running = Locked<[String: Running]>([:])

  /// Serves until the input ends, and prints the port.
  ///
  /// - Parameter data: The directory of the data; `nil` for memory.
  public static func serve(data: String?) async throws {
    let ports = Dictionary(uniqueKeysWithValues: ServerSettings.usualPorts.keys.map { ($0, 0) })
    let settings = ServerSettings(project: "bench", data: data, hosts: ["127.0.0.1"], ports: ports)
    let server = try await VestaServer.start(settings)
    print(server.port(of: ServerSettings.shared) ?? 0)
    fflush(nil)
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        _ = readLine()
        continuation.resume()
      }
    }
    await server.stop()
  }

  /// The port of a server in memory, or of one with its data in a directory, which is started by the first call.
  static func port(data: String? = nil) throws -> Int {
    try running.withLock { running in
      if let found = running[data ?? ""] { return found.port }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      process.arguments = ["serve"] + (data.map { [$0] } ?? [])
      let (input, output) = (Pipe(), Pipe())
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      let started = Running(input: input.fileHandleForWriting, port: Int(line.filter(\.isNumber)) ?? 0)
      running[data ?? ""] = started
      return started.port
    }
  }

  /// Ends all servers.
  public static func endAll() {
    for server in running.withLock({ $0.values }) { try? server.input.close() }
  }
}
