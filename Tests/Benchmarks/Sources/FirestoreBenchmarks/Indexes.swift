import BenchmarkKit
import SQLiteBaseline
import VestaConcurrency
import VestaFirestoreBackend

/// The cost of indexes: of building one, and of keeping some up to date.
func indexLines() -> [Benchmark] {
  [
    line("build-index", .none, builds, rawIndexRows),
    line("set-2-indexes", .none, sets(with: 2), sets(with: 0)),
    line("set-20-indexes", .none, sets(with: 20), sets(with: 0)),
  ]
}

private let nextField = Locked(0)

/// A new index in each run, over the whole collection; the figure is for one document.
private let builds = Side(
  "a document added", count: documentCount,
  prepare: { try await $0.fill("reads-\(documentCount)", documentCount) }
) { bench, _, _ in
  let fields = ["price", "title", "at", "tags", "done"]
  let field = nextField.withLock { next in
    next += 1
    return fields[(next - 1) % fields.count]
  }
  let query = StructuredQuery(
    from: [.init(collectionID: Items.collection)], orderBy: [.init(fieldPath: field)], limit: 1)
  try await bench.makeIndex(for: query, in: "reads-\(documentCount)")
}

private let rawIndexRows = Side("raw get and put, 200 a commit", count: 50_000) { bench, count, seed in
  for first in stride(from: 0, to: count, by: 200) {
    bench.raw.begin()
    for index in first..<first + 200 {
      _ = bench.raw.get(Workload.key(index))
      let key = Workload.key(FirestoreBench.rawRows + Workload.mix(seed &+ index) % 1_000_000)
      bench.raw.put(Workload.value(index, length: 40), for: key)
    }
    bench.raw.commit()
  }
}

/// Sets documents of twenty numbers, `indexes` of which are indexed.
private func sets(with indexes: Int) -> Side {
  let name = "indexed-\(indexes)"
  let root = FirestoreBench.root(name)
  let prepare: @Sendable (FirestoreBench) async throws -> Void = { bench in
    try await bench.commit([.update(numbers(0, seed: 0, in: root))], in: name)
    for index in 0..<indexes {
      let query = StructuredQuery(from: [.init(collectionID: "numbers")], orderBy: [.init(fieldPath: field(index))])
      try await bench.makeIndex(for: query, in: name)
    }
  }
  return Side("set, \(indexes) indexes", count: 500, prepare: prepare) { bench, count, seed in
    for index in 0..<count {
      let number = Workload.mix(seed &+ index) % 1_000
      try await bench.commit([.update(numbers(number, seed: seed &+ index, in: root))], in: name)
    }
  }
}

private func field(_ index: Int) -> String { index < 10 ? "f0\(index)" : "f\(index)" }

private func numbers(_ number: Int, seed: Int, in root: String) -> Document {
  Document(
    name: "\(root)/numbers/\(Items.id(number))",
    fields: MapValue((0..<20).map { (field($0), Value.integer(Int64(Workload.mix(seed &+ $0) % 1_000_000))) }))
}
