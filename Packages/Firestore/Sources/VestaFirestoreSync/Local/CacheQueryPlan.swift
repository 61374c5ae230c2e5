import VestaFirestoreBackend
import VestaFirestoreModel

/// How a query is answered from the indexes of a collection: the range of a field that the fewest documents are in, or
/// the order until there are enough results.
///
/// Worked example: `size == 3`, `color == "red"`, by `price`, 25 results, of 100,000 documents. The index of `size` has
/// 40 entries for 3, that of `color` 30,000 for red: the 40 documents are looked at. Without the filter on `size`, the
/// index of `price` is walked from its beginning until 25 documents are red; where that takes more than 30,000 steps,
/// the 30,000 red ones are looked at.
struct CacheQueryPlan {
  /// Neighbouring entries of an index.
  typealias Range = (id: CacheIndex.ID, bounds: CacheIndex.Bounds)

  private let query: LocalQuery
  private let conjunctions: [[Predicate]]

  /// A plan; `nil` for a query that cannot use an index.
  init?(_ query: LocalQuery) {
    guard !query.matchesAll, !query.isDocument,
      let form = try? DisjunctiveForm(query.filters.isEmpty ? nil : .composite(.and, query.filters))
    else { return nil }
    self.query = query
    conjunctions = form.conjunctions
  }

  /// The ranges of entries that contain every result: for each alternative of the filter that has an index.
  ///
  /// - Returns: `nil` when an alternative has no range with an index.
  func ranges(among ids: Set<CacheIndex.ID>) -> [[Range]]? {
    if conjunctions.isEmpty { return nil }
    var ranges: [[Range]] = []
    for conjunction in conjunctions {
      let usable = self.ranges(of: conjunction).filter { ids.contains($0.id) }
      if usable.isEmpty { return nil }
      ranges.append(usable)
    }
    return ranges
  }

  /// The ranges of entries of which each contains every result of an alternative: one for each field, within all that
  /// its predicates and the cursors allow.
  private func ranges(of conjunction: [Predicate]) -> [Range] {
    var ranges: [Range] = []
    func add(_ id: CacheIndex.ID, _ bounds: CacheIndex.Bounds) {
      // The predicates of an array may be met by different elements.
      if !id.isOfElements, let place = ranges.firstIndex(where: { $0.id == id }) {
        ranges[place].bounds = CacheIndex.Bounds(all: [ranges[place].bounds, bounds])
      } else {
        ranges.append((id, bounds))
      }
    }
    for predicate in conjunction { add(CacheIndex.ID(predicate), CacheIndex.Bounds(predicate.test)) }
    if let order = query.orders.first {
      let id = CacheIndex.ID(path: order.path, isOfElements: false)
      for bounds in cursorBounds(order) { add(id, bounds) }
    }
    return ranges
  }

  /// The index that orders the results of a limited query, the bounds of the entries among which they are, and
  /// whether they begin at its end; `nil` when it is not among the indexes.
  func ordered(among ids: Set<CacheIndex.ID>) -> (id: CacheIndex.ID, bounds: CacheIndex.Bounds, isReversed: Bool)? {
    guard let order = query.orders.first else { return nil }
    let id = CacheIndex.ID(path: order.path, isOfElements: false)
    guard ids.contains(id) else { return nil }
    return (id, CacheIndex.Bounds(all: orderedBounds(order)), isReversed(order))
  }

  private func isReversed(_ order: NormalQuery.Order) -> Bool { order.descending != (query.limitType == .last) }

  /// The documents that may be results.
  ///
  /// - Parameters:
  ///   - index: Returns an index, made if need be; `nil` when there is none.
  ///   - isResult: Whether a document is a result in its current state.
  /// - Returns: `nil` when every document has to be looked at.
  func candidates(
    index: (CacheIndex.ID) -> CacheIndex?, isResult: (DocumentKey) -> Bool
  ) -> Set<DocumentKey>? {
    var keys: Set<DocumentKey> = []
    var total = 0
    var runs: [(CacheIndex, CacheIndex.Run)] = []
    var isComplete = true
    for conjunction in conjunctions {
      guard let (best, run) = smallest(conjunction, index) else {
        isComplete = false
        break
      }
      runs.append((best, run))
      total += run.count
    }
    let bound = isComplete ? total : .max
    if let limit = query.limit, bound > 4 * limit + 64, let found = walk(limit, bound, index, isResult) { return found }
    guard isComplete else { return nil }
    for (index, run) in runs {
      index.forEach(in: run) { _, key in
        keys.insert(key)
        return true
      }
    }
    return keys
  }

  /// The range of an alternative that has the fewest entries.
  private func smallest(
    _ conjunction: [Predicate], _ index: (CacheIndex.ID) -> CacheIndex?
  ) -> (CacheIndex, CacheIndex.Run)? {
    var best: (CacheIndex, CacheIndex.Run)?
    for range in ranges(of: conjunction) {
      guard let index = index(range.id) else { continue }
      let run = index.run(range.bounds)
      if run.count < best?.1.count ?? .max { best = (index, run) }
    }
    return best
  }

  /// The first results in the order of the query; `nil` when more entries than a number would have to be looked at.
  private func walk(
    _ limit: Int, _ bound: Int, _ index: (CacheIndex.ID) -> CacheIndex?, _ isResult: (DocumentKey) -> Bool
  ) -> Set<DocumentKey>? {
    guard let order = query.orders.first, let index = index(CacheIndex.ID(path: order.path, isOfElements: false)) else {
      return nil
    }
    let isReversed = isReversed(order)
    var found: Set<DocumentKey> = []
    var last: [UInt8] = []
    var steps = 0
    var isOver = false
    index.forEach(in: index.run(orderedBounds(order)), isReversed: isReversed) { bytes, key in
      // Later orders decide among equal values: all of them have to be seen.
      if found.count >= limit, bytes != last { return false }
      isOver = steps >= bound
      if isOver { return false }
      steps += 1
      guard isResult(key) else { return true }
      found.insert(key)
      last = bytes
      return true
    }
    return isOver ? nil : found
  }

  /// The bounds that the filters and cursors of a query set to the values of its first order.
  private func orderedBounds(_ order: NormalQuery.Order) -> [CacheIndex.Bounds] {
    var bounds: [CacheIndex.Bounds] = []
    if conjunctions.count == 1 {
      for predicate in conjunctions[0] where predicate.path == order.path {
        if case .contains = predicate.test { continue }
        bounds.append(CacheIndex.Bounds(predicate.test))
      }
    }
    return bounds + cursorBounds(order)
  }

  /// The bounds that the cursors of a query set to the values of its first order.
  private func cursorBounds(_ order: NormalQuery.Order) -> [CacheIndex.Bounds] {
    [(query.startAt, true), (query.endAt, false)].compactMap { cursor, isStart in
      guard let value = cursor?.values.first else { return nil }
      let bytes = IndexEncoder.encode(value)
      return isStart != order.descending ? CacheIndex.Bounds(from: bytes) : CacheIndex.Bounds(through: bytes)
    }
  }
}

extension CacheIndex.ID {
  /// The index that answers a predicate.
  init(_ predicate: Predicate) {
    var isOfElements = false
    if case .contains = predicate.test { isOfElements = true }
    self.init(path: predicate.path, isOfElements: isOfElements)
  }
}
