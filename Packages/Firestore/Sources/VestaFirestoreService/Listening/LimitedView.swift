import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The results of a limited query, kept current without running it again where a change itself says what follows.
///
/// It knows the first matches in the order of the query: the ones within the limit, and after them a *spare*, which
/// takes the place of results that leave. Only when a result has left and the spare is used up has the store to say
/// what follows. Each time the query was run in vain the spare is twice as long, so that at last more is known than
/// leaves while the query runs.
///
/// Example: the two lowest scores, with a spare of one: `[a: 1, b: 2 | c: 3]`. Deleting `a` leaves `[b: 2, c: 3 |]`,
/// and a score of 1 makes it `[d: 1, b: 2 | c: 3]`. After two more deletions only `[c: 3]` is known: the query runs
/// again.
struct LimitedView: Sendable {
  /// The effect of a change on the view.
  enum Effect: Equatable {
    /// Nothing.
    case none
    /// The view has been brought up to date: its results, or its spare.
    case changed
    /// The query has to run again.
    case unknown
  }

  private typealias Entry = (pathKey: PathKey, document: Document)

  private let query: NormalQuery
  /// The first matches in the order of the query; those after the limit are the spare.
  private var entries: [Entry]
  /// Whether there are no other matches.
  private var isComplete: Bool
  /// The maximum number of entries.
  private let capacity: Int
  /// Whether the entries begin with the first match; where they do not, nothing follows from a change.
  private let hasBeginning: Bool
  /// Whether the view was made with a spare, used up or not.
  let hasSpare: Bool
  /// The documents of the entries.
  private var pathKeys: Set<PathKey>

  /// A view without a spare.
  ///
  /// - Parameter view: The results.
  init(_ query: NormalQuery, _ view: WatchView) {
    self.query = query
    hasBeginning = query.offset == 0
    hasSpare = false
    pathKeys = Set(view.keys)
    capacity = query.limit ?? .max
    isComplete = view.count < capacity
    entries = view.map { ($0.key, $0.value) }.sorted { query.compare($0.document, $1.document) < 0 }
  }

  /// A view with a spare.
  ///
  /// - Parameters:
  ///   - matches: The first matches, in the order of the query.
  ///   - wanted: The number of matches that the query was run for.
  ///   - bytes: The length of the spare's documents, or little more.
  init(_ query: NormalQuery, matches: [Document], wanted: Int, bytes: Int) throws {
    self.query = query
    hasBeginning = true
    hasSpare = true
    let end = LimitedView.end(of: query)
    var (kept, size) = (min(end, matches.count), 0)
    while kept < matches.count, size < bytes {
      size += DocumentSize.size(of: matches[kept])
      kept += 1
    }
    entries = try matches.prefix(kept).map { (PathKey(try ResourceName(document: $0.name).path), $0) }
    pathKeys = Set(entries.map(\.pathKey))
    isComplete = matches.count < wanted && kept == matches.count
    capacity = isComplete ? wanted : max(end, kept)
  }

  // MARK: The spare

  /// Returns the number of matches to ask for; `nil` for a query of which only the results are kept.
  ///
  /// - Parameter attempts: How often the query was run in vain.
  static func wanted(for query: NormalQuery, attempts: Int, _ tuning: ListenTuning) -> Int? {
    guard query.offset <= tuning.mostSkipped, let limit = query.limit, limit > 0 else { return nil }
    return query.offset + limit + tuning.spare << min(attempts, 10)
  }

  /// The length of the spare's documents for a query that was run in vain a number of times.
  static func bytes(attempts: Int, _ tuning: ListenTuning) -> Int { tuning.spareBytes << min(attempts, 6) }

  private static func end(of query: NormalQuery) -> Int { query.limit.map { query.offset + $0 } ?? .max }

  // MARK: The results

  var view: WatchView {
    let results = entries.prefix(LimitedView.end(of: query)).dropFirst(hasBeginning ? query.offset : 0)
    return Dictionary(results.map { ($0.pathKey, $0.document) }, uniquingKeysWith: { $1 })
  }

  /// Applies a change.
  ///
  /// - Parameter isIn: Whether the document matches now, the limit aside.
  mutating func take(_ change: WatchChange, isIn: Bool) -> Effect {
    guard hasBeginning, query.limit != nil else { return .unknown }
    let end = LimitedView.end(of: query)
    var isKnown = false
    // All unknown matches sort after this one.
    let last = entries.last?.document
    if pathKeys.remove(change.pathKey) != nil, let index = index(of: change) {
      entries.remove(at: index)
      isKnown = true
    }
    if isIn, let document = change.after {
      let position = position(of: document)
      // After all known ones, others may sort before it.
      if position < entries.count || isComplete || last.map({ query.compare(document, $0) <= 0 }) == true {
        entries.insert((change.pathKey, document), at: position)
        pathKeys.insert(change.pathKey)
        isKnown = true
      }
    }
    if entries.count > capacity {
      for entry in entries[capacity...] { pathKeys.remove(entry.pathKey) }
      entries.removeLast(entries.count - capacity)
      isComplete = false
    }
    if entries.count < end, !isComplete { return .unknown }
    return isKnown ? .changed : .none
  }

  /// The position of a document that is known, found by its state before the change.
  private func index(of change: WatchChange) -> Int? {
    if let before = change.before {
      let index = position(of: before)
      if index < entries.count, entries[index].pathKey == change.pathKey { return index }
    }
    return entries.firstIndex { $0.pathKey == change.pathKey }
  }

  /// The first position whose document does not sort before this one.
  private func position(of document: Document) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if query.compare(entries[middle].document, document) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
