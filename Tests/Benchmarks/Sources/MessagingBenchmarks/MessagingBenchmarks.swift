public import BenchmarkKit
import Foundation
import SQLiteBaseline
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingService
import VestaSQLite
import VestaServiceInterop
import VestaStoreInterop

/// The messaging service on SQLite: direct sends compared with the same rows by hand, and a topic with many
/// registrations.
///
/// `VESTA_BENCH_REGISTRATIONS` sets the size of the topic (100,000).
public func messagingBenchmarks() -> [Benchmark] {
  [
    Benchmark(
      name: "messaging-send", unit: .microseconds, bar: .ratio(atMost: 3),
      ours: ("direct send, durable", { await sends(2000, tasks: 1) }),
      other: ("raw SQLite, the same five rows", { rawSends(2000) })),
    Benchmark(
      name: "messaging-send-32-tasks", unit: .microseconds, bar: .ratio(atMost: 1.5),
      ours: ("direct send, 32 tasks", { await sends(4000, tasks: 32) }),
      other: ("raw SQLite, the same five rows", { rawSends(2000) })),
    Benchmark(
      name: "messaging-topic", unit: .microseconds, bar: .figure(atMost: 50_000),
      ours: ("one send, 1,000 of 100,000 connected", { await topicSend(connected: 1000) }),
      other: ("raw SQLite, the same three rows", { rawSends(1000, rows: 3) })),
  ]
}

/// Removes the files that the benchmarks have made.
public func removeMessagingBenchmarkFiles() async {
  try? await madeTopic.withLock { $0.take() }?.engine.close()
  try? FileManager.default.removeItem(at: folder)
}

private let folder = FileManager.default.temporaryDirectory.appending(path: "vesta-messaging-\(UUID().uuidString)")
private let registrations =
  ProcessInfo.processInfo.environment["VESTA_BENCH_REGISTRATIONS"].flatMap { Int($0) } ?? 100_000

private func makeEngine(_ name: String) -> MessagingEngine {
  MessagingEngine(projectID: "bench", senderID: "1") {
    try await SQLiteStoreProvider().openStore(named: name, in: folder.path, options: StoreOptions())
  }
}

private func register(_ engine: MessagingEngine, _ id: String) async throws -> String {
  try await engine.register(
    RegisterRequest(installationID: id, platform: "linux", appID: "a"), context: CallContext())
}

/// Sends to registrations that are away, so that every message waits.
private func sends(_ count: Int, tasks: Int) async -> Double {
  do {
    let engine = makeEngine("send-\(UUID().uuidString)")
    var tokens: [String] = []
    for number in 0..<100 { tokens.append(try await register(engine, "i\(number)")) }
    let recipients = tokens
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for number in stride(from: task, to: count, by: tasks) {
            let message = PushMessage(to: .token(recipients[number % 100]), data: ["text": "message \(number)"])
            _ = try await engine.send(message, isValidateOnly: false, context: .owner)
          }
        }
      }
      try await group.waitForAll()
    }
    let duration = ContinuousClock.now - start
    try await engine.close()
    return duration / .nanoseconds(1) / Double(count)
  } catch {
    preconditionFailure("the benchmark could not use its engine: \(error)")
  }
}

private func rawSends(_ count: Int, rows: Int = 5) -> Double {
  try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  let raw = RawSQLite(path: folder.appending(path: "raw-\(UUID().uuidString)").path)
  return measure(count) { count in
    for number in 0..<count {
      raw.begin()
      for row in 0..<rows {
        raw.put(
          Workload.value(number &+ row, length: row == 0 ? 250 : 40),
          for: Workload.key(Workload.mix(number &* 8 &+ row)))
      }
      raw.commit()
    }
  }
}

/// The engine with the topic, made once: its registrations take longer than all rounds.
private struct Topic: Sendable {
  var engine: MessagingEngine
  var tokens: [String]
}

private let topics = SingleFlight<Int, Topic>()
private let madeTopic = Locked<Topic?>(nil)

private func topic() async throws -> Topic {
  if let made = madeTopic.withLock({ $0 }) { return made }
  return try await topics.value(for: 0) {
    let engine = makeEngine("topic-\(UUID().uuidString)")
    var tokens: [String] = []
    for number in 0..<registrations { tokens.append(try await register(engine, "i\(number)")) }
    for start in stride(from: 0, to: registrations, by: 1000) {
      let chunk = Array(tokens[start..<min(start + 1000, registrations)])
      _ = try await engine.subscribe(tokens: chunk, toTopic: "news", context: .owner)
    }
    let made = Topic(engine: engine, tokens: tokens)
    madeTopic.withLock { $0 = made }
    return made
  }
}

/// One send until the last of the connected registrations has it, durable; all of them acknowledge it.
private func topicSend(connected: Int) async -> Double {
  do {
    let topic = try await topic()
    let engine = topic.engine
    let heard = Locked(0)
    let (allHeard, all) = AsyncStream<Void>.makeStream()
    let received = Locked<[(token: String, id: String)]>([])
    let connections = topic.tokens.prefix(connected).map { token in
      engine.connect(token: token, context: CallContext(), onEnd: { _ in }) { delivery in
        received.withLock { $0.append((token, delivery.messageID)) }
        let number = heard.withLock { heard in
          heard += 1
          return heard
        }
        if number % connected == 0 { all.yield() }
      }
    }
    var iterator = allHeard.makeAsyncIterator()
    // The first message warms up: the connections have to be settled.
    var duration = Duration.zero
    for text in ["warm-up", "measured"] {
      let start = ContinuousClock.now
      let message = PushMessage(to: .topic("news"), data: ["text": text])
      _ = try await engine.send(message, isValidateOnly: false, context: .owner)
      await iterator.next()
      duration = ContinuousClock.now - start
    }
    for (token, id) in received.withLock({ $0 }) {
      try await engine.acknowledge(token: token, messageIDs: [id], context: CallContext())
    }
    for connection in connections { connection.cancel() }
    return duration / .nanoseconds(1)
  } catch {
    preconditionFailure("the benchmark could not use its engine: \(error)")
  }
}
