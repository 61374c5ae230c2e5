import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// Chooses the indexes for a query: a function of what the query needs and of the indexes that exist.
///
/// Example: `rooms where city == "Rome" and stars > 3 order by stars`. The filter is one alternative: an equality on
/// `city`, and the suffix `(stars, name)`, whose bounds begin after `stars = 3`. With an index of the shape
/// `city, stars` the plan is one scan: the prefix is the index's number and "Rome", the range of keys extends from that
/// prefix with `stars = 3` to its end, and every entry is a result in the order of the query, so the plan is decided.
///
/// With indexes of `city` and of `stars` alone, none has the equality before the suffix: there is no plan, `city,
/// stars` is reported as missing, and the documents are read until it is made. With a second equality, `pool == true`,
/// the indexes `city, stars` and `pool, stars` are joined: both are scanned, and only suffixes that both have are
/// results. For `city in ["Rome", "Oslo"]` there are two alternatives, whose scans are united in the order of their
/// suffixes.
package struct QueryPlanner {
  package let needs: QueryNeeds
  /// The indexes of the collection or group.
  package let indexes: [IndexCatalogue.Index]
  /// Whether an index must not be made.
  package let isForbidden: (IndexShape) -> Bool

  package init(_ needs: QueryNeeds, _ catalogue: IndexCatalogue, isForbidden: @escaping (IndexShape) -> Bool) {
    self.needs = needs
    self.isForbidden = isForbidden
    indexes = catalogue.indexes(of: needs.collectionID).filter { $0.row.shape.isGroup == needs.isGroup }
  }

  package func outcome() -> PlanOutcome {
    var result = PlanOutcome(plan: QueryPlan(branches: [], isDecided: needs.isDecided))
    for alternative in needs.alternatives {
      let choice = choice(for: alternative)
      for shape in choice.missing where !result.missing.contains(shape) { result.missing.append(shape) }
      guard let scans = choice.scans else {
        result.plan = nil
        continue
      }
      if !choice.isWhole { result.plan?.isDecided = false }
      result.plan?.branches.append(
        QueryPlan.Branch(scans: scans, bounds: alternative.bounds, test: alternative.test))
    }
    return result
  }

  /// For each alternative of several equalities the index that has all of them, in place of a join; none where there is
  /// one, in whatever order of fields.
  package func composites() -> [IndexShape] {
    needs.alternatives.map(\.asks).filter { asks in
      asks.count > 1 && !indexes.contains { candidate($0, asks)?.covered.count == asks.count }
    }.map { asks in
      shape(asks.map { IndexShape.Part(path: $0.path, kind: $0.isElement ? .contains : .ascending) })
    }
  }

  private struct Choice {
    var scans: [QueryPlan.Scan]?
    var missing: [IndexShape] = []
    /// Whether the scans cover the whole query.
    var isWhole = true
  }

  /// An index that covers a part of the query.
  private struct Candidate {
    var scan: QueryPlan.Scan
    var covered: Set<Int>
    var isReady: Bool
  }

  private func choice(for alternative: QueryNeeds.Alternative) -> Choice {
    let asks = alternative.asks
    if asks.isEmpty, needs.tail.isEmpty, let collection = needs.collection {
      return Choice(scans: [QueryPlan.Scan(source: .documents(collection), isTurned: needs.isNameDescending)])
    }
    let all = indexes.compactMap { candidate($0, asks) }
    let ready = all.filter(\.isReady)
    if let whole = ready.first(where: { $0.covered.count == asks.count }) { return Choice(scans: [whole.scan]) }
    let joined = join(of: ready, asks)
    // A join by names alone is as good as it gets; others may look at more than their results.
    if let joined, needs.tail.isEmpty { return Choice(scans: joined) }
    if let coming = all.first(where: { $0.covered.count == asks.count }) {
      return Choice(scans: joined, missing: [coming.scan].compactMap(shape))
    }
    let (best, isWhole) = best(for: asks)
    let missing = best.filter { shape in !indexes.contains { $0.row.shape == shape && $0.row.isReady } }
    if let joined { return Choice(scans: joined, missing: missing) }
    if best.isEmpty || !missing.isEmpty { return Choice(scans: nil, missing: missing) }
    // Some fields have no index and never will: the others find the documents, which decide the rest.
    let scans = ready.filter { candidate in best.contains { $0 == shape(of: candidate.scan) } }.map(\.scan)
    return Choice(scans: scans, isWhole: isWhole)
  }

  private func shape(of scan: QueryPlan.Scan) -> IndexShape? {
    if case .index(_, let shape) = scan.source { return shape }
    return nil
  }

  /// The scan of an index, if it ends with what the query is ordered by and everything else in it is asked for.
  private func candidate(_ index: IndexCatalogue.Index, _ asks: [QueryNeeds.Ask]) -> Candidate? {
    let shape = index.row.shape
    let count = shape.parts.count - needs.tail.count
    guard count >= 0 else { return nil }
    let isTurned = shape.isNameDescending != needs.isNameDescending
    let oriented = isTurned ? shape.turned : shape
    guard Array(oriented.parts[count...]) == needs.tail else { return nil }
    var prefix = needs.collection.map(shape.start) ?? []
    var covered: Set<Int> = []
    for part in shape.parts[..<count] {
      let isElement = part.kind == .contains
      let found = asks.firstIndex { $0.path == part.path && $0.isElement == isElement }
      guard let found, covered.insert(found).inserted else { return nil }
      prefix += part.kind == .descending ? asks[found].bytes.turned : asks[found].bytes
    }
    let scan = QueryPlan.Scan(source: .index(id: index.id, shape), prefix: prefix, isTurned: isTurned)
    return Candidate(scan: scan, covered: covered, isReady: index.row.isReady)
  }

  /// Indexes that together cover the query, the one that covers most of it first.
  private func join(of candidates: [Candidate], _ asks: [QueryNeeds.Ask]) -> [QueryPlan.Scan]? {
    var rest = Set(asks.indices)
    var scans: [QueryPlan.Scan] = []
    while !rest.isEmpty {
      let best = candidates.max { $0.covered.intersection(rest).count < $1.covered.intersection(rest).count }
      guard let best, !best.covered.isDisjoint(with: rest) else { return nil }
      scans.append(best.scan)
      rest.subtract(best.covered)
    }
    return scans.isEmpty ? nil : scans
  }

  /// The best indexes for an alternative, and whether they cover all of it.
  private func best(for asks: [QueryNeeds.Ask]) -> (shapes: [IndexShape], isWhole: Bool) {
    let parts = asks.map { IndexShape.Part(path: $0.path, kind: $0.isElement ? .contains : .ascending) }
    let groups = needs.tail.isEmpty && !parts.isEmpty ? parts.map { [$0] } : [parts]
    let wanted = groups.map(shape).filter { !isForbidden($0) }
    return (wanted, wanted.count == groups.count)
  }

  /// An index in the one of the two directions in which the first ordered value ascends.
  private func shape(_ parts: [IndexShape.Part]) -> IndexShape {
    let shape = IndexShape(
      collectionID: needs.collectionID, isGroup: needs.isGroup, parts: needs.tail,
      isNameDescending: needs.isNameDescending)
    let isTurned = needs.tail.first.map { $0.kind == .descending } ?? needs.isNameDescending
    var result = isTurned ? shape.turned : shape
    result.parts = parts + result.parts
    return result
  }
}
