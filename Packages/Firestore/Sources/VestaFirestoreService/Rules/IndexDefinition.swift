import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel

/// An index as production names it: fields with directions, and the name after them.
struct IndexDefinition: Hashable, Sendable {
  struct Field: Hashable, Sendable {
    var path: FieldPath
    var mode: FirestoreIndexes.Mode

    init(_ path: FieldPath, _ mode: FirestoreIndexes.Mode) {
      self.path = path
      self.mode = mode
    }

    var isVector: Bool {
      if case .vector = mode { return true }
      return false
    }
  }

  var collectionID: CollectionID
  var scope: FirestoreIndexes.Scope
  /// The fields before the name.
  var fields: [Field]
  var isNameDescending: Bool

  init(collectionID: CollectionID, scope: FirestoreIndexes.Scope, fields: [Field], isNameDescending: Bool) {
    self.collectionID = collectionID
    self.scope = scope
    self.fields = fields
    self.isNameDescending = isNameDescending
  }

  init(_ index: FirestoreIndexes.Index) {
    self.init(
      collectionID: CollectionID(index.collectionGroup), scope: index.scope,
      fields: index.fields.filter { !$0.path.isDocumentName }.map { Field($0.path, $0.mode) },
      isNameDescending: index.isNameDescending)
  }

  /// The refusal of a query that needs the index.
  func missing(in database: DatabaseName, isBuilding: Bool) -> FirestoreServiceError {
    let state =
      isBuilding
      ? "That index is currently building and cannot be used yet. See its status here: "
      : "You can create it here: "
    let message = protobuf(name: "\(resource(database))/indexes/_", named: true)
    return FirestoreServiceError(
      .failedPrecondition,
      "The query requires an index. \(state)\(IndexDefinition.console(database))create_composite=\(Base64.url.encode(message))"
    )
  }

  /// The refusal of a query that needs an index of one field.
  func missingField(in database: DatabaseName, isBuilding: Bool) -> FirestoreServiceError {
    guard let field = fields.first else { return missing(in: database, isBuilding: isBuilding) }
    let modes: [FirestoreIndexes.Mode: String] = [.ascending: "ASC", .descending: "DESC", .contains: "CONTAINS"]
    let kind = "\(scope.rawValue)_\(modes[field.mode] ?? "ASC")"
    let state =
      isBuilding ? "That index is not ready yet. See its status here: " : "You can create it here: "
    let message = protobuf(name: "\(resource(database))/fields/\(field.path)", named: false)
    return FirestoreServiceError(
      .failedPrecondition,
      "The query requires a \(kind) index for collection \(collectionID) and field \(field.path). "
        + "\(state)\(IndexDefinition.console(database))create_exemption=\(Base64.url.encode(message))")
  }

  /// The refusal of a search that needs a vector index.
  func missingVector(in database: DatabaseName) -> FirestoreServiceError {
    let configs = fields.map { field in
      switch field.mode {
      case .ascending: "--field-config=order=ASCENDING,field-path=\(field.path)"
      case .descending: "--field-config=order=DESCENDING,field-path=\(field.path)"
      case .contains: "--field-config=array-config=CONTAINS,field-path=\(field.path)"
      case .vector(let dimension):
        "--field-config=vector-config='{\"dimension\":\"\(dimension)\",\"flat\": \"{}\"}',field-path=\(field.path)"
      }
    }
    return FirestoreServiceError(
      .failedPrecondition,
      "Missing vector index configuration. Please create the required index with the following gcloud command: "
        + "gcloud firestore indexes composite create --project=\(database.project) --collection-group=\(collectionID) "
        + "--query-scope=\(scope.rawValue) " + configs.joined(separator: " "))
  }

  private func resource(_ database: DatabaseName) -> String { "\(database)/collectionGroups/\(collectionID)" }

  private static func console(_ database: DatabaseName) -> String {
    "https://console.firebase.google.com/v1/r/project/\(database.project)/firestore/indexes?"
  }

  /// The message `google.firestore.admin.v1.Index`.
  ///
  /// - Parameter named: Whether the name of the documents is the last field.
  private func protobuf(name: String, named: Bool) -> [UInt8] {
    var writer = RowWriter()
    writer.write(byte: 0x0A)
    writer.write(text: name)
    writer.write(byte: 0x10)
    writer.write(byte: scope == .collection ? 1 : 2)
    let last = Field(.documentName, isNameDescending ? .descending : .ascending)
    for field in fields + (named ? [last] : []) {
      writer.write(byte: 0x1A)
      writer.write(blob: Self.protobuf(of: field))
    }
    return writer.bytes
  }

  /// The message `IndexField`.
  private static func protobuf(of field: Field) -> [UInt8] {
    var writer = RowWriter()
    writer.write(byte: 0x0A)
    writer.write(text: field.path.description)
    switch field.mode {
    case .ascending: writer.write(tag: 0x10, 1)
    case .descending: writer.write(tag: 0x10, 2)
    case .contains: writer.write(tag: 0x18, 1)
    case .vector: break
    }
    return writer.bytes
  }
}

extension RowWriter {
  fileprivate mutating func write(tag: UInt8, _ value: UInt8) {
    write(byte: tag)
    write(byte: value)
  }
}
