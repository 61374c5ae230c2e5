import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

extension DatabaseEngine {
  private typealias Wanted = (name: ResourceName, place: Place)

  private static let batch = 256

  /// Reads documents by name, in batches, at one moment.
  func batchGet(
    _ request: BatchGetDocumentsRequest, receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    let paths = try request.mask.map { try FieldMaskRules.paths($0.fieldPaths) }
    let wanted = try targets(of: request.documents)
    if case .latest = request.consistency, wanted.count <= Self.batch {
      // One look into the store for everything, which is over before anything is handed out.
      let (head, rows) = try await latest(wanted.map(\.place))
      let readTime = Timestamp(microseconds: head.version)
      if wanted.isEmpty { try await receive(BatchGetDocumentsResponse(readTime: readTime)) }
      for (target, row) in zip(wanted, rows) {
        let result = Self.result(target.name, try Self.decoded(row), paths)
        try await receive(BatchGetDocumentsResponse(result: result, readTime: readTime))
      }
      return
    }
    try await reading(request.consistency, locking: wanted.map(\.place)) { context in
      try await answer(wanted, paths, in: context, receive)
    }
  }

  private func answer(
    _ wanted: [Wanted], _ paths: [FieldPath]?, in context: ReadContext,
    _ receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    let readTime = context.snapshot.readTime
    var transaction = context.newTransaction
    if wanted.isEmpty { try await receive(BatchGetDocumentsResponse(transaction: transaction, readTime: readTime)) }
    for start in stride(from: 0, to: wanted.count, by: Self.batch) {
      let batch = wanted[start..<min(start + Self.batch, wanted.count)]
      for (target, bytes) in zip(batch, try await context.snapshot.rows(at: batch.map(\.place))) {
        let row = try Self.decoded(bytes)
        context.note(target.place, row)
        let result = Self.result(target.name, row, paths)
        try await receive(BatchGetDocumentsResponse(result: result, transaction: transaction, readTime: readTime))
        transaction = nil
      }
    }
  }

  /// The latest rows at places, and the head of that moment.
  private func latest(_ places: [Place]) async throws -> (Head, ArraySlice<[UInt8]?>) {
    let wanted = [keys.head] + places.map(keys.document)
    let rows = try await store.read { try await $0.get(wanted) }
    guard let head = rows[0] else { throw FirestoreError.damaged }
    return (try Head(head), rows.dropFirst())
  }

  private static func decoded(_ row: [UInt8]?) throws(FirestoreError) -> DocumentRow? {
    guard let row else { return nil }
    return try DocumentRow(row)
  }

  private static func result(
    _ name: ResourceName, _ row: DocumentRow?, _ paths: [FieldPath]?
  ) -> BatchGetDocumentsResponse.Result {
    guard let row else { return .missing(name.description) }
    return .found(
      row.document(named: name.description, fields: paths.map { row.fields.projected(to: $0) } ?? row.fields))
  }

  /// The documents that are asked for, each once, in the order of the request.
  private func targets(of names: [String]) throws -> [Wanted] {
    var seen: Set<Place> = []
    var targets: [Wanted] = []
    targets.reserveCapacity(names.count)
    for text in names {
      let name = try ResourceName(document: text, likely: self.name)
      guard name.database == self.name else {
        throw FirestoreError.refused("\"\(text)\" is not in the database of the request, \(self.name).")
      }
      let place = Place(name.path)
      if names.count == 1 || seen.insert(place).inserted { targets.append((name, place)) }
    }
    return targets
  }
}
