import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Finds the subjects that a change may concern, at a cost that does not follow the number of the others.
///
/// Subjects of names are found by name; queries by their collection and, in each alternative of their filter, by the
/// value that a field or an element of an array must equal, or else by the range that a field must be in. The queries
/// found may still not match; a target that is not found cannot.
struct WatchIndex {
  private enum Scope: Hashable {
    case collection(ResourcePath)
    case group(CollectionID)
    case everything
  }

  /// The part of an alternative that can be looked up; the stricter one first.
  private enum Mark: Hashable {
    case equal(FieldPath, [UInt8])
    case contains(FieldPath, [UInt8])
    case range(FieldPath, ClosedInterval<EncodedValue>)
    case nothing
  }

  private struct Bucket {
    var plain: Set<Int> = []
    var values: [FieldPath: [[UInt8]: Set<Int>]] = [:]
    var elements: [FieldPath: [[UInt8]: Set<Int>]] = [:]
    var ranges: [FieldPath: IntervalTree<EncodedValue, Int>] = [:]

    var isEmpty: Bool { plain.isEmpty && values.isEmpty && elements.isEmpty && ranges.isEmpty }
  }

  private var documents: [PathKey: Set<Int>] = [:]
  private var buckets: [Scope: Bucket] = [:]

  var isEmpty: Bool { documents.isEmpty && buckets.isEmpty }

  mutating func insert(_ id: Int, _ subject: WatchSubject) {
    switch subject {
    case .documents(let pathKeys): for pathKey in pathKeys { documents[pathKey, default: []].insert(id) }
    case .query(let query):
      let scope = WatchIndex.scope(query)
      for mark in WatchIndex.marks(query) {
        switch mark {
        case .equal(let path, let value):
          buckets[scope, default: Bucket()].values[path, default: [:]][value, default: []].insert(id)
        case .contains(let path, let value):
          buckets[scope, default: Bucket()].elements[path, default: [:]][value, default: []].insert(id)
        case .range(let path, let interval):
          buckets[scope, default: Bucket()].ranges[path, default: IntervalTree()].insert(id, interval)
        case .nothing: buckets[scope, default: Bucket()].plain.insert(id)
        }
      }
    }
  }

  mutating func remove(_ id: Int, _ subject: WatchSubject) {
    switch subject {
    case .documents(let pathKeys): for pathKey in pathKeys { documents.remove(id, under: pathKey) }
    case .query(let query):
      let scope = WatchIndex.scope(query)
      for mark in WatchIndex.marks(query) {
        switch mark {
        case .equal(let path, let value):
          buckets[scope]?.values[path]?.remove(id, under: value)
          if buckets[scope]?.values[path]?.isEmpty == true { buckets[scope]?.values[path] = nil }
        case .contains(let path, let value):
          buckets[scope]?.elements[path]?.remove(id, under: value)
          if buckets[scope]?.elements[path]?.isEmpty == true { buckets[scope]?.elements[path] = nil }
        case .range(let path, let interval):
          buckets[scope]?.ranges[path]?.remove(id, interval)
          if buckets[scope]?.ranges[path]?.isEmpty == true { buckets[scope]?.ranges[path] = nil }
        case .nothing: buckets[scope]?.plain.remove(id)
        }
      }
      if buckets[scope]?.isEmpty == true { buckets[scope] = nil }
    }
  }

  /// The subjects that a document may be in, as it was or as it is.
  func candidates(_ pathKey: PathKey, _ path: ResourcePath, _ states: [Document]) -> Set<Int> {
    var found = documents[pathKey] ?? []
    for scope in [Scope.collection(path.parent), .group(path.parent.collectionID), .everything] {
      guard let bucket = buckets[scope] else { continue }
      found.formUnion(bucket.plain)
      for state in states { WatchIndex.collect(state, from: bucket, into: &found) }
    }
    return found
  }

  private static func collect(_ document: Document, from bucket: Bucket, into found: inout Set<Int>) {
    for (field, values) in bucket.values {
      guard let value = document.value(at: field) else { continue }
      if let ids = values[IndexEncoder.encode(value)] { found.formUnion(ids) }
    }
    for (field, elements) in bucket.elements {
      guard case .array(let array)? = document.value(at: field) else { continue }
      for element in array {
        if let ids = elements[IndexEncoder.encode(element)] { found.formUnion(ids) }
      }
    }
    for (field, tree) in bucket.ranges {
      guard let value = document.value(at: field) else { continue }
      tree.visit(EncodedValue(value)) { found.insert($0) }
    }
  }

  private static func scope(_ query: NormalQuery) -> Scope {
    guard let id = query.collectionID else { return .everything }
    return query.allDescendants ? .group(id) : .collection(query.parent.path.appending(id))
  }

  /// The mark of each alternative; with one that has no mark the others have no use.
  private static func marks(_ query: NormalQuery) -> Set<Mark> {
    let marks = Set(query.filter.conjunctions.map(mark))
    return marks.contains(.nothing) ? [.nothing] : marks
  }

  private static func mark(_ conjunction: [Predicate]) -> Mark {
    for case (let path, .equal(let value)) in conjunction.map({ ($0.path, $0.test) }) {
      return .equal(path, IndexEncoder.encode(value))
    }
    for case (let path, .contains(let value)) in conjunction.map({ ($0.path, $0.test) }) {
      return .contains(path, IndexEncoder.encode(value))
    }
    return range(conjunction).map { .range($0, $1) } ?? .nothing
  }

  /// The first field that is compared, and what it must be between.
  private static func range(_ conjunction: [Predicate]) -> (FieldPath, ClosedInterval<EncodedValue>)? {
    var interval = ClosedInterval<EncodedValue>(lower: nil, upper: nil)
    var field: FieldPath?
    for predicate in conjunction where field == nil || predicate.path == field {
      guard case .compare(let relation, let value) = predicate.test else { continue }
      field = predicate.path
      let bound = EncodedValue(value)
      switch relation {
      case .greater, .greaterOrEqual: interval.lower = interval.lower.map { max($0, bound) } ?? bound
      case .less, .lessOrEqual: interval.upper = interval.upper.map { min($0, bound) } ?? bound
      }
    }
    return field.map { ($0, interval) }
  }
}

/// A value as indexes encode it: its bytes are in the order of values.
private struct EncodedValue: Hashable, Comparable {
  let bytes: [UInt8]

  init(_ value: Value) { bytes = IndexEncoder.encode(value) }

  static func < (left: EncodedValue, right: EncodedValue) -> Bool {
    UTF8Order.compare(bytes: left.bytes, right.bytes) < 0
  }
}

extension Dictionary where Value == Set<Int> {
  fileprivate mutating func remove(_ id: Int, under key: Key) {
    self[key]?.remove(id)
    if self[key]?.isEmpty == true { self[key] = nil }
  }
}
