import Dispatch
import Foundation
import VestaConcurrency

/// A child process of the test.
///
/// What waits for it does so on a thread of its own: the few threads of the tests belong to everybody.
final class WorkerProcess: Sendable {
  private let process = Process()
  private let output = Pipe()
  private let text = Locked<[UInt8]>([])

  init(_ arguments: String...) throws {
    // The worker is built beside the test bundle.
    let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    process.executableURL = directory.appendingPathComponent("FirestoreCrashWorker")
    process.arguments = arguments
    process.standardOutput = output
    process.standardInput = Pipe()
    try process.run()
  }

  /// Waits for a line, if one is given, then for so long, kills the process, and returns all that it said.
  func killAfter(microseconds: UInt32, afterLine line: String?) async throws -> [String] {
    if let line { try await wait(for: line) }
    await aside { [self] in
      usleep(microseconds)
      kill(process.processIdentifier, SIGKILL)
    }
    return await finish()
  }

  /// Reads until the process has said a line.
  func wait(for line: String) async throws {
    while !lines.contains(line) {
      let data = await aside { [self] in output.fileHandleForReading.availableData }
      guard !data.isEmpty else { throw WorkerEnded(said: lines) }
      text.withLock { $0 += data }
    }
  }

  /// All that the process says until it ends.
  func finish() async -> [String] {
    let rest = await aside { [self] in
      let rest = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return rest
    }
    text.withLock { $0 += rest }
    return lines
  }

  private var lines: [String] {
    String(decoding: text.withLock { $0 }, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast().map(String.init)
  }

  private func aside<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
  }
}

struct WorkerEnded: Error {
  let said: [String]
}
