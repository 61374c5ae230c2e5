import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Counts, sums and averages: from the entries of indexes where they have everything, else from the documents.
struct AggregationRunner {
  let query: NormalQuery
  let figures: Aggregator
  let snapshot: Snapshot

  init(query: NormalQuery, figures: Aggregator, snapshot: Snapshot) {
    self.query = query
    self.figures = figures
    self.snapshot = snapshot.reading(with: snapshot.reader.yielding)
  }

  /// The query that is planned: ordered by the fields of the figures too, so that entries have their values.
  var planned: NormalQuery {
    // The order decides what a limit leaves, and what cursors mean.
    let isFree = query.limit == nil && query.offset == 0 && query.startAt == nil && query.endAt == nil
    return isFree ? query.ordered(alsoBy: figures.fields) : query
  }

  func answer() async throws -> (MapValue, QueryAnswer) {
    // A limit of a read of the past counts documents, and not entries of an index.
    let isBounded = query.limit != nil || query.offset > 0
    if query.findNearest == nil, snapshot.past.isEmpty || !isBounded, let needs = QueryNeeds(planned),
      let pathKeys = FieldPlaces(figures.fields, needs),
      needs.isDecided, let plan = try await QueryRunner.plan(needs, in: snapshot), plan.isDecided
    {
      return try await run(plan, pathKeys)
    }
    let answer = try await QueryRunner(query: query, snapshot: snapshot).answer()
    var figures = figures
    for document in answer.documents { figures.add(document) }
    return (figures.result, answer)
  }

  private func run(_ plan: QueryPlan, _ pathKeys: FieldPlaces) async throws -> (MapValue, QueryAnswer) {
    var walk = try FigureWalk(query, figures, plan, pathKeys, past: planned, in: snapshot)
    guard !plan.isDirect, let keeper = snapshot.indexes else {
      let result = try await walk.result() ?? figures.result
      return (result, QueryAnswer(scanned: walk.scanned, plan: plan))
    }
    var race = RangeRace(planned, RaceProgress(), in: snapshot)
    switch try await race.run({ rows in try await walk.result(lookingAt: rows) }) {
    case .walked(let result):
      try await race.learn(cost: walk.scanned + race.counted, results: walk.number)
      return (result, QueryAnswer(scanned: walk.scanned, plan: plan))
    case .range(let range):
      keeper.use(range, try await keeper.catalogue(in: snapshot.reader))
      // Without a maximum there is one page.
      let (page, cost) = try await QueryRunner(query: query, snapshot: snapshot).sorted(range, .unlimited)
      let answer = page.answer
      var figures = figures
      for document in answer.documents { figures.add(document) }
      try await race.learn(cost: cost + walk.scanned + race.counted, results: answer.documents.count + answer.skipped)
      return (figures.result, answer)
    }
  }
}

/// Takes figures from the entries of a plan; it can stop after a number of entries, and continue.
private struct FigureWalk {
  private let query: NormalQuery
  private let pathKeys: FieldPlaces
  private let snapshot: Snapshot
  /// For each alternative of the plan the part of its index that the first value of a suffix belongs to.
  private let parts: [Int]
  /// The documents that have changed since the version of the snapshot, as they were then.
  private let past: [Document]
  private let wanted: Int
  private var entries: EntryUnion
  private var figures: Aggregator
  /// The number of matches, including the ones that an offset skips.
  private(set) var number = 0

  init(
    _ query: NormalQuery, _ figures: Aggregator, _ plan: QueryPlan, _ pathKeys: FieldPlaces, past planned: NormalQuery,
    in snapshot: Snapshot
  ) throws {
    self.query = query
    self.figures = figures
    self.pathKeys = pathKeys
    self.snapshot = snapshot
    wanted = BestResults.needed(for: query, atMost: figures.sufficientCount ?? .max)
    entries = EntryUnion(plan, wanted: wanted, in: snapshot)
    parts = plan.branches.map { pathKeys.firstParts(of: $0.scans[0]) }
    past = try PastDocuments(of: planned, in: snapshot).documents
  }

  var scanned: Int { entries.scanned }

  /// Continues to the end.
  ///
  /// - Parameter rows: How many entries may be looked at in all.
  /// - Returns: `nil` when that was not enough; the next call continues.
  mutating func result(lookingAt rows: Int = .max) async throws -> MapValue? {
    entries.allow(rows)
    if pathKeys.isEmpty, snapshot.past.isEmpty {
      number += try await entries.count(atMost: wanted - number)
      if number < wanted, entries.isPaused { return nil }
      var figures = figures
      figures.add(count: max(0, number - query.offset))
      return figures.result
    }
    while number < wanted, let (entry, branch) = try await entries.next() {
      if !snapshot.past.isEmpty, snapshot.past[entries.document(entry, branch).pathKey] != nil { continue }
      number += 1
      guard number > query.offset else { continue }
      guard let values = pathKeys.values(in: entry, firstPart: parts[branch]) else {
        throw FirestoreServiceError.damaged
      }
      figures.add(values: values)
    }
    if number < wanted, entries.isPaused { return nil }
    for document in past { figures.add(document) }
    return figures.result
  }
}

/// The positions of fields' values in the suffixes of a query.
struct FieldPlaces {
  /// For each field the number of its value.
  private let numbers: [Int]
  private let descending: [Bool]

  var isEmpty: Bool { numbers.isEmpty }

  /// - Returns: `nil` when a suffix does not have them all.
  init?(_ fields: [FieldPath], _ needs: QueryNeeds) {
    numbers = fields.compactMap { path in needs.tail.firstIndex { $0.path == path } }
    guard numbers.count == fields.count else { return nil }
    descending = needs.tail.map { $0.kind == .descending }
  }

  /// The part of a scan's index that the first value of a suffix belongs to.
  func firstParts(of scan: QueryPlan.Scan) -> Int {
    guard case .index(_, let shape) = scan.source else { return 0 }
    return shape.parts.count - descending.count
  }

  /// The values in an entry; non-numbers are null, which count in no sum either.
  func values(in entry: EntryStream.Entry, firstPart: Int) -> [Value]? {
    var reader = IndexReader(entry.suffix)
    var all: [Value] = []
    for (number, isDescending) in descending.enumerated() {
      let isDouble = EntryValue.isDouble(entry.value, part: firstPart + number)
      guard let value = reader.number(descending: isDescending, isDouble: isDouble) else { return nil }
      all.append(value)
    }
    return numbers.map { all[$0] }
  }
}
