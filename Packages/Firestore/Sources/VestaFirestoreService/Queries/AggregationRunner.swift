import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Counts, sums and averages: from the entries of indexes where they tell everything, else from the documents.
struct AggregationRunner {
  let query: NormalQuery
  let figures: Aggregator
  let snapshot: Snapshot

  /// The query that is planned: ordered by the fields of the figures too, so that entries have their values.
  var planned: NormalQuery {
    // The order decides what a limit leaves, and what cursors mean.
    let isFree = query.limit == nil && query.offset == 0 && query.startAt == nil && query.endAt == nil
    return isFree ? query.ordered(alsoBy: figures.fields) : query
  }

  func answer() async throws -> (MapValue, QueryAnswer) {
    // In the past, a limit is a matter of documents.
    let isBounded = query.limit != nil || query.offset > 0
    if query.findNearest == nil, snapshot.past.isEmpty || !isBounded, let needs = QueryNeeds(planned),
      let places = FieldPlaces(figures.fields, needs),
      needs.isDecided, let plan = try await QueryRunner.plan(needs, in: snapshot), plan.isDecided
    {
      return try await run(plan, places)
    }
    let answer = try await QueryRunner(query: query, snapshot: snapshot).answer()
    var figures = figures
    for document in answer.documents { figures.add(document) }
    return (figures.result, answer)
  }

  private func run(_ plan: QueryPlan, _ places: FieldPlaces) async throws -> (MapValue, QueryAnswer) {
    var figures = figures
    let wanted = min(query.limit ?? .max, figures.sufficientCount ?? .max)
    let most = wanted.addingReportingOverflow(query.offset)
    var entries = EntryUnion(plan, wanted: most.overflow ? .max : most.partialValue, in: snapshot)
    if places.isEmpty, snapshot.past.isEmpty {
      figures.add(
        count: max(0, try await entries.count(atMost: most.overflow ? .max : most.partialValue) - query.offset))
    } else {
      let parts = plan.branches.map { places.firstParts(of: $0.scans[0]) }
      var number = 0
      while number - query.offset < wanted, let (entry, branch) = try await entries.next() {
        if !snapshot.past.isEmpty, snapshot.past[entries.document(entry, branch).place] != nil { continue }
        number += 1
        guard number > query.offset else { continue }
        guard let values = places.values(in: entry, firstPart: parts[branch]) else {
          throw FirestoreServiceError.damaged
        }
        figures.add(values: values)
      }
      for document in try PastDocuments(of: planned, in: snapshot).documents { figures.add(document) }
    }
    return (figures.result, QueryAnswer(scanned: entries.scanned, plan: plan))
  }
}

/// Where the values of fields are in the suffixes of a query.
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

  /// The values in an entry; those that are no numbers are null, which count in no sum either.
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
