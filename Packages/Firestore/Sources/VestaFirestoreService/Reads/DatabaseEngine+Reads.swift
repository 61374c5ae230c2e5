import FirestoreInterop
import FirestoreModel

extension DatabaseEngine {
  /// Reads documents by name, in batches, at one moment.
  func batchGet(
    _ request: BatchGetDocumentsRequest, receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    let paths = try request.mask.map { try FieldMaskRules.paths($0.fieldPaths) }
    var seen: Set<Place> = []
    var wanted: [(name: ResourceName, place: Place)] = []
    for text in request.documents {
      let name = try ResourceName(document: text)
      guard name.database == self.name else {
        throw FirestoreError.refused("\"\(text)\" is not in the database of the request, \(self.name).")
      }
      let place = Place(name.path)
      if seen.insert(place).inserted { wanted.append((name, place)) }
    }
    try await reading(request.consistency, locking: wanted.map(\.place)) { context in
      let readTime = context.snapshot.readTime
      var transaction = context.newTransaction
      if wanted.isEmpty {
        try await receive(BatchGetDocumentsResponse(transaction: transaction, readTime: readTime))
      }
      for start in stride(from: 0, to: wanted.count, by: 256) {
        let batch = wanted[start..<min(start + 256, wanted.count)]
        let documents = try await context.snapshot.documents(at: batch.map(\.place))
        for (target, stored) in zip(batch, documents) {
          context.note(target.place, stored?.row)
          var result = BatchGetDocumentsResponse.Result.missing(target.name.description)
          if let stored {
            var document = stored.document(in: self.name)
            if let paths { document.fields = document.fields.projected(to: paths) }
            result = .found(document)
          }
          try await receive(
            BatchGetDocumentsResponse(result: result, transaction: transaction, readTime: readTime))
          transaction = nil
        }
      }
    }
  }
}
