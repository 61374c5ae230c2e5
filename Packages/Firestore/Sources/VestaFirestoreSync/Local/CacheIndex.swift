import VestaBytes
import VestaFirestoreBackend
package import VestaFirestoreModel

/// An index over one field of the documents of one collection of the cache.
///
/// An entry is the encoded value and the document, in the order of both. An index of elements has an entry for each
/// element of an array.
package struct CacheIndex: Sendable {
  /// The field of an index, and whether the elements of arrays are its values.
  package struct ID: Sendable, Hashable {
    /// The field.
    package let path: FieldPath
    /// Whether the elements of arrays are the values.
    package let isOfElements: Bool
  }

  fileprivate struct Entry: Sendable {
    let bytes: [UInt8]
    let key: DocumentKey

    func compare(_ other: [UInt8]) -> Int { UTF8Order.compare(bytes: bytes, other) }
  }

  package let id: ID
  private var entries = SortedChunks<Entry>()

  /// An index of documents.
  package init(_ id: ID, _ documents: some Sequence<CachedDocument>) {
    self.id = id
    var all: [Entry] = []
    for document in documents {
      for bytes in CacheIndex.bytes(of: document, id) { all.append(Entry(bytes: bytes, key: document.path)) }
    }
    all.sort { CacheIndex.compare($0, $1) < 0 }
    entries = SortedChunks(sorted: all)
  }

  private static func compare(_ left: Entry, _ right: Entry) -> Int {
    let order = left.compare(right.bytes)
    return order != 0 ? order : left.key.compare(right.key)
  }

  /// The entries of a document, without its key.
  static func bytes(of document: CachedDocument, _ id: ID) -> [[UInt8]] {
    guard document.isFound, let value = document.value(at: id.path) else { return [] }
    guard id.isOfElements else { return [IndexEncoder.encode(value)] }
    guard case .array(let elements) = value else { return [] }
    return Array(Set(elements.map(IndexEncoder.encode)))
  }

  mutating func replace(_ old: CachedDocument?, by new: CachedDocument?) {
    let (gone, come) = (old.map { CacheIndex.bytes(of: $0, id) } ?? [], new.map { CacheIndex.bytes(of: $0, id) } ?? [])
    if gone == come { return }
    if let old { for bytes in gone { remove(Entry(bytes: bytes, key: old.path)) } }
    if let new { for bytes in come { insert(Entry(bytes: bytes, key: new.path)) } }
  }

  private mutating func remove(_ entry: Entry) {
    let position = entries.position { CacheIndex.compare($0, entry) }
    if position.isFound { entries.remove(at: position) }
  }

  private mutating func insert(_ entry: Entry) {
    entries.put(entry, at: entries.position { CacheIndex.compare($0, entry) })
  }

  /// Calls an action with each entry, in order.
  package func forEach(_ action: (_ bytes: [UInt8], _ key: DocumentKey) -> Void) {
    for entry in entries { action(entry.bytes, entry.key) }
  }

  // MARK: Ranges

  /// Neighbouring entries.
  struct Run {
    fileprivate let entries: SortedChunks<Entry>.Run
    let count: Int
  }

  /// The entries within bounds.
  func run(_ bounds: Bounds) -> Run { run(entryRun(bounds)) }

  /// The entries within all of several bounds.
  func run(_ bounds: [Bounds]) -> Run {
    run(bounds.reduce(entries.wholeRun) { $0.clamped(to: entryRun($1)) })
  }

  private func run(_ found: SortedChunks<Entry>.Run) -> Run { Run(entries: found, count: entries.count(of: found)) }

  private func entryRun(_ bounds: Bounds) -> SortedChunks<Entry>.Run {
    let start = entries.position { $0.compare(bounds.lower) < 0 ? -1 : 1 }
    guard let upper = bounds.upper else { return .init(from: start, to: entries.wholeRun.end) }
    return .init(from: start, to: entries.position { $0.compare(upper) < 0 ? -1 : 1 })
  }

  /// Calls an action with entries in their order, until it returns `false`.
  func forEach(in run: Run, isReversed: Bool = false, _ action: (_ bytes: [UInt8], _ key: DocumentKey) -> Bool) {
    entries.forEach(in: run.entries, isReversed: isReversed) { action($0.bytes, $0.key) }
  }

  /// Bounds of encoded values: from the lower one on, up to and without the upper one.
  struct Bounds: Sendable {
    var lower: [UInt8] = []
    var upper: [UInt8]?

    static let all = Bounds()

    /// The values that a predicate may accept.
    init(_ test: Predicate.Test) {
      switch test {
      case .equal(let value), .contains(let value):
        lower = IndexEncoder.encode(value)
        upper = Bounds.next(lower)
      case .notIn: break
      case .compare(let relation, let value):
        let bytes = IndexEncoder.encode(value)
        // The tags of the classes of values are multiples of eight.
        let tag = (bytes.first ?? 0) & 0xF8
        lower = [tag]
        upper = [tag + 8]
        switch relation {
        case .greater, .greaterOrEqual: lower = bytes
        case .less, .lessOrEqual: upper = Bounds.next(bytes)
        }
      }
    }

    fileprivate init() {}

    /// The smallest bytes after all that begin with these; no encoded value ends with nothing but the largest byte.
    fileprivate static func next(_ bytes: [UInt8]) -> [UInt8] {
      bytes + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    }
  }
}

