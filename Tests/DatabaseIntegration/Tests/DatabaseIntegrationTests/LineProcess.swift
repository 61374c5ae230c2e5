import Dispatch
import Foundation
import VestaConcurrency
import VestaDatabaseBackend
import VestaTesting

@testable import DatabaseCrashWorker

/// A process of `DatabaseCrashWorker` that has an engine, or that wants one; at the end of its output the connections
/// of the other side end.
final class LineProcess: Sendable {
  private let process = Process()
  private let input = Pipe()
  private static let ended = "ended"
  private let said = Log<String>()
  private let isOver = Gate()
  /// Many threads write.
  private let writing = DispatchQueue(label: "lines")

  /// A client, which an engine of this process serves.
  ///
  /// - Parameter operations: Counts the operations for the end of a connection that the engine is asked for.
  convenience init(_ arguments: [String], _ engine: any DatabaseBackend, _ operations: Locked<Int>) throws {
    try self.init(arguments) { process in
      let service = LineService(engine) { [weak process] in process?.say($0) }
      return (
        { line in
          if case .request(_, .onDisconnectMerge, _) = line { operations.withLock { $0 += 1 } }
          service.take(line)
        }, { service.end() }
      )
    }
  }

  /// An engine, which serves clients of this process.
  convenience init(_ arguments: [String], _ clients: [LineBackend]) throws {
    try self.init(arguments) { process in
      for client in clients { client.begin { [weak process] in process?.say($0) } }
      return ({ line in for client in clients { client.take(line) } }, { for client in clients { client.end() } })
    }
  }

  private init(
    _ arguments: [String],
    _ other: (LineProcess) -> (take: @Sendable (Wire.Line) -> Void, end: @Sendable () -> Void)
  ) throws {
    let output = Pipe()
    let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    process.executableURL = directory.appendingPathComponent("DatabaseCrashWorker")
    process.arguments = arguments
    process.standardOutput = output
    process.standardInput = input
    try process.run()
    let (take, end) = other(self)
    Thread.detachNewThread { [said, isOver] in
      var rest: [UInt8] = []
      while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
        rest += data
        let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for bytes in lines.dropLast() {
          let text = String(decoding: bytes, as: UTF8.self)
          if let line = try? Wire.read(text) { take(line) } else { said.add(text) }
        }
        rest = lines.last.map(Array.init) ?? []
      }
      end()
      said.add(Self.ended)
      isOver.open()
    }
  }

  private func say(_ text: String) {
    writing.async { [input] in try? input.fileHandleForWriting.write(contentsOf: Data("\(text)\n".utf8)) }
  }

  /// Waits for a line with this beginning, if one is given, then for so long, and kills the process.
  ///
  /// - Returns: All lines that it has printed but the lines of the wire.
  func killAfter(microseconds: Int, afterPrefix prefix: String?) async -> [String] {
    if let prefix { await said.wait { $0.contains { $0.hasPrefix(prefix) || $0 == Self.ended } } }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) { continuation.resume() }
    }
    return await killNow()
  }

  /// Kills the process, and waits until it has ended.
  func killNow() async -> [String] {
    kill(process.processIdentifier, SIGKILL)
    return await finish()
  }

  /// Waits until the process has ended.
  func finish() async -> [String] {
    await isOver.wait()
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [process] in
        process.waitUntilExit()
        continuation.resume()
      }
    }
    return said.entries.dropLast()
  }
}
