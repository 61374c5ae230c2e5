package import VestaFirestoreBackend
package import VestaFirestoreModel
import VestaStoreInterop

/// The needs of a query, whichever indexes there are: made of the query alone.
///
/// An entry of an index is what is asked for by equality, and after it the *suffix*: the ordered values and the name,
/// each in its direction in the query. So suffixes in byte order are results in the order of the query, scans are
/// joined and united by comparing suffixes, and cursors and inequalities are ranges of them.
package struct QueryNeeds: Hashable, Sendable {
  /// Something asked for by equality: a value of a field, or an element of its array.
  package struct Ask: Hashable, Sendable {
    package var path: FieldPath
    package var isElement: Bool
    /// The value in ascending direction.
    package var bytes: [UInt8]
  }

  /// One alternative of the filter.
  package struct Alternative: Hashable, Sendable {
    /// Sorted by their fields, each field once.
    package var asks: [Ask]
    /// The range of the suffixes.
    package var bounds: KeyRange
    /// The test of a suffix within the range.
    package var test: SuffixTest
  }

  package let collectionID: CollectionID
  /// The collection; `nil` for a group.
  package let collection: ResourcePath?
  /// The ordered fields before the name, in the direction of the query.
  package let tail: [IndexShape.Part]
  package let isNameDescending: Bool
  package private(set) var alternatives: [Alternative] = []
  /// The range of suffixes that the cursors allow.
  package private(set) var bounds = KeyRange.all
  /// Whether entries alone say which documents match.
  package private(set) var isDecided = true

  package var isGroup: Bool { collection == nil }
  package var names: NameCoding { NameCoding(collection: collection) }

  /// - Returns: `nil` for queries of all collections.
  package init?(_ query: NormalQuery) {
    guard let collectionID = query.collectionID else { return nil }
    self.collectionID = collectionID
    collection = query.allDescendants ? nil : query.parent.path.appending(collectionID)
    let conjunctions = query.filter.conjunctions
    let ordered = query.orders.prefix { !$0.path.isDocumentName }
    // A fixed field needs no place in the order.
    let fixed = conjunctions.count == 1 && query.startAt == nil && query.endAt == nil ? conjunctions[0] : []
    tail = ordered.filter { order in !fixed.contains { $0.path == order.path && $0.isEquality } }.map {
      IndexShape.Part(path: $0.path, kind: $0.descending ? .descending : .ascending)
    }
    // Fields after the name order nothing; whether a document has them is left to the document.
    if query.orders.count > ordered.count + 1 { isDecided = false }
    isNameDescending = query.orders[ordered.count].descending
    let cursors = SuffixCursors(query, names: names, following: query.after.flatMap(suffix))
    bounds = cursors.bounds
    for conjunction in conjunctions { add(conjunction, cursors) }
  }

  /// The suffix of a document, as entries have it.
  private func suffix(of document: Document) -> [UInt8]? {
    guard let path = (try? ResourceName(document: document.name))?.path else { return nil }
    var encoder = IndexEncoder()
    for part in tail {
      guard let value = document.value(at: part.path) else { return nil }
      encoder.append(value, descending: part.kind == .descending)
    }
    let name = names.bytes(path)
    return encoder.bytes + (isNameDescending ? name.turned : name)
  }

  private mutating func add(_ conjunction: [Predicate], _ cursors: SuffixCursors) {
    var ranges = Array(repeating: KeyRanges.all, count: tail.count + 1)
    guard let known = combined(asks(of: conjunction, narrowing: &ranges)) else { return }
    let directed = ranges.indices.map { isDescending($0) ? ranges[$0].turned : ranges[$0] }
    guard !directed.contains(where: \.isEmpty), let hull = directed[0].hull else { return }
    let bounds = hull.intersection(cursors.bounds)
    if bounds.isEmpty { return }
    let test = SuffixTest(directed, fieldsDescending: tail.map { $0.kind == .descending })
    alternatives.append(Alternative(asks: known, bounds: bounds, test: test))
  }

  /// The equalities that predicates ask for; the others narrow the ranges of the fields in the tail.
  private mutating func asks(of conjunction: [Predicate], narrowing ranges: inout [KeyRanges]) -> [Ask] {
    var asks: [Ask] = []
    for predicate in conjunction {
      if predicate.path.isDocumentName {
        ranges[tail.count] = predicate.narrowed(ranges[tail.count], names)
        continue
      }
      switch predicate.test {
      case .contains(let value):
        asks.append(Ask(path: predicate.path, isElement: true, bytes: IndexEncoder.encode(value)))
      case .equal(let value) where !tail.contains(where: { $0.path == predicate.path }):
        asks.append(Ask(path: predicate.path, isElement: false, bytes: IndexEncoder.encode(value)))
      default:
        if let index = tail.firstIndex(where: { $0.path == predicate.path }) {
          ranges[index] = predicate.narrowed(ranges[index])
        } else {
          isDecided = false
        }
      }
    }
    return asks
  }

  /// The asks in the order of their paths, one for each field and kind; nil if nothing can match.
  private mutating func combined(_ asks: [Ask]) -> [Ask]? {
    var known: [Ask] = []
    for ask in asks {
      guard let other = known.first(where: { $0.path == ask.path && $0.isElement == ask.isElement }) else {
        known.append(ask)
        continue
      }
      // Two values of one field at once: nothing can match, but for elements, which have one place in an index.
      if other.bytes == ask.bytes { continue }
      if !ask.isElement { return nil }
      isDecided = false
    }
    return known.sorted { ($0.path, $0.isElement ? 1 : 0) < ($1.path, $1.isElement ? 1 : 0) }
  }

  private func isDescending(_ index: Int) -> Bool {
    index < tail.count ? tail[index].kind == .descending : isNameDescending
  }
}

