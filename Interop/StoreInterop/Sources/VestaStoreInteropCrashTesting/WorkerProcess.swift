import Dispatch
import Foundation
import VestaConcurrency

/// A child process of a test, to be killed in the middle of its work.
///
/// Waiting for it happens on a dedicated thread: all tests share few threads.
///
/// ```swift
/// let worker = try WorkerProcess("StoreCrashWorker", "write", directory.path)
/// let lines = try await worker.killAfter(microseconds: 900, afterLine: "ready")
/// ```
public final class WorkerProcess: Sendable {
  /// The number of the process.
  public let processIdentifier: Int32

  private let output: FileHandle
  private let input: FileHandle
  private let isReaped = Locked(false)
  private let text = Locked<[UInt8]>([])

  /// Starts an executable of the test's package, which is built next to the test bundle.
  ///
  /// - Parameters:
  ///   - executable: Its name.
  ///   - arguments: Its arguments.
  /// - Throws: The system's reason for not starting it.
  public convenience init(_ executable: String, _ arguments: String...) throws {
    try self.init(executable, arguments: arguments)
  }

  /// Starts an executable of the test's package, which is built next to the test bundle.
  ///
  /// - Parameters:
  ///   - executable: Its name.
  ///   - arguments: Its arguments.
  /// - Throws: The system's reason for not starting it.
  public init(_ executable: String, arguments: [String]) throws {
    let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let spawned = try SpawnedProcess([directory.appendingPathComponent(executable).path] + arguments)
    (processIdentifier, input, output) = (spawned.identifier, spawned.input, spawned.output)
  }

  /// Waits for a line, if one is given, and more lines, then for so long, and kills the process.
  ///
  /// - Parameters:
  ///   - microseconds: How long to let it work; a random number makes that time random.
  ///   - line: The line that it prints at its start.
  ///   - more: How many lines it says after that, at least. On a machine that has much else to do a process says
  ///     nothing in any time that is short.
  /// - Returns: All whole lines that it said.
  /// - Throws: `WorkerEnded` when it ended without saying the lines.
  public func killAfter(
    microseconds: Int, afterLine line: String?, andMore more: Int = 0
  ) async throws -> [String] {
    if let line {
      try await wait { (lines: [String]) in lines.firstIndex(of: line).map { lines.count - $0 > more } ?? false }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) { [self] in
        kill()
        continuation.resume()
      }
    }
    return await finish()
  }

  /// Reads until the process has said a line.
  ///
  /// - Parameter line: The line, without its end.
  /// - Throws: `WorkerEnded` when it ended without saying it.
  public func wait(for line: String) async throws { try await wait { $0 == line } }

  /// Reads until the process has said a line with this beginning.
  ///
  /// - Parameter prefix: The beginning of the line.
  /// - Throws: `WorkerEnded` when it ended without saying it.
  public func wait(forPrefix prefix: String) async throws { try await wait { $0.hasPrefix(prefix) } }

  private func wait(until isRight: (String) -> Bool) async throws {
    try await wait { (lines: [String]) in lines.contains(where: isRight) }
  }

  /// Reads until the process has said some lines with this beginning.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - prefix: The beginning of the lines.
  /// - Returns: The first lines with that beginning, as many as were asked for.
  /// - Throws: `WorkerEnded` when it ended without saying them.
  public func lines(_ count: Int = 1, withPrefix prefix: String) async throws -> [String] {
    try await wait { (lines: [String]) in lines.count { $0.hasPrefix(prefix) } >= count }
    return Array(lines.filter { $0.hasPrefix(prefix) }.prefix(count))
  }

  /// Says a line to the process, on its standard input.
  ///
  /// - Parameter line: The line, without its end.
  public func say(_ line: String) { try? input.write(contentsOf: Data("\(line)\n".utf8)) }

  /// Ends the input of the process, which ends it if it is so made.
  public func endInput() { try? input.close() }

  /// Kills the process, and waits for its end.
  ///
  /// - Returns: All whole lines that it said.
  @discardableResult
  public func killNow() async -> [String] {
    kill()
    return await finish()
  }

  private func kill() {
    // A process that was waited for has no number any longer.
    isReaped.withLock { if !$0 { _ = Foundation.kill(processIdentifier, SIGKILL) } }
  }

  private func wait(until areRight: ([String]) -> Bool) async throws {
    while !areRight(lines) {
      let data = await aside { [self] in output.availableData }
      guard !data.isEmpty else { throw WorkerEnded(said: lines) }
      text.withLock { $0 += data }
    }
  }

  /// Waits until the process ends.
  ///
  /// - Returns: All whole lines that it said.
  public func finish() async -> [String] {
    let rest = await aside { [self] in
      let rest = output.readDataToEndOfFile()
      waitUntilExit()
      return rest
    }
    text.withLock { $0 += rest }
    return lines
  }

  /// Waits outside of the lock, so that another thread may kill the process at the same time.
  private func waitUntilExit() {
    var info = siginfo_t()
    while waitid(P_PID, id_t(processIdentifier), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    isReaped.withLock {
      guard !$0 else { return }
      var status: Int32 = 0
      while waitpid(processIdentifier, &status, 0) < 0, errno == EINTR {}
      $0 = true
    }
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

/// A process ended before it said what was waited for.
public struct WorkerEnded: Error {
  /// The whole lines that it did say.
  public let said: [String]
}