/// How a query is answered from the indexes of a collection: the predicate that the fewest documents satisfy, or the
/// order until there are enough results.
///
/// Worked example: `size == 3`, `color == "red"`, by `price`, 25 results, of 100,000 documents. The index of `size` has
/// 40 entries for 3, that of `color` 30,000 for red: the 40 documents are looked at. Without the filter on `size`, the
/// index of `price` is walked from its beginning until 25 documents are red; where that takes more than 30,000 steps,
/// the 30,000 red ones are looked at.
struct CacheQueryPlan {
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

  /// The ranges of entries that contain every result: for each alternative of the filter, those of its predicates that
  /// have an index.
  ///
  /// - Returns: `nil` when an alternative has no predicate with an index.
  func ranges(among ids: Set<CacheIndex.ID>) -> [[(id: CacheIndex.ID, bounds: CacheIndex.Bounds)]]? {
    if conjunctions.isEmpty { return nil }
    var ranges: [[(id: CacheIndex.ID, bounds: CacheIndex.Bounds)]] = []
    for conjunction in conjunctions {
      let usable = conjunction.compactMap { predicate -> (id: CacheIndex.ID, bounds: CacheIndex.Bounds)? in
        let id = CacheIndex.ID(predicate)
        return ids.contains(id) ? (id, CacheIndex.Bounds(predicate.test)) : nil
      }
      if usable.isEmpty { return nil }
      ranges.append(usable)
    }
    return ranges
  }

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

  /// The predicate of a conjunction that the fewest documents satisfy.
  private func smallest(
    _ conjunction: [Predicate], _ index: (CacheIndex.ID) -> CacheIndex?
  ) -> (CacheIndex, CacheIndex.Run)? {
    var best: (CacheIndex, CacheIndex.Run)?
    for predicate in conjunction {
      guard let index = index(CacheIndex.ID(predicate)) else { continue }
      let run = index.run(CacheIndex.Bounds(predicate.test))
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
    let isReversed = order.descending != (query.limitType == .last)
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
    for (cursor, isStart) in [(query.startAt, true), (query.endAt, false)] {
      guard let value = cursor?.values.first else { continue }
      let bytes = IndexEncoder.encode(value)
      bounds.append(isStart != order.descending ? .init(from: bytes) : .init(through: bytes))
    }
    return bounds
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

extension CacheIndex.Bounds {
  /// From a value on.
  init(from bytes: [UInt8]) {
    self = .all
    lower = bytes
  }

  /// Up to a value, and with it.
  init(through bytes: [UInt8]) {
    self = .all
    upper = CacheIndex.Bounds.next(bytes)
  }
}
