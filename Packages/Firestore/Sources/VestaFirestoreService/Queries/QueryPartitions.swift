import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Finds names that split the documents of a group into parts of about the same size.
///
/// Of a small group every name is looked at. Of a large one, keys are guessed between known ones and the next name
/// after each guess is taken, so the cost follows the number of parts and not the group. Which names they are does not
/// matter for the results: any names split a query.
struct QueryPartitions {
  private let keys: DocumentDatabaseKeys
  private let reader: any StoreReader
  private let collectionID: CollectionID
  /// The index of the group by name; `nil` while there is none, when documents of all collections are looked at.
  private let index: IndexCatalogue.Index?

  /// The number of rows that are looked at one by one.
  private let countedNames: Int

  init(_ query: NormalQuery, in snapshot: Snapshot, _ catalogue: IndexCatalogue) {
    keys = snapshot.keys
    reader = snapshot.reader.yielding
    countedNames = snapshot.tuning.queries.countedNames
    let collectionID = query.collectionID ?? ""
    self.collectionID = collectionID
    let shape = IndexShape(collectionID: collectionID, isGroup: true, parts: [])
    index = catalogue.byShape[shape].flatMap { $0.row.isReady ? $0 : nil }
  }

  /// At most a number of names, in order.
  func names(_ count: Int) async throws -> [ResourcePath] {
    let range = KeyRange(prefix: index.map { keys.entries(ofIndex: $0.id) } ?? keys.documents)
    let (some, isAll) = try await first(countedNames, in: range)
    let found = isAll ? some : try await sampled(count, in: range)
    let paths = Set(try found.map { try $0.path() }.filter { $0.parent.collectionID == collectionID })
    let sorted = paths.sorted()
    // The first part begins with the first name, so no part ends there.
    let inner = sorted.dropFirst()
    guard inner.count > count else { return Array(inner) }
    return (1...count).map { sorted[$0 * sorted.count / (count + 1)] }
  }

  /// The first documents of the group, and whether there are no more rows.
  private func first(_ count: Int, in range: KeyRange) async throws -> (pathKeys: [PathKey], isAll: Bool) {
    var pathKeys: [PathKey] = []
    let end = try await reader.scan(range, order: .ascending, limit: count) { key, value in
      pathKeys.append(self.pathKey(key, value))
      return .next
    }
    return (pathKeys, end.visited < count)
  }

  /// Documents of the group from all over the range.
  private func sampled(_ count: Int, in range: KeyRange) async throws -> [PathKey] {
    guard let first = try await row(in: range, .ascending), let last = try await row(in: range, .descending) else {
      return []
    }
    var samples = [first, last]
    var gaps = [(first.key, last.key)]
    // Twice as many as parts, so that uneven ones can be passed over.
    while samples.count < 2 * (count + 1), !gaps.isEmpty {
      var next: [([UInt8], [UInt8])] = []
      for (low, high) in gaps {
        let middle = KeyGuess.middle(low, high)
        // The documents on both sides of the guess: the gap in between is not read again.
        let before = try await row(in: KeyRange(from: low, to: middle), .descending)
        let behind = try await row(in: KeyRange(from: middle, to: high), .ascending)
        if let before, before.key != low {
          if behind == nil { samples.append(before) }
          next.append((low, before.key))
        }
        if let behind, behind.key != low {
          samples.append(behind)
          next.append((behind.key, high))
        }
      }
      gaps = next
    }
    return samples.map(\.pathKey)
  }

  /// The first row of a range, or the last one.
  private func row(in range: KeyRange, _ order: ScanOrder) async throws -> (key: [UInt8], pathKey: PathKey)? {
    var found: (key: [UInt8], pathKey: PathKey)?
    _ = try await reader.scan(range, order: order, limit: 1) { key, value in
      found = (key.bytes, self.pathKey(key, value))
      return .stop
    }
    return found
  }

  private func pathKey(_ key: RawSpan, _ value: RawSpan) -> PathKey {
    index == nil ? keys.pathKey(ofDocumentKey: key.bytes) : EntryValue.pathKey(value.bytes)
  }
}

/// Guesses keys.
enum KeyGuess {
  /// A key about halfway between two others.
  static func middle(_ low: [UInt8], _ high: [UInt8]) -> [UInt8] {
    let common = zip(low, high).prefix { $0 == $1 }.count
    func number(_ key: [UInt8]) -> UInt64 {
      (0..<8).reduce(0) { $0 << 8 | UInt64(common + $1 < key.count ? key[common + $1] : 0) }
    }
    let (first, last) = (number(low), number(high))
    let middle = first + (max(first, last) - first) / 2
    return Array(low[..<common]) + (0..<8).map { UInt8(truncatingIfNeeded: middle >> UInt64(56 - 8 * $0)) }
  }
}

extension QueryPartitions {
  /// Checks what can be split.
  ///
  /// - Throws: `INVALID_ARGUMENT`.
  static func check(_ query: NormalQuery, _ request: PartitionQueryRequest) throws(FirestoreServiceError) {
    guard query.allDescendants, query.collectionID != nil else {
      throw .refused("PartitionQuery is only supported for collection group queries.")
    }
    guard query.orders.count == 1, !query.orders[0].descending, query.filter.conjunctions == [[]] else {
      throw .refused("PartitionQuery only supports queries without filters that are ordered by __name__ ASCENDING.")
    }
    guard query.startAt == nil, query.endAt == nil, query.offset == 0, query.limit == nil, query.findNearest == nil
    else { throw .refused("PartitionQuery does not support cursors, offset, limit and find_nearest.") }
    guard request.partitionCount > 0 else { throw .refused("partition_count must be greater than zero.") }
    guard request.pageSize >= 0 else { throw .refused("page_size cannot be negative.") }
  }

  /// The number of cursors of the pages before, and the last one.
  ///
  /// A name and no number of a page: then pages fit together although documents are added and deleted between them.
  static func position(_ values: [Value]?) throws(FirestoreServiceError) -> (returned: Int, last: ResourcePath?) {
    guard let values else { return (0, nil) }
    guard values.count == 2, case .integer(let count) = values[0], case .string(let path) = values[1] else {
      throw DocumentPages.invalid
    }
    return (Int(clamping: count), ResourcePath(splitting: path))
  }
}
