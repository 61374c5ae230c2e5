import FirestoreInterop
import FirestoreModel
import StoreInterop

/// How a query is answered: the scans of each alternative of its filter, made of what it needs and of the indexes there are.
struct QueryPlan: Equatable, Sendable {
  /// A range of an index, or of the documents of a collection, which are in the order of their names.
  struct Scan: Equatable, Sendable {
    enum Source: Equatable, Sendable {
      case documents(ResourcePath)
      case index(id: Int64, IndexShape)
    }

    var source: Source
    /// What is asked for by equality, as the entries have it, behind the number of the index.
    var prefix: [UInt8] = []
    /// Whether every direction is the opposite of the query's: then it is read backwards.
    var isTurned = false
  }

  /// One alternative: the entries that all of its scans have.
  struct Branch: Equatable, Sendable {
    var scans: [Scan]
    var bounds: KeyRange
    var test: SuffixTest
    /// Whether a join of these scans may cost more than its results, though a better index would not.
    var isMakeshift = false
  }

  var branches: [Branch]
  /// Whether entries alone say which documents match.
  var isDecided: Bool

  /// The indexes that are used, each once; `nil` stands for the documents themselves.
  var shapes: [IndexShape?] {
    var shapes: [IndexShape?] = []
    for scan in branches.flatMap(\.scans) {
      var shape: IndexShape?
      if case .index(_, let known) = scan.source { shape = known }
      if !shapes.contains(shape) { shapes.append(shape) }
    }
    return shapes
  }
}

/// What a planner comes to.
struct PlanOutcome: Equatable, Sendable {
  /// `nil` while an index is missing.
  var plan: QueryPlan?
  /// The indexes to be made, so that the query costs its result the next time.
  var missing: [IndexShape] = []
}

/// Chooses the indexes for a query: a function of what the query needs and what there is.
struct QueryPlanner {
  let needs: QueryNeeds
  /// The indexes of the collection or group that are ready.
  let ready: [IndexCatalogue.Index]
  let exemptions: IndexExemptions

  init(_ needs: QueryNeeds, _ catalogue: IndexCatalogue, _ exemptions: IndexExemptions) {
    self.needs = needs
    self.exemptions = exemptions
    ready = catalogue.indexes(of: needs.collectionID).filter { $0.row.isReady && $0.row.shape.isGroup == needs.isGroup }
  }

  func outcome() -> PlanOutcome {
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

  private struct Choice {
    var scans: [QueryPlan.Scan]?
    var missing: [IndexShape] = []
    /// Whether the scans stand for everything that is asked.
    var isWhole = true
  }

  /// An index that stands for some of what is asked.
  private struct Candidate {
    var scan: QueryPlan.Scan
    var covered: Set<Int>
  }

  private func choice(for alternative: QueryNeeds.Alternative) -> Choice {
    let asks = alternative.asks
    if asks.isEmpty, needs.tail.isEmpty, let collection = needs.collection {
      return Choice(scans: [QueryPlan.Scan(source: .documents(collection), isTurned: needs.isNameDescending)])
    }
    let candidates = ready.compactMap { candidate($0, asks) }
    if let whole = candidates.first(where: { $0.covered.count == asks.count }) { return Choice(scans: [whole.scan]) }
    let joined = join(of: candidates, asks)
    let (best, isWhole) = best(for: asks)
    let missing = best.filter { shape in !ready.contains { $0.row.shape == shape } }
    if let joined { return Choice(scans: joined, missing: needs.tail.isEmpty ? [] : missing) }
    if best.isEmpty || !missing.isEmpty { return Choice(scans: nil, missing: missing) }
    // Some fields have no index and never will: the others find the documents, which tell the rest.
    let scans = candidates.filter { candidate in best.contains { $0 == shape(of: candidate.scan) } }.map(\.scan)
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
    return Candidate(scan: scan, covered: covered)
  }

  /// Indexes that together stand for all that is asked, those for most of it first.
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

  /// The indexes that an alternative would best have, and whether they stand for all of it.
  private func best(for asks: [QueryNeeds.Ask]) -> (shapes: [IndexShape], isWhole: Bool) {
    let parts = asks.map { IndexShape.Part(path: $0.path, kind: $0.isElement ? .contains : .ascending) }
    let groups = needs.tail.isEmpty && !parts.isEmpty ? parts.map { [$0] } : [parts]
    let wanted = groups.map(shape).filter { !exemptions.hold($0) }
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
