import BenchmarkKit
import SQLiteBaseline
import VestaFirestoreBackend

/// Documents by name, and queries over indexes that are there.
func readLines() -> [Benchmark] {
  return [
    line("get", .ratio(atMost: 1 / 0.4), gets, rawGets),
    line("get-recent", .ratio(atMost: 1), recentGets, rawRecentGets),
    line("query-20", .none, neighbours(1_000), rawScans(of: 20)),
    line("query-20-of-100k", .ratio(atMost: 1.5), neighbours(100_000), neighbours(1_000)),
    line("query-20-of-1m", .ratio(atMost: 1.5), neighbours(documentCount), neighbours(1_000)),
    line("scattered-20-of-100k", .ratio(atMost: 1.5), scattered(100_000), scattered(1_000)),
    // Half of the growth of SQLite by hand: see `raw-20-of-1m`.
    line("scattered-20-of-1m", .ratio(atMost: 2.4), scattered(documentCount), scattered(1_000)),
    line("raw-20-of-1m", .none, rawTwentyOf(documentCount), rawTwentyOf(1_000)),
    line("query-20-by-name-of-a-range", .ratio(atMost: 5), lateInTheOrder, neighbours(100_000)),
    line("query-two-equalities", .none, twoEqualities, scattered(documentCount)),
    line("count-a-tenth", .none, counts, rawScans(of: 1_000)),
  ]
}

private let gets = Side("get by name", count: 20_000, prepare: { try await $0.fill("reads-100000", 100_000) }) {
  bench, count, seed in
  let collection = "\(FirestoreBench.root("reads-100000"))/\(Items.collection)/"
  for index in 0..<count {
    let name = collection + Items.id(Workload.mix(seed &+ index) % 100_000)
    guard try await bench.get(name, in: "reads-100000").document != nil else { preconditionFailure("it is missing") }
  }
}

private let rawGets = Side("raw get", count: 20_000) { bench, count, seed in
  for index in 0..<count { _ = bench.raw.get(Workload.key(Workload.mix(seed &+ index) % FirestoreBench.rawRows)) }
}

/// Rows in the order of their keys, a number of them at a time; the figure is for one row, or for twenty.
private func rawScans(of length: Int) -> Side {
  let isPage = length == 20
  return Side(isPage ? "raw scan of 20" : "raw scan, a row", count: isPage ? 2_000 : 100_000) { bench, count, seed in
    var sum = 0
    for index in 0..<(isPage ? count : count / length) {
      let start = Workload.mix(seed &+ index) % (FirestoreBench.rawRows - length)
      sum += bench.raw.scan(from: Workload.key(start), count: length)
    }
    precondition(sum > 0)
  }
}

/// Twenty items that lie side by side in the store.
private func neighbours(_ size: Int) -> Side { twentyOf(size, by: "sequence", below: size - 20) }

/// Twenty items from all over the store: each is a page that no cache of the processor has, in a large collection.
private func scattered(_ size: Int) -> Side { twentyOf(size, by: "number", below: 900_000_000) }

/// The twenty items from a random value of a field on.
///
/// - Parameter last: There are twenty items with values from any number below this one on.
private func twentyOf(_ size: Int, by field: String, below last: Int) -> Side {
  let name = "reads-\(size)"
  let query: @Sendable (Int) -> StructuredQuery = { from in
    StructuredQuery(
      from: [.init(collectionID: Items.collection)],
      filter: .field(path: field, .greaterThanOrEqual, .integer(Int64(from))), orderBy: [.init(fieldPath: field)],
      limit: 20)
  }
  let prepare: @Sendable (FirestoreBench) async throws -> Void = { bench in
    try await bench.fill(name, size)
    try await bench.makeIndex(for: query(0), in: name)
  }
  return Side("20 of \(size)", count: 500, prepare: prepare) { bench, count, seed in
    for index in 0..<count {
      let found = try await bench.run(query(Workload.mix(seed &+ index) % last), in: name)
      precondition(found == 20, "found \(found)")
    }
  }
}

