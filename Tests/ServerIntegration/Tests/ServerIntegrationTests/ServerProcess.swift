import Foundation
import VestaConcurrency
import VestaTesting

/// A process of `vesta serve`, at ports that the system has chosen.
final class ServerProcess: Sendable {
  /// The process has ended before it said where it listens.
  struct Failure: Error {
    let output: String
  }

  private let process: Process
  private let lines: Log<String>

  /// The addresses of products, by the variables in which clients look for them.
  let addresses: [String: String]

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - directory: For the server's files.
  ///   - arguments: Further arguments.
  convenience init(in directory: URL, _ arguments: String...) async throws {
    try await self.init(in: directory, arguments: arguments)
  }

  /// Starts a server with arguments that several starts have.
  convenience init(in directory: URL, _ first: String, arguments: [String]) async throws {
    try await self.init(in: directory, arguments: [first] + arguments)
  }

  private init(in directory: URL, arguments: [String]) async throws {
    (process, lines) = try Self.command(["serve"] + Self.freePorts + arguments, directory)
    await lines.wait { entries in entries.contains { $0.hasPrefix("  hub") || $0 == Self.ended } }
    guard !lines.entries.contains(Self.ended) else { throw Failure(output: lines.entries.joined(separator: "\n")) }
    var addresses: [String: String] = [:]
    for (name, variable) in Self.variables {
      let words = lines.entries.first { $0.hasPrefix("  \(name) ") }?.split(separator: " ") ?? []
      if words.count > 1 { addresses[variable] = String(words[1]) }
    }
    self.addresses = addresses
  }

  /// The options by which the system chooses all ports.
  static let freePorts = ["", "-auth", "-database", "-firestore", "-functions", "-hub", "-storage"].flatMap {
    ["--port\($0)", "0"]
  }

  /// The program `vesta`.
  static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "vesta").path

  /// Starts the program with any command.
  static func command(_ arguments: [String], _ directory: URL) throws -> (Process, Log<String>) {
    try start(program, arguments, ["TMPDIR": directory.path], directory)
  }

  /// Sends the process a signal.
  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Ends the process by a signal, and waits for its end.
  ///
  /// - Returns: The status that it has left; the number of a signal that it did not catch.
  @discardableResult
  func end(_ signal: Int32 = SIGTERM) async -> Int32 {
    kill(process.processIdentifier, signal)
    await lines.wait { $0.contains(Self.ended) }
    return await TestThreads.run { [process] in
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  /// Runs a script with the Python packages of `Tests/Peers`.
  func python(
    _ script: String, _ arguments: [String], _ variables: [String: String] = [:]
  ) async throws -> (status: Int32, lines: [String]) {
    let (process, lines) = try startPython(script, arguments, variables)
    await lines.wait { $0.contains(Self.ended) }
    let status = await TestThreads.run {
      process.waitUntilExit()
      return process.terminationStatus
    }
    return (status, lines.entries.filter { $0 != Self.ended })
  }

  /// Starts a script, which runs by itself.
  func startPython(
    _ script: String, _ arguments: [String], _ variables: [String: String] = [:]
  ) throws -> (Process, Log<String>) {
    guard let path = Bundle.module.path(forResource: script, ofType: "py"), let python = Self.python else {
      throw Failure(output: "the script \(script) or the interpreter is missing")
    }
    return try Self.start(
      python, [path] + arguments, addresses.merging(["GRPC_VERBOSITY": "NONE"]) { $1 }.merging(variables) { $1 }, nil)
  }

  private static let variables = [
    "auth": "FIREBASE_AUTH_EMULATOR_HOST", "database": "FIREBASE_DATABASE_EMULATOR_HOST",
    "firestore": "FIRESTORE_EMULATOR_HOST", "all": "VESTA_HOST", "storage": "FIREBASE_STORAGE_EMULATOR_HOST",
    "functions": "FUNCTIONS_EMULATOR_HOST", "hub": "FIREBASE_EMULATOR_HUB",
  ]

  /// The line after the last one of a process.
  static let ended = "(the output has ended)"

  private static func start(
    _ path: String, _ arguments: [String], _ variables: [String: String], _ directory: URL?
  ) throws -> (Process, Log<String>) {
    let process = Process()
    let output = Pipe()
    let lines = Log<String>()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.currentDirectoryURL = directory
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    Thread.detachNewThread {
      var rest: [UInt8] = []
      while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
        rest += data
        let parts = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in parts.dropLast() { lines.add(String(decoding: line, as: UTF8.self)) }
        rest = parts.last.map(Array.init) ?? []
      }
      if !rest.isEmpty { lines.add(String(decoding: rest, as: UTF8.self)) }
      lines.add(ended)
    }
    return (process, lines)
  }

  /// The interpreter that sees the peers, which `Scripts/python-peers` installs.
  private static let python: String? = {
    let root = #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
    let process = Process()
    process.executableURL = URL(filePath: "/\(root)/Scripts/python-peers")
    let pipe = Pipe()
    process.standardOutput = pipe
    do { try process.run() } catch { return nil }
    let path = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? path.trimmingCharacters(in: .whitespacesAndNewlines) : nil
  }()
}
