import BenchmarkKit
import SQLiteBaseline
import VestaConcurrency
import VestaFirestoreBackend

/// The cost of one caller for the others: the slowest hundredth of unrelated sets, and of the listeners that receive
/// them, with a load and without it.
func neighbourLines() -> [Benchmark] {
  Load.all.flatMap { load in
    [
      Benchmark(
        name: "firestore-p99-set-beside-\(load.name)", unit: .microseconds, bar: load.bar,
        ours: ("p99 of sets beside it", { await slowest(beside: load.disturb).set }),
        other: ("p99 of sets without", { await slowest(beside: load.without).set })),
      Benchmark(
        name: "firestore-p99-told-beside-\(load.name)", unit: .microseconds, bar: load.toldBar ?? load.bar,
        ours: ("p99 of being told beside it", { await slowest(beside: load.disturb).told }),
        other: ("p99 of being told without", { await slowest(beside: load.without).told })),
    ]
  }
}

/// Something that a neighbour does until it is cancelled.
private struct Load: Sendable {
  /// Continues until it is cancelled; it opens the latch when it is under way.
  typealias Body = @Sendable (FirestoreBench, _ begun: Latch) async throws -> Void

  let name: String
  var bar = Benchmark.Bar.ratio(atMost: 2)
  /// The bar of being told, where it is another one.
  var toldBar: Benchmark.Bar?
  let disturb: Body
  /// The same writes without what is measured.
  let without: Body

  static let all = [requeries, builds, unions, slowReceivers, slowListeners, oddQueries, readers]

