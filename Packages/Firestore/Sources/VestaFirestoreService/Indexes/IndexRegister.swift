import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// The rows of a database's indexes, and what a transaction does to them.
struct IndexRegister: Sendable {
  let keys: DocumentDatabaseKeys
  /// The shapes that are declared: they do not count, and never go.
  let declared: Set<IndexShape>
  /// The maximum number of automatic indexes of a collection.
  let most: Int
  /// The number of entries of a dropped index that are deleted together.
  let sweepStep: Int

  /// A part of the entries of a dropped index.
  struct Step: Sendable {
    var index: IndexCatalogue.Index
    /// The keys to delete; `nil` when none are left, and the row is deleted.
    var range: KeyRange?
  }

  /// The same where other shapes are declared.
  func declaring(_ shapes: Set<IndexShape>) -> IndexRegister {
    IndexRegister(keys: keys, declared: shapes, most: most, sweepStep: sweepStep)
  }

  func all(in reader: any StoreReader) async throws -> [IndexCatalogue.Index] {
    try await reader.entries(in: KeyRange(prefix: keys.indexes)).map { entry in
      var decoder = KeyDecoder(entry.key, from: keys.indexes.count)
      return IndexCatalogue.Index(id: try decoder.int(), row: try IndexRow(entry.value))
    }
  }

  /// The numbers of indexes; missing ones are added, and writes maintain them from then on.
  ///
  /// - Parameter used: When indexes were used, in addition to their rows.
  /// - Returns: For each shape its number; `nil` where the collection has enough indexes, and all are used.
  @discardableResult
  func register(
    _ shapes: [IndexShape], used: [Int64: Int64], in transaction: any StoreTransaction
  ) async throws -> [Int64?] {
    var catalogue = try await catalogue(in: transaction)
    let before = catalogue
    var known = try await all(in: transaction).filter { $0.row.progress != .leaving }
    var numbers: [Int64?] = []
    for shape in shapes {
      if let index = known.first(where: { $0.row.shape == shape }) {
        numbers.append(index.row.isMaintained ? index.id : nil)
        continue
      }
      // The time of the store, which all engines share.
      let now = try await transaction.commitVersion().microseconds
      guard try await makeRoom(for: shape, among: &known, used, now, in: transaction) else {
        numbers.append(nil)
        continue
      }
      // The catalogue's versions are never used twice, and so neither are the numbers of indexes.
      catalogue += 1
      let row = IndexRow(shape: shape, progress: .building(after: nil), lastUsed: now)
      try await transaction.put(try row.bytes, for: keys.index(catalogue))
      numbers.append(catalogue)
      known.append(IndexCatalogue.Index(id: catalogue, row: row))
    }
    if catalogue != before { try await transaction.put(NumberRow.bytes(catalogue), for: keys.catalogue) }
    return numbers
  }

  /// Lets the least recently used index of a collection go, where it has as many as it may have.
  ///
  /// - Returns: Whether there is room.
  private func makeRoom(
    for shape: IndexShape, among known: inout [IndexCatalogue.Index], _ used: [Int64: Int64], _ now: Int64,
    in transaction: any StoreTransaction
  ) async throws -> Bool {
    if declared.contains(shape) { return true }
    let others = known.filter {
      $0.row.shape.collectionID == shape.collectionID && !declared.contains($0.row.shape) && $0.row.isMaintained
    }
    if others.count < most { return true }
    func lastUse(_ index: IndexCatalogue.Index) -> Int64 { max(index.row.lastUsed, used[index.id] ?? 0) }
    guard let oldest = others.min(by: { lastUse($0) < lastUse($1) }), now - lastUse(oldest) > IndexKeeper.hour else {
      return false
    }
    try await put(.leaving, oldest, in: transaction)
    known.removeAll { $0.id == oldest.id }
    return true
  }

  /// Whether an index is being made.
  func isUnfinished(_ id: Int64, in reader: any StoreReader) async throws -> Bool {
    guard let bytes = try await reader.get(keys.index(id)), case .building = try IndexRow(bytes).progress else {
      return false
    }
    return true
  }

  /// Notes when indexes were used, and lets those go that have not been for a lifetime.
  ///
  /// A use in the future, from a clock that was ahead, counts as one of now.
  func age(_ used: [Int64: Int64], lifetime: Int64, in transaction: any StoreTransaction) async throws {
    let now = try await transaction.commitVersion().microseconds
    for var index in try await all(in: transaction) where index.row.progress != .leaving {
      // Others may have noted a later use.
      index.row.lastUsed = min(max(index.row.lastUsed, used[index.id] ?? 0), now)
      let isOld = now - index.row.lastUsed > lifetime && !declared.contains(index.row.shape)
      try await put(isOld ? .leaving : index.row.progress, index, in: transaction)
    }
    try await change(in: transaction)
  }

  /// Gives indexes up that a document has too long an entry for.
  func giveUp(_ ids: Set<Int64>, in transaction: any StoreTransaction) async throws {
    for id in ids {
      guard let bytes = try await transaction.get(keys.index(id)) else { continue }
      try await put(.unfit, IndexCatalogue.Index(id: id, row: try IndexRow(bytes)), in: transaction)
    }
    try await change(in: transaction)
  }

  /// Drops indexes with their entries; declared ones begin again, without entries.
  func drop(_ ids: Set<Int64>, in transaction: any StoreTransaction) async throws {
    var again: [IndexShape] = []
    for id in ids.sorted() {
      guard let bytes = try await transaction.get(keys.index(id)) else { continue }
      let row = try IndexRow(bytes)
      try await put(.leaving, IndexCatalogue.Index(id: id, row: row), in: transaction)
      if declared.contains(row.shape) { again.append(row.shape) }
    }
    try await change(in: transaction)
    try await register(again, used: [:], in: transaction)
  }

  /// The next entries to delete; `nil` when no dropped index has any left.
  func step(in reader: any StoreReader) async throws -> Step? {
    for index in try await all(in: reader) where !index.row.isMaintained {
      let range = KeyRange(prefix: keys.entries(ofIndex: index.id))
      var last: [UInt8]?
      _ = try await reader.scan(range, order: .ascending, limit: sweepStep) { key, _ in
        last = key.bytes
        return .next
      }
      if let last { return Step(index: index, range: KeyRange(from: range.lower, to: last + [0])) }
      if index.row.progress == .leaving { return Step(index: index) }
    }
    return nil
  }

  /// Deletes the entries of a step, if the index was not added again.
  func take(_ step: Step, in transaction: any StoreTransaction) async throws {
    guard let bytes = try await transaction.get(keys.index(step.index.id)), try !IndexRow(bytes).isMaintained else {
      return
    }
    if let range = step.range { return try await transaction.deleteRange(range) }
    try await transaction.delete(keys.index(step.index.id))
  }

  private func put(
    _ progress: IndexRow.Progress, _ index: IndexCatalogue.Index, in transaction: any StoreTransaction
  ) async throws {
    var row = index.row
    row.progress = progress
    try await transaction.put(try row.bytes, for: keys.index(index.id))
  }

  /// Notes that the indexes have changed, so that no call uses the previous ones.
  func change(in transaction: any StoreTransaction) async throws {
    try await transaction.put(NumberRow.bytes(try await catalogue(in: transaction) + 1), for: keys.catalogue)
  }

  private func catalogue(in reader: any StoreReader) async throws -> Int64 {
    try NumberRow.number(try await reader.get(keys.catalogue))
  }
}
