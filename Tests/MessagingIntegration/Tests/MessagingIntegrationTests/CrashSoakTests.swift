import Foundation
import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingService
import VestaRemoteConfigBackend
import VestaRemoteConfigService
import VestaServiceInterop
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import MessagingCrashWorker

/// Kills a process that sends or publishes, at a random time, and looks at what it left behind.
///
/// 5 rounds; 100 with `VESTA_SOAK=1`. One test after the other: a process that is just being started by one test shares
/// the open files of another one for a short time, and with them the lock of its store.
@Suite(.serialized) struct CrashSoakTests {
  private let rounds = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 100 : 5

  @Test func `no accepted message is lost by a kill, and what is delivered again has its id`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("CrashSoakTests: seed \(seed)")
    var random = SplitMix(seed: seed)
    let directory = try TemporaryDirectory("messaging-crash")
    var first = 1
    var (found, repeated) = (0, 0)
    for round in 0..<rounds {
      let token = try await register(directory.path, "installation\(round)")
      let worker = try WorkerProcess("MessagingCrashWorker", directory.path, "send", "\(first)", token)
      // Most kills happen after some messages, however slow the machine is; others at any time, also before the first.
      if round % 5 != 4 {
        _ = try await worker.lines(6 + random.below(60), withPrefix: "sent ")
        if round % 2 == 0 { try await worker.wait(forPrefix: "received \(first) ") }
      }
      let lines = try await worker.killAfter(
        microseconds: random.below(round % 5 == 4 ? 120_000 : 3000), afterLine: nil)
      #expect(!lines.contains { $0.hasPrefix("error") }, "\(lines)")
      let outcome = try await check(lines, directory.path, token, first: first, round: round)
      found += outcome.expected
      repeated += outcome.repeated
      first += 1000
    }
    #expect(found > rounds && repeated > 0)
    print("CrashSoakTests: \(rounds) kills, \(found) messages waited, \(repeated) deliveries came again")
  }

  @Test func `no accepted message is lost by a kill of a program that takes its time for each one`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("CrashSoakTests: seed \(seed)")
    var random = SplitMix(seed: seed)
    let directory = try TemporaryDirectory("messaging-receiver")
    var (sent, taken): (Set<Int>, [Int]) = ([], [])
    var first = 1
    func note(_ lines: [String]) {
      #expect(!lines.contains { $0.hasPrefix("error") }, "\(lines)")
      sent.formUnion(lines.filter { $0.hasPrefix("sent ") }.compactMap { Int($0.dropFirst(5)) })
      taken += lines.filter { $0.hasPrefix("taken ") }.compactMap { Int($0.dropFirst(6)) }
    }
    for round in 1...rounds {
      // Far more is sent than is taken: most of it is in the process, or waits, when that is killed.
      let worker = try WorkerProcess("MessagingCrashWorker", directory.path, "receive", "\(first)", "300", "20")
      _ = try await worker.lines(5 + random.below(100), withPrefix: "sent ")
      note(try await worker.killAfter(microseconds: random.below(300_000), afterLine: nil))
      first += 1_000
      // Before more wait than may.
      guard round % 5 == 0 || round == rounds else { continue }
      let last = try WorkerProcess("MessagingCrashWorker", directory.path, "receive", "\(first)", "0", "0")
      try await last.wait(for: "over")
      last.endInput()
      note(await last.finish())
      #expect(sent.subtracting(taken) == [], "seed \(seed), round \(round): \(sent.count) sent")
    }
    let again = taken.count - Set(taken).count
    print("CrashSoakTests: \(rounds) kills, \(sent.count) sent, \(Set(taken).count) taken, \(again) of them twice")
  }

  private func register(_ directory: String, _ id: String) async throws -> String {
    let engine = Worker.messaging(in: directory)
    let token = try await engine.register(
      RegisterRequest(installationID: id, platform: "linux", appID: "a"), context: CallContext())
    try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
    try await engine.close()
    return token
  }

  /// Connects, acknowledges everything, and compares with what was accepted and acknowledged before the kill.
  ///
  /// - Returns: The number of messages that had to arrive, and the number of arrived ones that had been delivered
  ///   before the kill.
  private func check(
    _ lines: [String], _ directory: String, _ token: String, first: Int, round: Int
  ) async throws -> (expected: Int, repeated: Int) {
    let sent = lines.filter { $0.hasPrefix("sent ") }.map { $0.split(separator: " ").map(String.init) }
    let acknowledged = Set(lines.filter { $0.hasPrefix("acknowledged ") }.compactMap { Int($0.dropFirst(13)) })
    let names = Dictionary(uniqueKeysWithValues: sent.compactMap { words in Int(words[1]).map { ($0, words[2]) } })
    // The kill may have happened between an acknowledgement and its line: such a message may be delivered again or not.
    let attempted = Set(lines.filter { $0.hasPrefix("acknowledging ") }.compactMap { Int($0.dropFirst(14)) })
    let expected = Set(names.keys).subtracting(attempted)
    let received = lines.filter { $0.hasPrefix("received ") }.map { $0.split(separator: " ").map(String.init) }
    let ids = Dictionary(received.compactMap { words in Int(words[1]).map { ($0, words[2]) } }) { first, _ in first }
    var repeated = 0
    let engine = Worker.messaging(in: directory)
    let log = EventLog<PushDelivery>(patience: .seconds(60))
    let connection = engine.connect(token: token, context: CallContext(), onEnd: { _ in }) { delivery in
      log.record(delivery)
      Task { try await engine.acknowledge(token: token, messageIDs: [delivery.messageID], context: CallContext()) }
    }
    try await log.wait(for: "round \(round): every accepted message") { deliveries in
      expected.isSubset(of: Set(deliveries.compactMap { Int($0.message.data["number"] ?? "") }))
    }
    for delivery in log.events {
      let number = Int(delivery.message.data["number"] ?? "") ?? 0
      #expect(!acknowledged.contains(number), "round \(round): \(number) was acknowledged and comes again")
      #expect(number >= first, "round \(round): \(number) is of an earlier round")
      if let name = names[number] { #expect(name.hasSuffix("/\(delivery.messageID)"), "round \(round)") }
      if let id = ids[number] {
        #expect(id == delivery.messageID, "round \(round): \(number) had another id before the kill")
        repeated += 1
      }
    }
    connection.cancel()
    try await engine.close()
    return (expected.count, repeated)
  }

  @Test func `every published template survives a kill, and versions have no gap`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("CrashSoakTests: seed \(seed)")
    var random = SplitMix(seed: seed)
    let directory = try TemporaryDirectory("remote-config-crash")
    var last: (number: Int, version: Int64) = (0, 0)
    for round in 0..<rounds {
      let worker = try WorkerProcess("MessagingCrashWorker", directory.path, "publish", "\(last.number + 1)")
      if round % 5 != 4 { _ = try await worker.lines(1 + random.below(40), withPrefix: "published ") }
      let lines = try await worker.killAfter(
        microseconds: random.below(round % 5 == 4 ? 60_000 : 3000), afterLine: nil)
      #expect(!lines.contains { $0.hasPrefix("error") }, "\(lines)")
      let published = lines.filter { $0.hasPrefix("published ") }.map {
        $0.split(separator: " ").compactMap { Int($0) }
      }
      let acknowledged = published.last.map { ($0[0], Int64($0[1])) } ?? last
      let engine = Worker.remoteConfig(in: directory.path)
      let stored = try await engine.template(namespace: "firebase", version: nil, context: .owner)
      let version = stored.template.version?.versionNumber ?? 0
      let number = stored.template.parameters["number"]?.defaultValue.flatMap { value in
        if case .value(let text) = value { Int(text) } else { nil }
      }
      // The last publication may have been committed without its line.
      #expect(version == acknowledged.1 || version == acknowledged.1 + 1, "round \(round)")
      #expect(number ?? 0 == acknowledged.0 + Int(version - acknowledged.1), "round \(round)")
      let page = try await engine.listVersions(ListVersionsRequest(), context: .owner)
      let numbers = page.versions.compactMap(\.versionNumber)
      #expect(numbers == Array((max(1, version - 299)...max(1, version)).reversed()) || version == 0, "round \(round)")
      last = (number ?? 0, version)
      try await engine.close()
    }
    #expect(last.version > 0)
    print("CrashSoakTests: \(rounds) kills, \(last.version) versions")
  }

  @Test func `a topic with 100,000 registrations reaches the connected ones, and the others when they connect`()
    async throws
  {
    let count = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 100_000 : 2000
    let directory = try TemporaryDirectory("messaging-topic")
    let engine = Worker.messaging(in: directory.path)
    let tokens = try await register(count, with: engine)
    for start in stride(from: 0, to: count, by: 1000) {
      let chunk = Array(tokens[start..<min(start + 1000, count)])
      let outcomes = try await engine.subscribe(tokens: chunk, toTopic: "news", context: .owner)
      #expect(outcomes.allSatisfy { $0 == nil })
    }
    let connected = min(1000, count / 2)
    let log = EventLog<String>(patience: .seconds(60))
    let connections = tokens.prefix(connected).map { token in
      engine.connect(token: token, context: CallContext(), onEnd: { _ in }) {
        log.record($0.message.data["text"] ?? "")
      }
    }
    for text in ["a", "b"] {
      let message = PushMessage(to: .topic("news"), data: ["text": text])
      _ = try await engine.send(message, isValidateOnly: false, context: .owner)
    }
    try await log.wait(for: "two messages each") { $0.count == 2 * connected }
    let late = EventLog<String>(patience: .seconds(60))
    let last = engine.connect(token: tokens[count - 1], context: CallContext(), onEnd: { _ in }) {
      late.record($0.message.data["text"] ?? "")
    }
    try await late.wait(for: "both messages") { $0 == ["a", "b"] }
    for connection in connections { connection.cancel() }
    last.cancel()
    try await engine.close()
  }

  /// Registers many installations, 64 at a time: commits at the same time are written to the disk together.
  private func register(_ count: Int, with engine: MessagingEngine) async throws -> [String] {
    let tasks = 64
    return try await withThrowingTaskGroup(of: [String].self) { group in
      for task in 0..<tasks {
        group.addTask {
          var tokens: [String] = []
          for number in stride(from: task, to: count, by: tasks) {
            let request = RegisterRequest(installationID: "i\(number)", platform: "linux", appID: "a")
            tokens.append(try await engine.register(request, context: CallContext()))
          }
          return tokens
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }
}