  /// Documents that leave and enter the full view of a limited query, which is asked again each time.
  static let requeries = Load(
    name: "requeries",
    disturb: { bench, begun in
      let query = StructuredQuery(
        from: [.init(collectionID: Items.collection)],
        filter: .field(path: "sequence", .greaterThanOrEqual, .integer(50_000)),
        orderBy: [.init(fieldPath: "__name__")], limit: 20)
      try await bench.fill("reads-100000", 100_000)
      let call = try await bench.listen(query, in: "reads-100000")
      defer { call.cancel() }
      let reader = Task { for try await _ in call.responses {} }
      defer { reader.cancel() }
      begun.open()
      try await churn(bench)
    },
    without: { bench, begun in
      try await bench.fill("reads-100000", 100_000)
      begun.open()
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
    disturb: { bench, begun in
      let name = "reads-\(documentCount)"
      try await bench.fill(name, documentCount)
      begun.open()
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
    without: { bench, begun in
      try await bench.fill("reads-\(documentCount)", documentCount)
      begun.open()
    })

  /// An array that gets the same twenty thousand elements again and again.
  static let unions = Load(
    name: "array-union",
    disturb: { bench, begun in
      let name = "\(FirestoreBench.root("unions"))/arrays/one"
      let elements = (0..<20_000).map { Value.integer(Int64($0)) }
      let union = Write(
        .transform(name: name, transforms: [FieldTransform(fieldPath: "a", .appendMissingElements(elements))]))
      begun.open()
      while !Task.isCancelled {
        try await bench.commit([union], in: "unions")
        try await Task.sleep(for: .milliseconds(250))
      }
    },
    without: { _, begun in begun.open() })

  /// A thousand queries whose results are taken one in half a second.
  static let slowReceivers = Load(
    name: "slow-receivers",
    disturb: { bench, begun in
      try await bench.fill("reads-100000", 100_000)
      let started = Locked(0)
      try await withThrowingTaskGroup { group in
        for _ in 0..<1_000 {
          group.addTask {
            let isFirst = Locked(true)
            try await bench.runAll(in: "reads-100000") {
              if isFirst.withLock({ $0.take() }), started.withLock({ $0.count() }) == 1_000 { begun.open() }
              try await Task.sleep(for: .milliseconds(500))
            }
          }
        }
        try await group.waitForAll()
      }
    },
    without: { bench, begun in
      try await bench.fill("reads-100000", 100_000)
      begun.open()
    })

  /// A hundred listeners that do not read, of a document of 200 KB that a caller writes.
  static let slowListeners = Load(
    name: "slow-listeners",
    disturb: { bench, begun in
      var calls: [ListenCall] = []
      for _ in 0..<100 {
        calls.append(try await bench.listen(StructuredQuery(from: [.init(collectionID: "large")]), in: "large"))
      }
      defer { for call in calls { call.cancel() } }
      begun.open()
      try await writeLarge(bench)
    },
    without: { bench, begun in
      begun.open()
      try await writeLarge(bench)
    })

  private static func writeLarge(_ bench: FirestoreBench) async throws {
    var number = 0
    while !Task.isCancelled {
      number += 1
      let text = String(repeating: "x", count: 200_000) + "\(number)"
      let document = Document(name: "\(FirestoreBench.root("large"))/large/one", fields: ["text": .string(text)])
      try await bench.commit([.update(document)], in: "large")
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Two tasks that read a large collection, again and again: they want all of two cores, and get what is left.
  static let readers = Load(
    name: "readers", toldBar: .ratio(atMost: 3),
    disturb: { bench, begun in
      try await bench.fill("reads-100000", 100_000)
      begun.open()
      try await withThrowingTaskGroup { group in
        for _ in 0..<2 {
          group.addTask {
            while !Task.isCancelled { try await bench.runAll(in: "reads-100000") {} }
          }
        }
        try await group.waitForAll()
      }
    },
    without: { bench, begun in
      try await bench.fill("reads-100000", 100_000)
      begun.open()
    })

  /// Queries in ever other orders: each may ask for a separate index, and looks at its collection until then.
  static let oddQueries = Load(
    name: "odd-queries",
    disturb: { bench, begun in
      try await bench.fill("odd", 2_000)
      begun.open()
      let paths = ["price", "title", "at", "done", "shelf", "group", "number", "sequence"]
      var number = 0
      while !Task.isCancelled {
        number += 1
        var orders = paths.map { StructuredQuery.Order(fieldPath: $0) }
        for step in 0..<orders.count { orders.swapAt(step, (number &* (step &+ 7)) % orders.count) }
        let query = StructuredQuery(
          from: [.init(collectionID: Items.collection)], orderBy: Array(orders.prefix(3)), limit: 1)
        for _ in 0..<2 { _ = try await bench.run(query, in: "odd") }
        try await Task.sleep(for: .milliseconds(20))
      }
    },
    without: { bench, begun in
      try await bench.fill("odd", 2_000)
      begun.open()
    })
}

extension Bool {
  /// The value, once: `false` from then on.
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}

extension Int {
  fileprivate mutating func count() -> Int {
    self += 1
    return self
  }
}

private let samples = 1_500

/// The slowest hundredth of sets and of their notifications, in nanoseconds, while a load runs.
private func slowest(beside load: @escaping Load.Body) async -> (set: Double, told: Double) {
  do {
    let bench = try await FirestoreBench.shared()
    let root = FirestoreBench.root("neighbours")
    let document = Items.document(0, in: root)
    let first = try await bench.commit([.update(document)], in: "neighbours")
    let call = try await bench.listen(StructuredQuery(from: [.init(collectionID: Items.collection)]), in: "neighbours")
    let ears = Ears()
    let reader = Task { try await ears.follow(call) }
    await ears.wait(for: first)
    let begun = Latch()
    let neighbour = Task {
      defer { begun.open() }
      try await load(bench, begun)
    }
    await begun.wait()
    // The load is under way before anything is measured.
    try await Task.sleep(for: .milliseconds(300))
    var (sets, told): ([Duration], [Duration]) = ([], [])
    for number in 1...samples {
      let seed = Int(truncatingIfNeeded: ContinuousClock.now.hashValue) &+ number
      let start = ContinuousClock.now
      let write = Write.update(Items.document(number % 50, in: root, seed: seed))
      let time = try await bench.commit([write], in: "neighbours")
      sets.append(.now - start)
      await ears.wait(for: time)
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

/// Knows up to which commit a listener has been told.
///
/// Counting changes would not do: the documents that are there when it begins to listen count as well, and a listener
/// that is ahead by those never has to wait.
private final class Ears: Sendable {
  private struct State {
    var heard = Timestamp(seconds: 0)
    var waiting: (time: Timestamp, continuation: CheckedContinuation<Void, Never>)?
  }

  private let state = Locked(State())

  func follow(_ call: ListenCall) async throws {
    for try await responses in call.responses {
      for case .documentChange(let change) in responses { note(change.document.updateTime) }
    }
  }

  private func note(_ time: Timestamp?) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.heard = max(state.heard, time ?? state.heard)
      guard let waiting = state.waiting, state.heard >= waiting.time else { return nil }
      state.waiting = nil
      return waiting.continuation
    }
    waiter?.resume()
  }

  func wait(for time: Timestamp) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.heard >= time { return true }
        state.waiting = (time, continuation)
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
