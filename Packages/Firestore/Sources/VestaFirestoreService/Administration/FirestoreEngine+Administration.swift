import VestaConcurrency
public import VestaFirestoreBackend
import VestaFirestoreModel
public import VestaServiceInterop
import VestaStoreInterop

extension FirestoreEngine: FirestoreAdminBackend {
  /// The full names of the databases.
  public func databases(context: CallContext) async throws(FirestoreServiceError) -> [String] {
    try await administer(context) { databases, _ in try await databases.names() }
  }

  /// Makes a database.
  public func createDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    try await administer(context) { databases, _ in
      guard try await databases.create(try DatabaseName(parsing: database)) else {
        throw FirestoreServiceError(.alreadyExists, "There is a database \(database) already.")
      }
    }
  }

  /// Deletes a database.
  public func deleteDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    try await administer(context) { databases, context in
      let name = try DatabaseName(parsing: database)
      guard try await databases.names().contains(database) else {
        throw FirestoreServiceError(.notFound, "There is no database \(database).")
      }
      let call = FirestoreCall(
        engine: try await databases.engine(.database(database), context, .ofOwners), context: context)
      if try await call.engine.indexes.declaredText() != nil {
        try await call.engine.indexes.declare(try FirestoreIndexes(json: "{}"), as: "{}", if: .any)
      }
      // In this order a document that is written during that stays, and the database with it.
      try await call.clear()
      try await databases.delete(name)
    }
  }

  /// The text of the indexes that were set.
  public func indexes(of database: String, context: CallContext) async throws(FirestoreServiceError) -> String? {
    try await administer(.database(database), context) { try await $0.engine.indexes.declaredText() }
  }

  /// Declares the indexes of a database.
  public func setIndexes(
    _ source: String, of database: String, if condition: IndexesCondition, context: CallContext
  ) async throws(FirestoreServiceError) {
    let indexes: FirestoreIndexes
    do {
      indexes = try FirestoreIndexes(json: source)
    } catch {
      throw FirestoreServiceError(.invalidArgument, "\(error)")
    }
    try await administer(.database(database), context, .administration) {
      try await $0.engine.indexes.declare(indexes, as: source, if: condition)
    }
  }

  /// Deletes the documents of a database.
  public func clear(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    try await administer(.database(database), context) { try await $0.clear() }
  }

  /// Gives every document of a database.
  public func export(
    _ database: String, context: CallContext, to receive: ([Document]) async throws -> Void
  ) async throws {
    let length = try await administer(.database(database), context) { $0.options.tuning.administration.exportLength }
    let query = StructuredQuery(from: [.init(collectionID: "", allDescendants: true)])
    let root = try DatabaseName(parsing: database).documentsPrefix.dropLast()
    var part: [Document] = []
    try await runQuery(RunQueryRequest(parent: String(root), query: query), context: context) { response in
      if let document = response.document { part.append(document) }
      guard part.count >= length else { return }
      try await receive(part)
      part = []
    }
    if !part.isEmpty { try await receive(part) }
  }

  /// Writes documents with their times.
  public func `import`(
    _ database: String, context: CallContext, from next: () async throws -> [Document]?
  ) async throws {
    try await administer(.database(database), context, .administration) { _ in }
    while let documents = try await next() {
      guard !documents.isEmpty else { continue }
      try await administer(.database(database), context, .administration) { call in
        try await call.restore(documents)
      }
    }
  }

  private func administer<Result: Sendable>(
    _ context: CallContext, _ body: @escaping @Sendable (DocumentDatabases, CallContext) async throws -> Result
  ) async throws(FirestoreServiceError) -> Result {
    try await serving(context) { databases, context in
      guard context.isOwner else {
        throw FirestoreServiceError(.permissionDenied, "Missing or insufficient permissions: this call is the owner's.")
      }
      return try await body(databases, context)
    }
  }

  private func administer<Result: Sendable>(
    _ target: CallTarget, _ context: CallContext, _ kind: CallKind = .ofOwners,
    _ body: @escaping @Sendable (FirestoreCall) async throws -> Result
  ) async throws(FirestoreServiceError) -> Result {
    try await administer(context) { databases, context in
      let engine = try await databases.engine(target, context, kind)
      return try await body(FirestoreCall(engine: engine, context: context))
    }
  }
}

extension FirestoreCall {
  /// Deletes all documents that are there now, in the order of their names, some by each commit.
  ///
  /// A document that is written in the meantime at a passed position may stay, and the end is reached in any case.
  fileprivate func clear() async throws {
    var query = StructuredQuery(from: [.init(collectionID: "", allDescendants: true)])
    query.select = ["__name__"]
    query.orderBy = [.init(fieldPath: "__name__")]
    query.limit = Int32(clamping: options.tuning.administration.clearedDocuments)
    let parent = String(name.documentsPrefix.dropLast())
    while true {
      let names = Locked<[String]>([])
      try await runQuery(RunQueryRequest(parent: parent, query: query)) { response in
        if let document = response.document { names.withLock { $0.append(document.name) } }
      }
      let found = names.withLock { $0 }
      guard let last = found.last else { return }
      _ = try await commit(found.map { .delete($0) })
      query.startAt = StructuredQuery.Cursor(values: [.reference(last)], before: false)
    }
  }

  /// Commits documents of an export.
  ///
  /// - Parameter documents: The documents, whose names are of any database.
  fileprivate func restore(_ documents: [Document]) async throws {
    let most = max(1, options.tuning.administration.importedDocuments)
    for start in stride(from: 0, to: documents.count, by: most) {
      let part = documents[start..<min(start + most, documents.count)]
      var (writes, times): ([Write], [ResourcePath: Int64]) = ([], [:])
      for document in part {
        let path = try ResourceName(document: document.name).path
        writes.append(.update(Document(name: name.documentsPrefix + path.description, fields: document.fields)))
        times[path] = document.createTime?.microseconds
      }
      _ = try await commit(writes, restoring: RestoredTimes(creations: times))
    }
  }
}
