import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop

/// The calls on databases as a whole, and on operations.
extension FirestoreAdministration {
  func createDatabase(
    _ request: CreateDatabaseRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    guard Self.isDatabaseID(request.databaseID) else {
      throw ServiceStatus(
        .invalidArgument,
        "The id of a database is (default), or 4 to 63 lower-case letters, digits and hyphens after a letter.")
    }
    try request.database.checkSettings()
    let name = "\(request.parent)/databases/\(request.databaseID)"
    try await backend.createDatabase(name, context: context)
    return try done(name, "CreateDatabaseMetadata")
  }

  func database(
    _ request: NamedRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminDatabase {
    guard try await backend.databases(context: context).contains(request.name) else {
      throw ServiceStatus(.notFound, "There is no database \(request.name.prefix(200)).")
    }
    return AdminDatabase(name: request.name)
  }

  func databases(
    _ request: ListDatabasesRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> [AdminDatabase] {
    try await backend.databases(context: context).map(AdminDatabase.init(name:))
  }

  /// Takes the settings that a database has anyway, and refuses others.
  func updateDatabase(
    _ request: UpdateDatabaseRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    var named = NamedRequest()
    named.name = request.database.name
    let current = try await database(named, backend, context)
    try request.database.checkSettings()
    return try done(current.name, "UpdateDatabaseMetadata")
  }

  /// Deletes a database; one that is named with another checksum than it has stays.
  func deleteDatabase(
    _ request: NamedRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    let current = try await database(request, backend, context)
    guard request.etag.isEmpty || request.etag == current.etag else {
      throw ServiceStatus(.failedPrecondition, "The database has another etag than \(request.etag.prefix(200)).")
    }
    try await backend.deleteDatabase(request.name, context: context)
    return try done(current.name, "DeleteDatabaseMetadata")
  }

  /// Deletes all documents, and leaves the database.
  func bulkDelete(
    _ request: BulkDeleteRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    guard request.collectionIDs.isEmpty, request.namespaceIDs.isEmpty else {
      throw ServiceStatus(
        .unimplemented, "Only all documents of a database are deleted at once: leave out collections and namespaces.")
    }
    try await backend.clear(request.name, context: context)
    return try done(
      in: request.name,
      AnyMessage("google.firestore.admin.v1.BulkDeleteDocumentsMetadata", EmptyWire.empty, EmptyWire.self),
      AnyMessage("google.firestore.admin.v1.BulkDeleteDocumentsResponse", EmptyWire.empty, EmptyWire.self))
  }

  private func done(_ database: String, _ metadata: String) throws -> AdminOperation {
    try done(
      in: database, AnyMessage("google.firestore.admin.v1.\(metadata)", EmptyWire.empty, EmptyWire.self),
      AnyMessage("google.firestore.admin.v1.Database", AdminDatabase(name: database), DatabaseWire.self))
  }

  private static func isDatabaseID(_ id: String) -> Bool {
    guard id != "(default)" else { return true }
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let isKnown = id.utf8.allSatisfy { letters.contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") }
    return (4...63).contains(id.utf8.count) && isKnown && letters.contains(id.utf8.first ?? 0) && !id.hasSuffix("-")
  }

  // MARK: Operations

  func operation(
    _ request: NamedRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    try await check(backend, context)
    return try log.operation(request.name, project: try AdminName.project(of: request.name))
  }

  func deleteOperation(
    _ request: NamedRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> EmptyWire.Message {
    try await check(backend, context)
    try log.remove(request.name, project: try AdminName.project(of: request.name))
    return EmptyWire.Message()
  }

  /// Leaves an operation as it is: it is done.
  func cancelOperation(
    _ request: NamedRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> EmptyWire.Message {
    _ = try await operation(request, backend, context)
    return EmptyWire.Message()
  }

  func listOperations(
    _ request: PageRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> Page<AdminOperation> {
    try await check(backend, context)
    var operations = log.operations(of: request.parent, project: try AdminName.project(of: request.parent))
    switch request.filter.filter({ $0 != " " }).replacing("=", with: ":") {
    case "", "done:true": break
    case "done:false": operations = []
    default: throw ServiceStatus(.invalidArgument, "The filter is done:true, done:false or none.")
    }
    return try request.page(of: operations)
  }

  /// Refuses callers that are not owners, as every call of the engine's administration does.
  func check(_ backend: any FirestoreAdminBackend, _ context: CallContext) async throws {
    _ = try await backend.databases(context: context)
  }
}

extension AdminDatabase {
  /// A database with the settings that every database here has.
  fileprivate init(name: String) {
    self.init()
    self.name = name
    (kind, concurrency, edition) = (.firestore, .pessimistic, .standard)
    (appEngine, recovery) = (.disabled, .disabled)
  }

  /// Refuses settings that no database here has.
  fileprivate func checkSettings() throws(ServiceStatus) {
    let refused: [(String, Bool)] = [
      ("type", kind == .datastore), ("databaseEdition", edition == .enterprise),
      ("concurrencyMode", concurrency == .optimistic || concurrency == .optimisticWithEntityGroups),
      ("pointInTimeRecoveryEnablement", recovery == .enabled), ("appEngineIntegrationMode", appEngine == .enabled),
      ("deleteProtectionState", deleteProtection == .enabled), ("cmekConfig", encryptionKey != nil),
    ]
    guard let first = refused.first(where: \.1) else { return }
    throw ServiceStatus(.unimplemented, "A database cannot have another \(first.0) than the usual one here.")
  }
}
