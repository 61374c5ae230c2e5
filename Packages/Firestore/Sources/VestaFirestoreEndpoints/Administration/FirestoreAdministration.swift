import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop
import VestaTransportInterop

/// The calls of `google.firestore.admin.v1` on the indexes of a database, made of the text that declares them.
///
/// Indexes are in force when their call returns: queries use them once they are built, and need none before.
struct FirestoreAdministration: Sendable {
  let host: any EndpointHost
  let log: OperationLog
  /// One change of a project's texts at a time in this server, so that they need no second attempt.
  private let turns = ProjectTurns()

  init(_ host: any EndpointHost, log: OperationLog) { (self.host, self.log) = (host, log) }

  var clock: ServiceClock { host.clock }

  // MARK: Indexes of several fields

  func createIndex(
    _ request: CreateIndexRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    let start = clock.now()
    let parent = try AdminName(group: request.parent)
    try request.index.checkForCreation()
    let index = try await change(parent.database, backend, context) { file throws(ServiceStatus) in
      try file.add(request.index, to: parent.group)
    }
    return try done(
      in: parent.database, metadata(of: index.name, since: start, "IndexOperationMetadata"),
      AnyMessage("google.firestore.admin.v1.Index", index, IndexWire.self))
  }

  func listIndexes(
    _ request: PageRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> Page<AdminIndex> {
    let parent = try AdminName(group: request.parent)
    let file = try await file(of: parent.database, backend, context)
    return try request.page(of: file.indexes(of: parent.group), name: \.name)
  }

  func index(
    _ request: NamedRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminIndex {
    let name = try AdminName(request.name, in: "indexes")
    let file = try await file(of: name.database, backend, context)
    guard let found = file.indexes(of: name.group).first(where: { $0.id == name.id }) else {
      throw IndexFile.missing(name)
    }
    return found
  }

  func deleteIndex(
    _ request: NamedRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> EmptyWire.Message {
    let name = try AdminName(request.name, in: "indexes")
    try await change(name.database, backend, context) { file throws(ServiceStatus) in try file.remove(name) }
    return EmptyWire.Message()
  }

  // MARK: Indexes of one field

  func field(
    _ request: NamedRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminField {
    let name = try AdminName(request.name, in: "fields")
    let file = try await file(of: name.database, backend, context)
    return name.group == IndexFile.defaultGroup ? file.defaultField : file.field(name.id, in: name.group)
  }

  /// The fields with other indexes than usual; a filter for fields with a time to live finds none.
  func listFields(
    _ request: PageRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> Page<AdminField> {
    let parent = try AdminName(group: request.parent)
    let file = try await file(of: parent.database, backend, context)
    var fields: [AdminField] = []
    if request.filter.isEmpty || request.filter.contains("usesAncestorConfig") {
      fields = file.fields(of: parent.group)
      if ["-", IndexFile.defaultGroup].contains(parent.group) { fields.append(file.defaultField) }
      fields.sort { UTF8Order.compare($0.name, $1.name) < 0 }
    }
    return try request.page(of: fields, name: \.name)
  }

  func updateField(
    _ request: UpdateFieldRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    let start = clock.now()
    let name = try AdminName(request.field.name, in: "fields")
    let update = try request.change(of: name)
    let field = try await change(name.database, backend, context) { file throws(ServiceStatus) in
      switch update {
      case .nothing: break
      case .ancestor: file.set(nil, of: name.id, in: name.group)
      case .indexes(let indexes): file.set(indexes, of: name.id, in: name.group)
      }
      return file.field(name.id, in: name.group)
    }
    return try done(
      in: name.database, metadata(of: field.name, since: start, "FieldOperationMetadata"),
      AnyMessage("google.firestore.admin.v1.Field", field, FieldWire.self))
  }

  // MARK: Texts and operations

  private func file(
    of database: String, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> IndexFile {
    try IndexFile(try await backend.declaredIndexes(of: database, context: context), of: database)
  }

  private func change<Result: Sendable>(
    _ database: String, _ backend: any FirestoreAdminBackend, _ context: CallContext,
    _ body: (inout IndexFile) throws(ServiceStatus) -> Result
  ) async throws -> Result {
    try await turns.run(in: try AdminName.project(of: database)) {
      try await backend.changeIndexes(of: database, context: context) { current in
        var file = try IndexFile(current, of: database)
        let before = try file.text
        let result = try body(&file)
        let after = try file.text
        return (after == before ? current : after, result)
      }
    }
  }

  private func metadata(of resource: String, since start: Int64, _ type: String) throws(BytesError) -> AnyMessage {
    var metadata = IndexOperationMetadata()
    (metadata.resource, metadata.state) = (resource, .successful)
    metadata.startTime = Timestamp(microseconds: start)
    metadata.endTime = Timestamp(microseconds: max(start, clock.now()))
    let name = "google.firestore.admin.v1.\(type)"
    if type == "IndexOperationMetadata" { return try AnyMessage(name, metadata, IndexOperationMetadataWire.self) }
    return try AnyMessage(name, metadata, FieldOperationMetadataWire.self)
  }

  /// An operation that is done, which is kept.
  func done(
    in database: String, _ metadata: AnyMessage, _ response: AnyMessage
  ) throws(ServiceStatus) -> AdminOperation {
    var operation = AdminOperation(name: "\(database)/operations/\(DocumentIDs.random())")
    (operation.metadata, operation.isDone, operation.outcome) = (metadata, true, .response(response))
    log.add(operation, project: try AdminName.project(of: database))
    return operation
  }
}

extension AdminIndex {
  /// Refuses an index that the engine does not have.
  fileprivate func checkForCreation() throws(ServiceStatus) {
    guard scope == .collection || scope == .collectionGroup else {
      throw ServiceStatus(.invalidArgument, "The query scope of an index is COLLECTION or COLLECTION_GROUP.")
    }
    guard apiScope == .any, density == .unspecified || density == .sparseAll, !isMultikey, shardCount == 0, !isUnique
    else {
      throw ServiceStatus(
        .unimplemented, "Only indexes of ANY_API with the density SPARSE_ALL that are not unique are served here.")
    }
    let paths = fields.filter { $0.fieldPath != Field.documentName }
    guard paths.count <= 100 else {
      throw ServiceStatus(.invalidArgument, "An index has at most 100 fields.")
    }
    guard fields.allSatisfy({ $0.mode != nil && !$0.fieldPath.isEmpty }), let first = paths.first else {
      throw ServiceStatus(.invalidArgument, "Each field of an index needs a path and an order or a configuration.")
    }
    // The indexes of one field belong to the field; those for vectors do not.
    let isOfField: [Mode?] = [.ascending, .descending, .contains]
    guard paths.count > 1 || !isOfField.contains(first.mode) else {
      throw ServiceStatus(
        .invalidArgument, "this index is not necessary, configure using single field index controls")
    }
  }
}

extension UpdateFieldRequest {
  /// The change of the indexes of a field.
  fileprivate enum Change {
    case nothing
    /// The field has the indexes of its ancestor.
    case ancestor
    case indexes([AdminIndex])
  }

  /// The change of the indexes of the field.
  ///
  /// - Throws: `INVALID_ARGUMENT` for indexes that are not of the field, `UNIMPLEMENTED` for a time to live.
  fileprivate func change(of name: AdminName) throws(ServiceStatus) -> Change {
    guard name.group != IndexFile.defaultGroup else {
      throw ServiceStatus(.unimplemented, "The indexes of all fields are always the usual ones here.")
    }
    let paths = mask ?? ["index_config"] + (field.timeToLive == nil ? [] : ["ttl_config"])
    guard !paths.contains(where: { $0.hasPrefix("ttl_config") }) || field.timeToLive == nil else {
      throw ServiceStatus(.unimplemented, "Documents are not deleted at the time in a field here.")
    }
    guard paths.contains(where: { $0.hasPrefix("index_config") }) else { return .nothing }
    // Three modes in two scopes.
    guard field.indexConfig?.indexes.count ?? 0 <= 6 else {
      throw ServiceStatus(.invalidArgument, "A field has at most 6 indexes.")
    }
    for index in field.indexConfig?.indexes ?? [] {
      let isOne = index.fields.count == 1 && ["", name.id].contains(index.fields[0].fieldPath)
      guard isOne, let mode = index.fields[0].mode, [.ascending, .descending, .contains].contains(mode),
        index.scope == .collection || index.scope == .collectionGroup
      else {
        throw ServiceStatus(
          .invalidArgument, "An index of a field has a query scope and that field, with an order or CONTAINS.")
      }
    }
    return field.indexConfig.map { .indexes($0.indexes) } ?? .ancestor
  }
}
