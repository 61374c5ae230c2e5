import FirestoreInterop
import FirestoreModel

/// Finds the subjects that a change may concern, at a cost that does not follow the number of the others.
///
/// Subjects of names are found by name; queries by their collection and, where every alternative asks for equality of one
/// field, by that field's value.
struct WatchIndex {
  private enum Scope: Hashable {
    case collection(ResourcePath)
    case group(String)
    case everything
  }

  private struct Bucket {
    var plain: Set<Int> = []
    var byValue: [FieldPath: [[UInt8]: Set<Int>]] = [:]
    var isEmpty: Bool { plain.isEmpty && byValue.isEmpty }
  }

  private var documents: [Place: Set<Int>] = [:]
  private var buckets: [Scope: Bucket] = [:]

  mutating func insert(_ id: Int, _ subject: WatchSubject) {
    switch subject {
    case .documents(let places): for place in places { documents[place, default: []].insert(id) }
    case .query(let query):
      var bucket = buckets[WatchIndex.scope(query)] ?? Bucket()
      if let (path, values) = WatchIndex.equality(query) {
        for value in values { bucket.byValue[path, default: [:]][value, default: []].insert(id) }
      } else {
        bucket.plain.insert(id)
      }
      buckets[WatchIndex.scope(query)] = bucket
    }
  }

  mutating func remove(_ id: Int, _ subject: WatchSubject) {
    switch subject {
    case .documents(let places):
      for place in places {
        documents[place]?.remove(id)
        if documents[place]?.isEmpty == true { documents[place] = nil }
      }
    case .query(let query):
      guard var bucket = buckets[WatchIndex.scope(query)] else { return }
      bucket.plain.remove(id)
      if let (path, values) = WatchIndex.equality(query) {
        for value in values {
          bucket.byValue[path]?[value]?.remove(id)
          if bucket.byValue[path]?[value]?.isEmpty == true { bucket.byValue[path]?[value] = nil }
        }
        if bucket.byValue[path]?.isEmpty == true { bucket.byValue[path] = nil }
      }
      buckets[WatchIndex.scope(query)] = bucket.isEmpty ? nil : bucket
    }
  }

  /// The subjects that a document may be in, as it was or as it is.
  func candidates(_ place: Place, _ path: ResourcePath, _ states: [Document]) -> Set<Int> {
    var found = documents[place] ?? []
    for scope in [Scope.collection(path.parent), .group(path.parent.lastSegment), .everything] {
      guard let bucket = buckets[scope] else { continue }
      found.formUnion(bucket.plain)
      for (field, byValue) in bucket.byValue {
        for case let value? in states.map({ $0.value(at: field) }) {
          if let ids = byValue[IndexEncoder.encode(value)] { found.formUnion(ids) }
        }
      }
    }
    return found
  }

  private static func scope(_ query: NormalQuery) -> Scope {
    guard let id = query.collectionID else { return .everything }
    return query.allDescendants ? .group(id) : .collection(query.parent.path.appending(id))
  }

  /// A field that every alternative wants to equal something, and what.
  private static func equality(_ query: NormalQuery) -> (FieldPath, [[UInt8]])? {
    for case (let path, .equal)? in query.filter.conjunctions.first?.map({ ($0.path, $0.test) }) ?? [] {
      let values = query.filter.conjunctions.compactMap { conjunction in
        conjunction.lazy.compactMap { predicate -> [UInt8]? in
          guard predicate.path == path, case .equal(let value) = predicate.test else { return nil }
          return IndexEncoder.encode(value)
        }.first
      }
      if values.count == query.filter.conjunctions.count { return (path, values) }
    }
    return nil
  }
}