extension Predicate {
  /// Whether it fixes the value of its field.
  package var isEquality: Bool {
    if case .equal = test { return true }
    return false
  }

  /// The values, as an index has them in ascending direction, that are in ranges and satisfy it.
  package func narrowed(_ ranges: KeyRanges) -> KeyRanges {
    switch test {
    case .contains: return ranges
    case .equal(let value): return ranges.intersection(KeyRange(prefix: IndexEncoder.encode(value)))
    case .notIn(let values):
      if values.contains(.null) { return .none }
      return ([.null] + values).reduce(ranges) { $0.subtracting(prefix: IndexEncoder.encode($1)) }
    case .compare(let relation, let operand): return ranges.intersection(Self.range(relation, operand))
    }
  }

  /// The values of an operand's type that have a relation to it.
  private static func range(_ relation: Relation, _ operand: Value) -> KeyRange {
    let tags = IndexEncoder.tags(besides: operand)
    let bytes = IndexEncoder.encode(operand)
    let after = KeyRange(prefix: bytes).upper
    return switch relation {
    case .less: KeyRange(from: [tags.lowerBound], to: bytes)
    case .lessOrEqual: KeyRange(from: [tags.lowerBound], to: after)
    case .greater: KeyRange(from: after ?? bytes, to: [tags.upperBound])
    case .greaterOrEqual: KeyRange(from: bytes, to: [tags.upperBound])
    }
  }

  /// The names that are in ranges and satisfy it.
  package func narrowed(_ ranges: KeyRanges, _ names: NameCoding) -> KeyRanges {
    switch test {
    case .contains: return ranges
    case .equal(let value):
      guard let path = value.documentPath, let name = names.exact(path) else { return .none }
      return ranges.intersection(KeyRange(prefix: name))
    case .notIn(let values):
      let others = values.compactMap { $0.documentPath.flatMap(names.exact) }
      return others.reduce(ranges) { $0.subtracting(prefix: $1) }
    case .compare(let relation, let value):
      guard let path = value.documentPath else { return .none }
      return ranges.intersection(names.range(relation, path))
    }
  }
}

extension Value {
  /// The path of the document that a reference names; `nil` for other values.
  package var documentPath: ResourcePath? {
    guard case .reference(let name) = self else { return nil }
    return (try? ResourceName(document: name))?.path
  }
}
