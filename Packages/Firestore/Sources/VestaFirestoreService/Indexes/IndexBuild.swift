import FirestoreInterop
import FirestoreModel
import StoreInterop

/// One step of making an index: a transaction that adds the next documents and notes how far it came.
struct IndexBuild {
  private let keys: DatabaseKeys
  private let id: Int64

  /// How many rows a step looks at; writes wait for it meanwhile.
  private static let chunk = 200

  init(of id: Int64, keys: DatabaseKeys) {
    self.id = id
    self.keys = keys
  }

  /// Adds the next documents; `true` when there are no more, or the index has gone.
  func step(in transaction: any StoreTransaction) async throws -> Bool {
    guard let bytes = try await transaction.get(keys.index(id)), let headBytes = try await transaction.get(keys.head)
    else { return true }
    var row = try IndexRow(bytes)
    guard case .building(let place) = row.progress else { return true }
    var range = KeyRange(prefix: keys.documents)
    if let place { range = range.after(keys.document(place)) }
    let last = try await add(from: range, of: row.shape, in: transaction)
    if let last {
      row.progress = .building(after: last)
    } else {
      var head = try Head(headBytes)
      head.catalogue += 1
      row.progress = .ready
      try await transaction.put(head.bytes, for: keys.head)
    }
    try await transaction.put(row.bytes, for: keys.index(id))
    return last == nil
  }

  /// Adds documents of the beginning of a range; the documents of other collections are jumped over.
  ///
  /// - Returns: The place that it came to; `nil` at the end.
  private func add(
    from range: KeyRange, of shape: IndexShape, in transaction: any StoreTransaction
  ) async throws -> Place? {
    var budget = IndexBuild.chunk
    var rest: KeyRange? = range
    var last: Place?
    while let part = rest {
      if budget <= 0 { return last }
      var documents: [StoreEntry] = []
      var foreign: ResourcePath?
      // The collection that the scan is in, by how its keys begin.
      var known: [UInt8] = []
      let end = try await transaction.scan(part, order: .ascending, limit: budget) { key, value in
        let key = key.bytes
        if known.isEmpty || !key.starts(with: known) {
          let collection = try keys.place(ofDocumentKey: key).path().parent
          known = keys.documents(of: collection).lower
          if !UTF8Order.equal(collection.lastSegment, shape.collectionID) { foreign = collection }
        }
        last = keys.place(ofDocumentKey: key)
        if foreign != nil { return .stop }
        documents.append(StoreEntry(key: key, value: value.bytes))
        return .next
      }
      budget -= max(end.visited, 1)
      for document in documents { try await add(document, to: shape, in: transaction) }
      rest = foreign.map { KeyRange(from: keys.documents(of: $0).upper ?? part.lower, to: part.upper) } ?? end.rest
    }
    return nil
  }

  private func add(_ document: StoreEntry, to shape: IndexShape, in transaction: any StoreTransaction) async throws {
    let place = keys.place(ofDocumentKey: document.key)
    let prefix = keys.entries(ofIndex: id)
    let fields = try DocumentRow(document.value).fields
    for (entry, value) in shape.entries(try place.path(), fields, at: place) {
      try await transaction.put(value, for: prefix + entry)
    }
  }
}
