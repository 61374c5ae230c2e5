import Foundation
import StorageOracle
import Testing
import VestaCore
import VestaStorage
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import StorageCrashWorker

/// Objects and files under transfers that are paused, resumed, cancelled and killed, with two clients, compared with a
/// model that knows the documentation alone.
///
/// `Soak` tells the variables of the long run.
@Suite(.timeLimit(.minutes(30)))
struct OracleTests {
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `clients see what the documentation says, however transfers are disturbed`(seed: UInt64) async throws {
    try await Self.disturb(seed, rounds: 3)
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func `what processes leave that are killed is what the documentation says`(seed: UInt64) async throws {
    try await Self.kill(seed, rounds: 4)
  }

  /// Rounds in this process, each with separate apps.
  static func disturb(_ seed: UInt64, rounds: Int) async throws {
    let directory = try TemporaryDirectory(), name = "disturbed-\(seed)"
    var history = OracleHistory()
    for round in 0..<rounds {
      let log = Log<OracleEvent>(), seed = seed &* 1_000 &+ UInt64(round)
      let label = "seed \(seed)"
      let program = try OracleProgram(directory: directory.path, name: name, seed: seed)
      let clients = OracleClients(program.storages, folder: program.folder, seed: seed) { log.add($0) }
      await clients.run(calls: 12)
      await program.end()
      check(directory, label)
      let next = try OracleProgram(directory: directory.path, name: name, seed: seed)
      let readers = OracleClients(next.storages, folder: next.folder, seed: 0, firstID: 1_000_000) { log.add($0) }
      await readers.readAll()
      await next.end()
      targets(log.entries, label)
      let problems = history.take(log.entries)
      #expect(problems == [], "\(label)")
      if !problems.isEmpty { return }
    }
  }

  /// Rounds in separate processes, each of which is killed, and checked by the next one.
  static func kill(_ seed: UInt64, rounds: Int) async throws {
    let directory = try TemporaryDirectory(), name = "killed-\(seed)"
    var history = OracleHistory(), random = SplitMix(seed: seed)
    for round in 0..<rounds {
      let seed = seed &* 1_000 &+ UInt64(round), label = "seed \(seed), killed"
      let worker = try WorkerProcess(
        "StorageCrashWorker", "oracle", directory.path, name, "\(seed)", "\(round * 1_000)")
      let lines = try await worker.killAfter(
        microseconds: random.below(60_000), afterLine: "ready", andMore: random.below(40))
      #expect(!lines.contains { $0.hasPrefix("error") }, "\(label): \(lines)")
      let log = Log<OracleEvent>()
      for line in lines { if let event = OracleEvent(line: line) { log.add(event) } }
      let pending = unanswered(log.entries)
      let program = try OracleProgram(directory: directory.path, name: name, seed: seed)
      let clients = OracleClients(program.storages, folder: program.folder, seed: seed, firstID: 1_000_000) {
        log.add($0)
      }
      // A target that is not as it was before has the content of the download that was killed.
      let answered = Set(log.entries.compactMap { if case .answer(let answer) = $0 { answer.id } else { nil } })
      for call in pending where call.kind == .write && !answered.contains(call.id) {
        guard let target = call.target, FileManager.default.fileExists(atPath: target) else { continue }
        guard let content = OracleContent(fileAt: target) else {
          Issue.record("\(label): \(target) has bytes that no object has had")
          continue
        }
        if content != call.before { log.add(.answer(OracleAnswer(id: call.id, outcome: .done, content: content))) }
      }
      await clients.resume(pending)
      await clients.rewrite(pending)
      await clients.readAll()
      await program.end()
      targets(log.entries, label)
      // The first download of each app has removed what those before have left.
      check(directory, label)
      let problems = history.take(log.entries)
      #expect(problems == [], "\(label)")
      if !problems.isEmpty { return }
    }
  }

  private static func unanswered(_ events: [OracleEvent]) -> [OracleCall] {
    var calls: [Int: OracleCall] = [:]
    for event in events {
      switch event {
      case .call(let call): calls[call.id] = call
      case .answer(let answer) where answer.outcome != .undecided: calls[answer.id] = nil
      case .answer, .broken: break
      }
    }
    return calls.values.sorted { $0.id < $1.id }
  }

  /// When all is over, every target has what its last download has said.
  private static func targets(_ events: [OracleEvent], _ label: String) {
    var targets: [String: OracleContent?] = [:], calls: [Int: OracleCall] = [:]
    for event in events {
      switch event {
      case .call(let call): calls[call.id] = call
      case .answer(let answer):
        guard let call = calls[answer.id], let target = call.target else { continue }
        targets[target] = answer.outcome == .done ? answer.content : call.before
      case .broken: break
      }
    }
    for (target, content) in targets {
      #expect(OracleContent(fileAt: target) == content, "\(label): \(target) has changed after its download was over")
    }
  }

  /// Nothing but sources and targets is in the folder of the files.
  private static func check(_ directory: TemporaryDirectory, _ label: String) {
    let left = directory.names.filter {
      guard $0.hasPrefix("files/") else { return false }
      // The last ones are Foundation's, which makes sources under another name first.
      return !["files/source-", "files/target-", "files/.dat.nosync"].contains(where: $0.hasPrefix)
    }
    #expect(left == [], "\(label)")
  }
}

/// The same for ten minutes.
struct OracleSoakTests {
  @Test(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
  func `many histories of objects and files agree with the oracle`() async throws {
    try await Soak("Storage").run { seed, count in
      try await OracleTests.disturb(seed, rounds: 3)
      if count.isMultiple(of: 8) { try await OracleTests.kill(seed, rounds: 4) }
    }
  }
}
