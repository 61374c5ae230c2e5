import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The results of a limited query, kept current without running it again where a change itself says what follows.
///
/// Who comes in pushes the last one out; who changes keeps or takes its place. Only when one leaves a full view has the
/// store to say who comes after it.
struct LimitedView: Sendable {
  /// The effect of a change on the view.
  enum Effect: Equatable {
    /// Nothing.
    case none
    /// It has been brought up to date.
    case changed
    /// The query has to be asked again.
    case unknown
  }

  private let query: NormalQuery
  /// In the order of the query.
  private var entries: [(place: Place, document: Document)]

  /// - Parameter view: All that is in.
  init(_ query: NormalQuery, _ view: WatchView) {
    self.query = query
    entries = view.map { ($0.key, $0.value) }.sorted { query.compare($0.document, $1.document) < 0 }
  }

  var view: WatchView { Dictionary(entries.map { ($0.place, $0.document) }, uniquingKeysWith: { $1 }) }

  /// Takes a change in.
  ///
  /// - Parameter isIn: Whether the document matches now, the limit aside.
  mutating func take(_ change: WatchChange, isIn: Bool) -> Effect {
    guard let limit = query.limit, query.offset == 0 else { return .unknown }
    let isFull = entries.count >= limit
    let index = entries.firstIndex { $0.place == change.place }
    guard isIn, let document = change.after else {
      guard let index else { return .none }
      if isFull { return .unknown }
      entries.remove(at: index)
      return .changed
    }
    if let index { entries.remove(at: index) }
    let position = position(of: document)
    if position == entries.count, isFull {
      // After all others: beyond the limit, or, if it was in, perhaps after one that is not.
      return index == nil ? .none : .unknown
    }
    entries.insert((change.place, document), at: position)
    if entries.count > limit { entries.removeLast() }
    return .changed
  }

  /// The first position whose document does not come before this one.
  private func position(of document: Document) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if query.compare(entries[middle].document, document) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
