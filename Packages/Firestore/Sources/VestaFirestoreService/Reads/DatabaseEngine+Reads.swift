import FirestoreInterop
import FirestoreModel

extension DatabaseEngine {
  /// Reads documents by name, in batches, at one moment.
  func batchGet(
    _ request: BatchGetDocumentsRequest, receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    let paths = try request.mask.map { try FieldMaskRules.paths($0.fieldPaths) }
    let wanted = try targets(of: request.documents)
    try await reading(request.consistency, locking: wanted.map(\.place)) { context in
      let readTime = context.snapshot.readTime
      var transaction = context.newTransaction
      if wanted.isEmpty {
        try await receive(BatchGetDocumentsResponse(transaction: transaction, readTime: readTime))
      }
      for start in stride(from: 0, to: wanted.count, by: 256) {
        let batch = wanted[start..<min(start + 256, wanted.count)]
        let rows = try await context.snapshot.rows(at: batch.map(\.place))
        for (target, bytes) in zip(batch, rows) {
          let row = try bytes.map { (bytes) throws(FirestoreError) in try DocumentRow(bytes) }
          context.note(target.place, row)
          let name = target.name.description
          var result = BatchGetDocumentsResponse.Result.missing(name)
          if let row {
            let fields = paths.map { row.fields.projected(to: $0) } ?? row.fields
            result = .found(row.document(named: name, fields: fields))
          }
          try await receive(
            BatchGetDocumentsResponse(result: result, transaction: transaction, readTime: readTime))
          transaction = nil
        }
      }
    }
  }

  /// The documents that are asked for, each once, in the order of the request.
  private func targets(of names: [String]) throws -> [(name: ResourceName, place: Place)] {
    var seen: Set<Place> = []
    var targets: [(name: ResourceName, place: Place)] = []
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
