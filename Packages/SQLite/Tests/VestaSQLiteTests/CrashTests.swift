import Foundation
import StoreInterop
import Testing

@testable import StoreCrashWorker
@testable import VestaSQLite

/// Kills a process that writes, at a random moment, and looks at what it left behind.
///
/// 20 rounds; 200 with `VESTA_SOAK=1`.
@Suite struct CrashTests {
  @Test func whatWasAcknowledgedSurvivesAKillAndTheRestIsWholeOrAbsent() async throws {
    let rounds = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 200 : 20
    let seed = UInt64.random(in: 0...UInt64.max)
    print("CrashTests: seed \(seed)")
    var random = SplitMix(state: seed)
    let directory = try TemporaryDirectory()
    var acknowledged: Set<Int> = []
    var first = 1
    for round in 0..<rounds {
      let tasks = round % 2 == 0 ? 1 : 8
      let worker = try WorkerProcess("write", directory.path, "\(first)", "\(tasks)")
      let delay = UInt32.random(in: 0...60_000, using: &random)
      let lines = try worker.killAfter(microseconds: delay, afterLine: round % 5 == 4 ? nil : "ready")
      acknowledged.formUnion(lines.compactMap { Int($0) })
      let last = max(acknowledged.max() ?? 0, first) + tasks
      try await check(directory, acknowledged: acknowledged, last: last, round: round)
      first = last + 1
    }
    #expect(acknowledged.count > rounds)
  }

  private func check(_ directory: TemporaryDirectory, acknowledged: Set<Int>, last: Int, round: Int) async throws {
    let store = try directory.open()
    let wrong = try await store.read { reader in
      var wrong: [String] = []
      for number in 1...last {
        let count = try await Numbered.count(number, in: reader)
        let isRight = acknowledged.contains(number) ? count == Numbered.keys : [0, Numbered.keys].contains(count)
        if !isRight { wrong.append("\(number): \(count) of \(Numbered.keys)") }
      }
      return wrong
    }
    #expect(wrong == [], "round \(round)")
    let problems = try await store.checkIntegrity()
    #expect(problems == [], "round \(round)")
    try await store.close()
  }
}

/// A child process of the test.
final class WorkerProcess {
  private let process = Process()
  private let output = Pipe()
  private var text: [UInt8] = []

  init(_ arguments: String...) throws {
    // The worker is built beside the test bundle.
    let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    process.executableURL = directory.appendingPathComponent("StoreCrashWorker")
    process.arguments = arguments
    process.standardOutput = output
    process.standardInput = Pipe()
    try process.run()
  }

  /// Waits for a line, if one is given, then for so long, kills the process, and returns all that it said.
  func killAfter(microseconds: UInt32, afterLine line: String?) throws -> [String] {
    if let line { try wait(for: line) }
    usleep(microseconds)
    kill(process.processIdentifier, SIGKILL)
    return try finish()
  }

  /// Reads until the process has said a line.
  func wait(for line: String) throws {
    while !lines.contains(line) {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw WorkerEnded(said: lines) }
      text += data
    }
  }

  /// All that the process says until it ends.
  func finish() throws -> [String] {
    text += output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return lines
  }

  private var lines: [String] {
    String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map(String.init)
  }
}

struct WorkerEnded: Error {
  let said: [String]
}

struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
