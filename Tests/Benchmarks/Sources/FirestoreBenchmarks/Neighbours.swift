import BenchmarkKit
import VestaConcurrency
import VestaFirestoreBackend
import SQLiteBaseline

/// The cost of one caller for the others: the slowest hundredth of unrelated sets, and of the listeners that are told
/// of them, beside a load and without it.
func neighbourLines() -> [Benchmark] {
  Load.all.flatMap { load in
    [
      Benchmark(
        name: "firestore-p99-set-beside-\(load.name)", unit: .microseconds, bar: .ratio(atMost: 2),
        ours: ("p99 of sets beside it", { await slowest(beside: load.disturb).set }),
        other: ("p99 of sets without", { await slowest(beside: load.without).set })),
      Benchmark(
        name: "firestore-p99-told-beside-\(load.name)", unit: .microseconds, bar: .ratio(atMost: 2),
        ours: ("p99 of being told beside it", { await slowest(beside: load.disturb).told }),
        other: ("p99 of being told without", { await slowest(beside: load.without).told })),
    ]
  }
}

/// Something that a neighbour does until it is cancelled.
private struct Load: Sendable {
  typealias Body = @Sendable (FirestoreBench) async throws -> Void

  let name: String
  let disturb: Body
  /// The same writes without what is measured.
  let without: Body

  static let all = [requeries, builds, unions]

  /// Documents that leave and enter the full view of a limited query, which is asked again each time.
  static let requeries = Load(
    name: "requeries",
    disturb: { bench in
      let query = StructuredQuery(
        from: [.init(collectionID: Items.collection)],
        filter: .field(path: "sequence", .greaterThanOrEqual, .integer(50_000)),
        orderBy: [.init(fieldPath: "__name__")], limit: 20)
      try await bench.fill("reads-100000", 100_000)
      let call = try await bench.listen(query, in: "reads-100000")
      defer { call.cancel() }
      let reader = Task { for try await _ in call.responses {} }
      defer { reader.cancel() }
      try await churn(bench)
    },
    without: { bench in
      try await bench.fill("reads-100000", 100_000)
      try await churn(bench)
    })

  private static func churn(_ bench: FirestoreBench) async throws {
    let document = Items.document(50_003, in: FirestoreBench.root("reads-100000"))
    while !Task.isCancelled {
      try await bench.commit([.delete(document.name)], in: "reads-100000")
      try await Task.sleep(for: .milliseconds(10))
      try await bench.commit([.update(document)], in: "reads-100000")
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private static let field = Locked(0)

  /// Indexes that are made over a large collection, one after the other.
  static let builds = Load(
    name: "index-build",
    disturb: { bench in
      let name = "reads-\(documentCount)"
      try await bench.fill(name, documentCount)
      while !Task.isCancelled {
        let number = field.withLock { field in
          field += 1
          return field
        }
        let paths = ["price", "title", "at", "done", "shelf", "group"]
        let (first, second) = (paths[number % 6], paths[(number / 6 + number + 1) % 6])
        let orders = [first, second, "number\(number)"].map { StructuredQuery.Order(fieldPath: $0) }
        let query = StructuredQuery(
          from: [.init(collectionID: Items.collection)], orderBy: Array(orders.prefix(2)), limit: 1)
        try await bench.makeIndex(for: query, in: name)
      }
    },
    without: { bench in try await bench.fill("reads-\(documentCount)", documentCount) })

  /// An array that gets the same twenty thousand elements again and again.
  static let unions = Load(
    name: "array-union",
    disturb: { bench in
      let name = "\(FirestoreBench.root("unions"))/arrays/one"
      let elements = (0..<20_000).map { Value.integer(Int64($0)) }
      let union = Write(
        .transform(name: name, transforms: [FieldTransform(fieldPath: "a", .appendMissingElements(elements))]))
      while !Task.isCancelled {
        try await bench.commit([union], in: "unions")
        try await Task.sleep(for: .milliseconds(250))
      }
    },
    without: { _ in })
}

private let samples = 1_500

/// The slowest hundredth of sets and of being told of them, in nanoseconds, while a load goes on.
private func slowest(beside load: @escaping Load.Body) async -> (set: Double, told: Double) {
  do {
    let bench = try await FirestoreBench.shared()
    let root = FirestoreBench.root("neighbours")
    let document = Items.document(0, in: root)
    try await bench.commit([.update(document)], in: "neighbours")
    let call = try await bench.listen(StructuredQuery(from: [.init(collectionID: Items.collection)]), in: "neighbours")
    let ears = Ears()
    let reader = Task { try await ears.follow(call) }
    try await ears.wait(for: 1)
    let neighbour = Task { try await load(bench) }
    // The load is under way before anything is measured.
    try await Task.sleep(for: .milliseconds(300))
    var (sets, told): ([Duration], [Duration]) = ([], [])
    for number in 1...samples {
      let seed = Int(truncatingIfNeeded: ContinuousClock.now.hashValue) &+ number
      let start = ContinuousClock.now
      try await bench.commit([.update(Items.document(number % 50, in: root, seed: seed))], in: "neighbours")
      sets.append(.now - start)
      try await ears.wait(for: number + 1)
      told.append(.now - start)
    }
    neighbour.cancel()
    _ = await neighbour.result
    call.cancel()
    _ = await reader.result
    return (hundredth(of: sets), hundredth(of: told))
  } catch {
    preconditionFailure("the benchmark could not use its engine: \(error)")
  }
}

private func hundredth(of durations: [Duration]) -> Double {
  durations.sorted()[durations.count * 99 / 100] / .nanoseconds(1)
}

/// Counts the snapshots that a listener has been told of.
private final class Ears: Sendable {
  private struct State {
    var heard = 0
    var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?
  }

  private let state = Locked(State())

  func follow(_ call: ListenCall) async throws {
    for try await responses in call.responses {
      let changes = responses.count { if case .documentChange = $0 { true } else { false } }
      let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
        state.heard += changes
        guard let waiting = state.waiting, state.heard >= waiting.count else { return nil }
        state.waiting = nil
        return waiting.continuation
      }
      waiter?.resume()
    }
  }

  func wait(for count: Int) async throws {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.heard >= count { return true }
        state.waiting = (count, continuation)
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
