import BenchmarkKit
import Foundation
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreService
import VestaMemoryStore
import VestaRules
import VestaRulesGuards
import VestaServiceInterop

/// An engine on a store in memory, with a guard or without one, and calls of one user.
final class GuardBench: Sendable {
  static let database = "projects/bench/databases/(default)"
  static let root = "\(database)/documents"
  /// The user of all calls.
  static let ada = CallContext(
    caller: .user(VerifiedUser(uid: "ada", claims: ["sub": "ada", "email": "ada@example.com"])))

  private let engine: FirestoreEngine
  private let isFilled = Locked(false)

  /// - Parameter rules: The rules below the documents; none for an engine without a guard.
  init(rules: String?) {
    let gatekeeper = rules.map { rules -> FirestoreRulesGuard in
      let source =
        "rules_version = '2'; service cloud.firestore { match /databases/{database}/documents { \(rules) } }"
      do throws(RulesetError) {
        return FirestoreRulesGuard(try Ruleset(source, for: .firestore))
      } catch {
        preconditionFailure("the rules of a benchmark are refused: \(error)")
      }
    }
    engine = FirestoreEngine(store: MemoryStore(), gatekeeper: gatekeeper)
  }

  static func name(_ number: Int) -> String { "\(root)/rooms/room\(number + 100_000)" }

  static func document(_ number: Int, seed: Int = 0) -> Document {
    Document(
      name: name(number),
      fields: [
        "at": .timestamp(Timestamp(seconds: 1_700_000_000)), "done": .boolean(true), "group": .integer(7),
        "number": .integer(Int64(seed)), "owner": .string("ada"), "price": .double(2.5),
        "sequence": .integer(Int64(number)), "shelf": .integer(5), "tags": .array([.string("a"), .string("b")]),
        "title": .string("title of the item"),
      ])
  }

  /// Fills the store, once.
  func fill(_ count: Int) async throws {
    guard !isFilled.withLock({ $0 }) else { return }
    for first in stride(from: 0, to: count, by: 500) {
      let writes = (first..<first + 500).map { Write.update(Self.document($0)) }
      _ = try await engine.commit(CommitRequest(database: Self.database, writes: writes), context: .owner)
    }
    isFilled.withLock { $0 = true }
  }

  func get(_ name: String) async throws {
    var found = false
    try await engine.batchGet(
      BatchGetDocumentsRequest(database: Self.database, documents: [name]), context: Self.ada
    ) { if case .found? = $0.result { found = true } }
    precondition(found, "a document is missing")
  }

  func set(_ document: Document, as context: CallContext = ada) async throws {
    let request = CommitRequest(database: Self.database, writes: [.update(document)])
    _ = try await engine.commit(request, context: context)
  }

  /// Opens a call that follows a target.
  func listen(_ subject: Target.Subject) async throws -> ListenCall {
    let call = try await engine.listen(database: Self.database, context: Self.ada)
    call.send(.addTarget(Target(id: 1, subject)))
    return call
  }

  func count(_ query: StructuredQuery) async throws -> Int {
    var count = 0
    try await engine.runQuery(RunQueryRequest(parent: Self.root, query: query), context: Self.ada) {
      if $0.document != nil { count += 1 }
    }
    return count
  }
}

/// Processor time of the process, in nanoseconds: the work of other programs is not in it.
private func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1_000_000_000 + Double(time.tv_nsec)
}

/// A line for something that an engine does with a guard and without one: processor time, and the times of single
/// operations as their callers wait for them.
///
/// The two are measured in many short rounds.
///
/// - Parameter operation: One operation, with its number.
func line(
  _ name: String, _ bar: Benchmark.Bar, count: Int, rules: String, documents: Int = 1_000,
  _ operation: @escaping @Sendable (GuardBench, _ number: Int) async throws -> Void
) -> Benchmark {
  let (guarded, open) = (GuardBench(rules: rules), GuardBench(rules: nil))
  let singles = min(max(count, 500), 5_000)
  @Sendable func times(_ bench: GuardBench) async -> [Double] {
    do {
      try await bench.fill(documents)
      for number in 0..<(singles / 10) { try await operation(bench, number) }
      let clock = ContinuousClock()
      var times: [Double] = []
      for number in 0..<singles {
        let start = clock.now
        try await operation(bench, number)
        times.append((clock.now - start) / .nanoseconds(1))
      }
      return times
    } catch {
      preconditionFailure("the benchmark \(name) failed: \(error)")
    }
  }
  let body: @Sendable (GuardBench, Int) async throws -> Void = { bench, count in
    for number in 0..<count { try await operation(bench, number) }
  }
  return Benchmark(
    name: "guards-\(name)", bar: bar,
    ours: ("with a guard", { await cost(name, guarded, documents, max(1, count / 10), body) }),
    other: ("without", { await cost(name, open, documents, max(1, count / 10), body) }), rounds: 41,
    samples: { await times(guarded) }, otherSamples: { await times(open) })
}

/// A line for many operations of which none is alone, such as changes that many listeners receive.
func line(
  _ name: String, _ bar: Benchmark.Bar, count: Int, rules: String,
  together body: @escaping @Sendable (GuardBench, _ count: Int) async throws -> Void
) -> Benchmark {
  let (guarded, open) = (GuardBench(rules: rules), GuardBench(rules: nil))
  return Benchmark(
    name: "guards-\(name)", bar: bar, ours: ("with a guard", { await cost(name, guarded, 1_000, count, body) }),
    other: ("without", { await cost(name, open, 1_000, count, body) }))
}

/// The processor time of one of many operations.
private func cost(
  _ name: String, _ bench: GuardBench, _ documents: Int, _ count: Int,
  _ body: @Sendable (GuardBench, _ count: Int) async throws -> Void
) async -> Double {
  do {
    try await bench.fill(documents)
    try await body(bench, max(1, count / 10))
    let start = processorTime()
    try await body(bench, count)
    return (processorTime() - start) / Double(count)
  } catch {
    preconditionFailure("the benchmark \(name) failed: \(error)")
  }
}
