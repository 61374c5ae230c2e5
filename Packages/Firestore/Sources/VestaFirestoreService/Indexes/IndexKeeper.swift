import FirestoreInterop
import FirestoreModel
import StoreInterop
import VestaConcurrency

/// Makes the indexes that queries ask for, lets writes maintain them, and drops those that nobody uses.
///
/// An index is registered first: from that commit on every write maintains it. Then documents are added in chunks, each a
/// transaction that also notes how far it came; so a build goes on after a restart. Then it is ready, and queries use it.
final class IndexKeeper: Sendable {
  private struct State: Sendable {
    var catalogue: IndexCatalogue?
    var building: [IndexShape: Task<Void, Never>] = [:]
    var lastCheck: Int64 = 0
    var aging: Task<Void, Never>?
    var isClosed = false
  }

  private static let chunk = 200
  private static let hour: Int64 = 3_600_000_000

  private let state = Locked(State())
  private let store: any OrderedStore
  private let keys: DatabaseKeys
  private let options: FirestoreServiceOptions
  let exemptions = IndexExemptions()

  init(store: any OrderedStore, keys: DatabaseKeys, options: FirestoreServiceOptions) {
    self.store = store
    self.keys = keys
    self.options = options
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// The indexes as a reader's head has them.
  func catalogue(_ head: Head, _ reader: any StoreReader) async throws -> IndexCatalogue {
    if let known = state.withLock({ $0.catalogue }), known.version == head.catalogue { return known }
    let indexes = try await reader.entries(in: KeyRange(prefix: keys.indexes)).map { entry in
      var decoder = KeyDecoder(entry.key, from: keys.indexes.count)
      return IndexCatalogue.Index(id: try decoder.int(), row: try IndexRow(entry.value))
    }
    let catalogue = IndexCatalogue(version: head.catalogue, indexes)
    state.withLock { state in
      if state.catalogue.map({ $0.version < catalogue.version }) ?? true { state.catalogue = catalogue }
    }
    for index in indexes where !index.row.isReady { build(index.row.shape) }
    return catalogue
  }

  /// Notes that queries have use for an index, once in an hour.
  func use(_ index: IndexCatalogue.Index) {
    let now = options.now()
    guard now - index.row.lastUsed > IndexKeeper.hour else { return }
    state.withLock { state in
      guard now - state.lastCheck > IndexKeeper.hour, !state.isClosed else { return }
      state.lastCheck = now
      state.aging = Task.detached { try? await self.age(using: index.id, now: now) }
    }
  }

  /// Makes an index in the background; nothing happens while it is being made.
  func build(_ shape: IndexShape) {
    state.withLock { state in
      guard !state.isClosed, state.building[shape] == nil else { return }
      // Detached: a build may be asked for from within a transaction, and is no part of it.
      state.building[shape] = Task.detached {
        // A failure leaves the index unfinished; the next query that wants it goes on.
        try? await self.run(shape)
        self.state.withLock { $0.building[shape] = nil }
      }
    }
  }

  /// Waits until no index is being made or dropped.
  func settle() async {
    await state.withLock { $0.aging }?.value
    while let task = state.withLock({ $0.building.values.first }) { await task.value }
  }

  private func run(_ shape: IndexShape) async throws {
    let id = try await register(shape)
    while try await !addChunk(to: id) {
      if state.withLock({ $0.isClosed }) { return }
    }
  }

  private func register(_ shape: IndexShape) async throws -> Int64 {
    let (keys, now) = (keys, options.now())
    return try await store.write { transaction in
      guard let bytes = try await transaction.get(keys.head) else { throw FirestoreError.damaged }
      var head = try Head(bytes)
      for entry in try await transaction.entries(in: KeyRange(prefix: keys.indexes)) {
        var decoder = KeyDecoder(entry.key, from: keys.indexes.count)
        if try IndexRow(entry.value).shape == shape { return try decoder.int() }
      }
      // The catalogue's versions are never used twice, and so neither are the numbers of indexes.
      head.catalogue += 1
      let row = IndexRow(shape: shape, progress: .building(after: nil), lastUsed: now)
      try await transaction.put(row.bytes, for: keys.index(head.catalogue))
      try await transaction.put(head.bytes, for: keys.head)
      return head.catalogue
    }.value
  }

  /// Adds the next documents to an index; `true` when there are no more.
  private func addChunk(to id: Int64) async throws -> Bool {
    let keys = keys
    return try await store.write { transaction in
      guard let bytes = try await transaction.get(keys.index(id)), let headBytes = try await transaction.get(keys.head)
      else { return true }
      var row = try IndexRow(bytes)
      guard case .building(let place) = row.progress else { return true }
      var range = KeyRange(prefix: keys.documents)
      if let place { range = range.after(keys.document(place)) }
      let documents = try await transaction.entries(in: range, limit: IndexKeeper.chunk)
      for document in documents {
        let place = keys.place(ofDocumentKey: document.key)
        let path = try place.path()
        guard UTF8Order.equal(path.parent.lastSegment, row.shape.collectionID) else { continue }
        let prefix = keys.entries(ofIndex: id)
        for (entry, value) in row.shape.entries(path, try DocumentRow(document.value).fields, at: place) {
          try await transaction.put(value, for: prefix + entry)
        }
      }
      let isDone = documents.count < IndexKeeper.chunk
      if isDone {
        var head = try Head(headBytes)
        head.catalogue += 1
        row.progress = .ready
        try await transaction.put(head.bytes, for: keys.head)
      } else if let last = documents.last {
        row.progress = .building(after: keys.place(ofDocumentKey: last.key))
      }
      try await transaction.put(row.bytes, for: keys.index(id))
      return isDone
    }.value
  }

  /// Notes that an index was used, and drops those that have not been for too long.
  private func age(using id: Int64, now: Int64) async throws {
    let (keys, lifetime) = (keys, options.indexLifetime * 1_000_000)
    try await store.write { transaction in
      guard let bytes = try await transaction.get(keys.head) else { return }
      var head = try Head(bytes)
      head.catalogue += 1
      for entry in try await transaction.entries(in: KeyRange(prefix: keys.indexes)) {
        var decoder = KeyDecoder(entry.key, from: keys.indexes.count)
        let number = try decoder.int()
        var row = try IndexRow(entry.value)
        if number == id {
          row.lastUsed = now
          try await transaction.put(row.bytes, for: entry.key)
        } else if now - row.lastUsed > lifetime {
          try await transaction.delete(entry.key)
          try await transaction.deleteRange(KeyRange(prefix: keys.entries(ofIndex: number)))
        }
      }
      try await transaction.put(head.bytes, for: keys.head)
    }
  }

  /// Brings the entries of a changed document along, in its commit.
  func maintain(_ change: CommitDraft.Change, _ catalogue: IndexCatalogue, in transaction: any StoreTransaction)
    async throws
  {
    for index in catalogue.indexes(of: change.path.parent.lastSegment) {
      let shape = index.row.shape
      let old = change.original.map { shape.entries(change.path, $0.fields, at: change.place) } ?? [:]
      let new = change.document.map { shape.entries(change.path, $0.fields, at: change.place) } ?? [:]
      let prefix = keys.entries(ofIndex: index.id)
      for entry in old.keys where new[entry] == nil { try await transaction.delete(prefix + entry) }
      for (entry, value) in new where old[entry] != value { try await transaction.put(value, for: prefix + entry) }
    }
  }
}