/// The time that SQLite by hand needs for the twenty documents of a query, in a table of the same size.
private func rawTwentyOf(_ size: Int) -> Side {
  Side("raw gets, 20 of \(size)", count: 2_000, prepare: { _ = $0.rawTable(of: size) }) { bench, count, seed in
    let table = bench.rawTable(of: size)
    for index in 0..<count {
      table.beginRead()
      for part in 0..<20 { _ = table.get(Workload.key(Workload.mix(seed &+ index &* 20 &+ part) % size)) }
      table.commit()
    }
  }
}

/// Two fields that a fiftieth and a tenth of the documents match; twenty match both.
private let twoEqualities = Side("20 by two equalities", count: 100, prepare: prepareEqualities) { bench, count, seed in
  let shelves = max(1, documentCount / 200)
  for index in 0..<count {
    let query = equalities(group: index % 10, shelf: Workload.mix(seed &+ index) % min(5_000, shelves))
    let found = try await bench.run(query, in: "reads-\(documentCount)")
    precondition(found > 0, "found nothing")
  }
}

private func equalities(group: Int, shelf: Int?) -> StructuredQuery {
  var filters = [Filter.field(path: "group", .equal, .integer(Int64(group)))]
  if let shelf { filters.append(.field(path: "shelf", .equal, .integer(Int64(shelf)))) }
  return StructuredQuery(from: [.init(collectionID: Items.collection)], filter: .composite(.and, filters))
}

@Sendable private func prepareEqualities(_ bench: FirestoreBench) async throws {
  let name = "reads-\(documentCount)"
  try await bench.fill(name, documentCount)
  var first = equalities(group: 0, shelf: nil)
  first.limit = 1
  try await bench.makeIndex(for: first, in: name)
  try await bench.makeIndex(for: equalities(group: 0, shelf: 0), in: name)
}

/// Counts a tenth of the documents; the figure is for one of them.
private let counts = Side("count, a match", count: documentCount / 10, prepare: prepareEqualities) {
  bench, count, seed in
  let found = try await bench.count(equalities(group: abs(seed % 10), shelf: nil), in: "reads-\(documentCount)")
  precondition(found == Int64(count), "counted \(found)")
}

private let recentGets = Side(
  "get of one of 1,000", count: 20_000,
  prepare: { bench in
    try await bench.fill("reads-100000", 100_000)
    let collection = "\(FirestoreBench.root("reads-100000"))/\(Items.collection)/"
    // A document is kept when it is read again.
    for _ in 0..<2 {
      for number in 0..<1_000 { _ = try await bench.get(collection + Items.id(number), in: "reads-100000") }
    }
  }
) { bench, count, seed in
  let collection = "\(FirestoreBench.root("reads-100000"))/\(Items.collection)/"
  for index in 0..<count {
    let name = collection + Items.id(Workload.mix(seed &+ index) % 1_000)
    guard try await bench.get(name, in: "reads-100000").document != nil else { preconditionFailure("it is missing") }
  }
}

private let rawRecentGets = Side("raw get of one of 1,000", count: 20_000) { bench, count, seed in
  for index in 0..<count { _ = bench.raw.get(Workload.key(Workload.mix(seed &+ index) % 1_000)) }
}

/// The twenty documents of a range of a field that are last in the order of the names, which is asked for.
private let lateInTheOrder = Side(
  "20 late ones by name", count: 500,
  prepare: { bench in
    try await bench.fill("reads-100000", 100_000)
    for _ in 0..<3 { _ = try await bench.run(lateQuery, in: "reads-100000") }
    try await bench.makeIndex(for: sequenceQuery, in: "reads-100000")
  }
) { bench, count, _ in
  for _ in 0..<count {
    let found = try await bench.run(lateQuery, in: "reads-100000")
    precondition(found == 20, "found \(found)")
  }
}

private let sequenceQuery = StructuredQuery(
  from: [.init(collectionID: Items.collection)],
  filter: .field(path: "sequence", .greaterThanOrEqual, .integer(99_980)), limit: 20)

private let lateQuery = StructuredQuery(
  from: [.init(collectionID: Items.collection)],
  filter: .field(path: "sequence", .greaterThanOrEqual, .integer(99_980)),
  orderBy: [.init(fieldPath: "__name__")], limit: 20)
