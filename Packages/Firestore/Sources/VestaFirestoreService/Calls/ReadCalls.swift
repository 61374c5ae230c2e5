import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

extension FirestoreCall {
  private typealias Wanted = (name: ResourceName, pathKey: PathKey)

  /// Reads documents by name, in batches, at one read time.
  func batchGet(
    _ request: BatchGetDocumentsRequest, receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    let paths = try request.mask.map { try FieldMaskRules.paths($0.fieldPaths) }
    if case .latest = request.consistency, request.documents.count == 1 {
      return try await get(request.documents[0], paths, receive: receive)
    }
    let guarded = guarded
    let wanted = try targets(of: request.documents)
    var rest = wanted[...]
    // The first look settles the version; the others go back to it. Nothing is handed out inside of one.
    var first = rest.prefix(options.tuning.queries.scannedTogether)
    rest = rest.dropFirst(options.tuning.queries.scannedTogether)
    let scope = ChangeScope.pathKeys(Set(first.map(\.pathKey)))
    let isLatest = if case .latest = request.consistency { true } else { false }
    typealias Page = (rows: [DocumentRow?], context: KeptContext)
    let start = first
    let page = try await reading(request.consistency, scope, locking: wanted.map(\.pathKey)) { context -> Page in
      (try await self.rows(of: start, guarded, in: context.snapshot), context.kept)
    }
    var rows = page.rows
    let context = page.context
    var transaction = context.newTransaction
    if wanted.isEmpty {
      // Clients take each response for a document or for the begin of a transaction.
      guard transaction != nil else { return }
      try checkDeadline(beginning: transaction)
      try await receive(BatchGetDocumentsResponse(transaction: transaction, readTime: context.readTime))
    }
    let pace = ReadingPace()
    while true {
      context.note(zip(first, rows).map { ($0.pathKey, $1) })
      for (target, row) in zip(first, rows) {
        let name = target.name.description
        if isLatest, let row { noteRead(row, RecentDocuments.Key(name: name), at: context.version) }
        let result = Self.result(name, row, paths)
        await pace.read(1)
        try checkDeadline(beginning: transaction)
        try await receive(
          BatchGetDocumentsResponse(result: result, transaction: transaction, readTime: context.readTime))
        transaction = nil
      }
      if rest.isEmpty { return }
      first = rest.prefix(options.tuning.queries.scannedTogether)
      rest = rest.dropFirst(options.tuning.queries.scannedTogether)
      rows = try await engine.reading(version: context.version, .pathKeys(Set(first.map(\.pathKey)))) { snapshot in
        try await self.rows(of: first, guarded, in: snapshot)
      }
    }
  }

  /// Reads the latest state of one document, as most calls do.
  private func get(
    _ text: String, _ paths: [FieldPath]?, receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    let key = RecentDocuments.Key(name: text)
    let result: BatchGetDocumentsResponse.Result
    let version: Int64
    if let (known, latest) = try await engine.recentDocument(key) {
      var document = known
      if try !engine.isGetAllowedAtOnce(known, context) {
        try await guarded?.get(known.name, known, VersionState(engine: engine, version: latest))
      }
      if let paths { document.fields = document.fields.projected(to: paths) }
      (result, version) = (.found(document), latest)
    } else {
      let name = try target(text)
      let path = name.path
      let pathKey = PathKey(path)
      // Old clients name the default database in two ways.
      let isUsual = text.utf8.dropping(prefix: self.name.documentsPrefix.utf8) != nil
      let full = isUsual ? key : RecentDocuments.Key(name: name.description)
      let guarded = guarded
      let (row, latest) = try await engine.reading(expecting: [keys.document(pathKey)]) { snapshot in
        let row = try await snapshot.row(at: pathKey).map { try DocumentRow($0, of: path) }
        if let guarded {
          let document = row?.document(named: full.name, fields: row?.fields ?? [:])
          try await guarded.get(full.name, document, SnapshotState(snapshot: snapshot))
        }
        return (row, snapshot.version)
      }
      if let row { noteRead(row, full, at: latest) }
      (result, version) = (Self.result(full.name, row, paths), latest)
    }
    try checkDeadline()
    try await receive(
      BatchGetDocumentsResponse(result: result, transaction: nil, readTime: Timestamp(microseconds: version)))
  }

  private func rows(
    of wanted: ArraySlice<Wanted>, _ guarded: GuardedCaller?, in snapshot: Snapshot
  ) async throws -> [DocumentRow?] {
    let rows = try zip(wanted, try await snapshot.rows(at: wanted.map(\.pathKey))).map { target, row in
      try row.map { try DocumentRow($0, of: target.name.path) }
    }
    guard let guarded else { return rows }
    let state = SnapshotState(snapshot: snapshot)
    for (target, row) in zip(wanted, rows) {
      let name = target.name.description
      try await guarded.get(name, row?.document(named: name, fields: row?.fields ?? [:]), state)
    }
    return rows
  }

  /// Notes a read; a document that is read again is kept for the next get.
  private func noteRead(_ row: DocumentRow, _ key: RecentDocuments.Key, at version: Int64) {
    engine.recent.noteRead(key, at: version) {
      let document = row.document(named: key.name, fields: row.fields)
      return (document, DocumentSize.size(of: document))
    }
  }

  private static func result(
    _ name: String, _ row: DocumentRow?, _ paths: [FieldPath]?
  ) -> BatchGetDocumentsResponse.Result {
    guard let row else { return .missing(name) }
    return .found(row.document(named: name, fields: paths.map { row.fields.projected(to: $0) } ?? row.fields))
  }

  /// The documents that are asked for, each once, in the order of the request.
  private func targets(of names: [String]) throws -> [Wanted] {
    var seen: Set<PathKey> = []
    var targets: [Wanted] = []
    targets.reserveCapacity(names.count)
    for text in names {
      let name = try target(text)
      let pathKey = PathKey(name.path)
      if names.count == 1 || seen.insert(pathKey).inserted { targets.append((name, pathKey)) }
    }
    return targets
  }

  /// The document of a name.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a name of another database, and for what is no name.
  private func target(_ text: String) throws -> ResourceName {
    let name = try ResourceName(document: text, likely: self.name)
    guard name.database == self.name else {
      throw FirestoreServiceError.refused("\"\(text)\" is not in the database of the request, \(self.name).")
    }
    return name
  }
}
