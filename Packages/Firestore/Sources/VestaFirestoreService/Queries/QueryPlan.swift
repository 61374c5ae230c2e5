import FirestoreInterop
import FirestoreModel
import StoreInterop

/// How a query is answered from indexes: a value, made of the query alone.
///
/// Each alternative of the filter is a scan, or a join of scans that all must have an entry. What follows the values that
/// are asked for by equality, the *suffix*, is alike in all of them: the ordered values and the name. So scans are joined
/// and united by comparing suffixes, and come out in the order of the query.
struct QueryPlan: Equatable, Sendable {
  struct Scan: Equatable, Sendable {
    var shape: IndexShape
    /// The values that are asked for, as the keys have them.
    var prefix: [UInt8]
  }

  /// For each alternative, the scans that are joined.
  var alternatives: [[Scan]]
  /// Which suffixes are looked at.
  var bounds: [KeyRange]
  var order: ScanOrder

  var shapes: [IndexShape] { alternatives.joined().map(\.shape) }

  /// The plan of a query; `nil` where a range of the documents themselves is as good, or no index helps.
  init?(_ query: NormalQuery) {
    // Fields behind the name order nothing; such queries are left to the documents.
    guard let collectionID = query.collectionID, query.orders.last?.path.isDocumentName == true else { return nil }
    let ordered = query.orders.filter { !$0.path.isDocumentName }
    let isTurned = query.orders[0].descending
    order = isTurned ? .descending : .ascending
    let isNameDescending = (query.orders.last?.descending ?? false) != isTurned
    let tail = ordered.map { order in
      IndexShape.Part(path: order.path, kind: order.descending == isTurned ? .ascending : .descending)
    }
    let collection = query.parent.path.appending(collectionID)
    alternatives = []
    bounds = []
    for conjunction in query.filter.conjunctions {
      let asked = QueryPlan.asked(in: conjunction)
      func scan(_ asked: ArraySlice<(IndexShape.Part, Value)>) -> Scan {
        let shape = IndexShape(
          collectionID: collectionID, isGroup: query.allDescendants, parts: asked.map(\.0) + tail,
          isNameDescending: isNameDescending)
        let prefix = asked.reduce(shape.start(of: collection)) {
          shape.appended($1.1, descending: false, to: $0)
        }
        return Scan(shape: shape, prefix: prefix)
      }
      if asked.isEmpty, tail.isEmpty, !query.allDescendants { return nil }
      let isJoined = tail.isEmpty && asked.count > 1
      alternatives.append(isJoined ? asked.indices.map { scan(asked[$0...$0]) } : [scan(asked[...])])
      bounds.append(
        QueryPlan.bounds(query, conjunction, ordered.first, isTurned, alternatives[alternatives.count - 1][0].shape))
    }
  }

  /// What an alternative asks for by equality, each field once.
  private static func asked(in conjunction: [Predicate]) -> [(IndexShape.Part, Value)] {
    var found: [(IndexShape.Part, Value)] = []
    for predicate in conjunction where !predicate.path.isDocumentName {
      let part: (IndexShape.Part, Value)
      switch predicate.test {
      case .equal(let value): part = (IndexShape.Part(path: predicate.path, kind: .ascending), value)
      case .contains(let value):
        guard !found.contains(where: { $0.0.kind == .contains }) else { continue }
        part = (IndexShape.Part(path: predicate.path, kind: .contains), value)
      case .compare, .notIn: continue
      }
      if !found.contains(where: { $0.0.path == part.0.path }) { found.append(part) }
    }
    return found.sorted { $0.0.path < $1.0.path }
  }

  /// The suffixes that an alternative's inequalities and the cursors leave.
  private static func bounds(
    _ query: NormalQuery, _ conjunction: [Predicate], _ first: NormalQuery.Order?, _ isTurned: Bool, _ shape: IndexShape
  ) -> KeyRange {
    var range = KeyRange.all
    if let first {
      for predicate in conjunction where predicate.path == first.path {
        // The first ordered field is ascending in every index: a plan is turned where it is not.
        guard case .compare(let relation, let operand) = predicate.test else { continue }
        let bytes = IndexEncoder.encode(operand)
        range = range.intersection(KeyRange(prefix: Array(bytes.prefix(1))))
        let after = KeyRange(prefix: bytes).upper
        switch relation {
        case .less: range = range.intersection(KeyRange(from: [], to: bytes))
        case .lessOrEqual: range = range.intersection(KeyRange(from: [], to: after))
        case .greater: range = range.intersection(KeyRange(from: after ?? bytes, to: nil))
        case .greaterOrEqual: range = range.intersection(KeyRange(from: bytes, to: nil))
        }
      }
    }
    if let cursor = query.startAt {
      range = range.intersection(part(of: cursor, isStart: true, query, isTurned, shape))
    }
    if let cursor = query.endAt { range = range.intersection(part(of: cursor, isStart: false, query, isTurned, shape)) }
    return range
  }

  /// The suffixes on the wanted side of a cursor; names are left to the matcher, so it may be a little more.
  private static func part(
    of cursor: StructuredQuery.Cursor, isStart: Bool, _ query: NormalQuery, _ isTurned: Bool, _ shape: IndexShape
  ) -> KeyRange {
    var bytes: [UInt8] = []
    var isWhole = true
    for (order, value) in zip(query.orders, cursor.values) {
      if order.path.isDocumentName {
        isWhole = false
      } else {
        bytes = shape.appended(value, descending: order.descending != isTurned, to: bytes)
      }
    }
    guard !bytes.isEmpty, let after = KeyRange(prefix: bytes).upper else { return .all }
    let isIncluded = !isWhole || (isStart == cursor.before)
    // In a turned plan the start of the results is the end of the range.
    if isStart != isTurned { return KeyRange(from: isIncluded ? bytes : after, to: nil) }
    return KeyRange(from: [], to: isIncluded ? after : bytes)
  }
}

extension KeyRange {
  /// The keys that are in both.
  func intersection(_ other: KeyRange) -> KeyRange {
    let lower = self.lower.lexicographicallyPrecedes(other.lower) ? other.lower : self.lower
    guard let mine = upper else { return KeyRange(from: lower, to: other.upper) }
    guard let theirs = other.upper else { return KeyRange(from: lower, to: mine) }
    return KeyRange(from: lower, to: mine.lexicographicallyPrecedes(theirs) ? mine : theirs)
  }
}
