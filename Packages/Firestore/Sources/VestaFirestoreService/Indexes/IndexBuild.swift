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
    var scan = GroupScan(row.shape.collectionID, range: range, keys: keys)
    for document in try await scan.next(IndexBuild.chunk, in: transaction) ?? [] {
      try await add(document, to: row.shape, in: transaction)
    }
    let last = scan.rest == nil ? nil : scan.last
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

  private func add(_ document: StoreEntry, to shape: IndexShape, in transaction: any StoreTransaction) async throws {
    let place = keys.place(ofDocumentKey: document.key)
    let prefix = keys.entries(ofIndex: id)
    let fields = try DocumentRow(document.value).fields
    for (entry, value) in shape.entries(try place.path(), fields, at: place) {
      try await transaction.put(value, for: prefix + entry)
    }
  }
}
