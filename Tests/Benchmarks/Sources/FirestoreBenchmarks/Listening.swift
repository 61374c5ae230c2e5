import BenchmarkKit
import SQLiteBaseline
import VestaConcurrency
import VestaFirestoreBackend

/// The cost of listeners for a write.
func listenLines() -> [Benchmark] {
  [
    line("write-1k-other-listeners", .ratio(atMost: 1.5), writes(beside: 1_000), writes(beside: 10)),
    line("write-50k-other-listeners", .ratio(atMost: 1.5), writes(beside: 50_000), writes(beside: 10)),
    line("write-1k-same-query", .none, deliveries, streams),
  ]
}

/// Listeners of one database, each with a separate call, and how many changed documents they have received.
private final class Audience: Sendable {
  private let heard = Locked((changes: 0, current: 0))
  private let calls: [ListenCall]

  private static let made = Locked([String: Audience]())

  /// The audience of a database, made when it is first asked for.
  static func of(
    _ name: String, _ bench: FirestoreBench, count: Int, query: @Sendable (Int) -> StructuredQuery
  ) async throws -> Audience {
    if let audience = made.withLock({ $0[name] }) { return audience }
    // A database is there from its first commit on.
    _ = try await bench.commitTime(in: name)
    var calls: [ListenCall] = []
    for number in 0..<count { calls.append(try await bench.listen(query(number), in: name)) }
    let audience = Audience(calls)
    for call in calls { Task.detached { await audience.follow(call) } }
    try await audience.wait { $0.current >= count }
    made.withLock { $0[name] = audience }
    return audience
  }

  private init(_ calls: [ListenCall]) { self.calls = calls }

  var changes: Int { heard.withLock { $0.changes } }

  private func follow(_ call: ListenCall) async {
    do {
      for try await responses in call.responses {
        heard.withLock { heard in
          for response in responses {
            switch response {
            case .documentChange: heard.changes += 1
            case .targetChange(let change) where change.kind == .current: heard.current += 1
            default: break
            }
          }
        }
      }
    } catch let error as FirestoreServiceError where error.code == .unavailable {
      // The engine is closed: the benchmarks are over.
    } catch {
      preconditionFailure("a listener failed: \(error)")
    }
  }

  /// Waits by yielding: on two cores a sleep would be longer than what is measured.
  func wait(until isEnough: @Sendable ((changes: Int, current: Int)) -> Bool) async throws {
    while !heard.withLock({ isEnough($0) }) { await Task.yield() }
  }
}

/// Sets documents that none of the listeners' queries concern.
private func writes(beside listeners: Int) -> Side {
  let name = "listeners-\(listeners)"
  let query: @Sendable (Int) -> StructuredQuery = { number in
    StructuredQuery(
      from: [.init(collectionID: Items.collection)],
      filter: .field(path: "number", .equal, .integer(Int64(-1 - number))))
  }
  return Side(
    "set, \(listeners) listeners", count: 500,
    prepare: { bench in _ = try await Audience.of(name, bench, count: listeners, query: query) }
  ) { bench, count, seed in
    for index in 0..<count {
      let number = Workload.mix(seed &+ index) % 1_000
      let document = Items.document(number, in: FirestoreBench.root(name), seed: seed &+ index)
      try await bench.commit([.update(document)], in: name)
    }
  }
}

private let everything: @Sendable (Int) -> StructuredQuery = { _ in
  StructuredQuery(from: [.init(collectionID: Items.collection)])
}

/// Sets one document that a thousand listeners want, and waits until all have it; the figure is for one of them.
private let deliveries = Side("to one of 1000 listeners", count: 20_000) { bench, count, seed in
  let audience = try await Audience.of("same", bench, count: 1_000, query: everything)
  for round in 0..<count / 1_000 {
    let before = audience.changes
    let document = Items.document(1, in: FirestoreBench.root("same"), seed: seed &+ round)
    try await bench.commit([.update(document)], in: "same")
    try await audience.wait { $0.changes >= before + 1_000 }
  }
}

/// The least it can cost: a value to each of a thousand streams with a task that reads it.
private let streams = Side("to one of 1000 streams", count: 20_000) { _, count, _ in
  let heard = Locked(0)
  let pairs = (0..<1_000).map { _ in AsyncStream.makeStream(of: Int.self) }
  for (stream, _) in pairs {
    Task.detached { for await _ in stream { heard.withLock { $0 += 1 } } }
  }
  for round in 1...count / 1_000 {
    for (_, continuation) in pairs { continuation.yield(round) }
    while heard.withLock({ $0 < round * 1_000 }) { await Task.yield() }
  }
  for (_, continuation) in pairs { continuation.finish() }
}
