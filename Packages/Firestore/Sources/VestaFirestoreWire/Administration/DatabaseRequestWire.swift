public import VestaBytes

/// The fields of `google.firestore.admin.v1.ListDatabasesRequest`.
public struct ListDatabasesRequest: Sendable, Hashable {
  /// The resource name of the project.
  public var parent = ""
  /// Whether deleted databases are listed as well.
  public var showsDeleted = false

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.ListDatabasesRequest`.
public enum ListDatabasesRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: ListDatabasesRequest { ListDatabasesRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout ListDatabasesRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(4, "showDeleted", &request.showsDeleted, ProtobufBool.self)
  }
}

/// The statement of `google.firestore.admin.v1.ListDatabasesResponse`.
public enum ListDatabasesResponseWire: ProtobufSchema {
  /// No databases.
  public static var empty: [AdminDatabase] { [] }

  /// Visits the fields.
  public static func visit(
    _ databases: inout [AdminDatabase], _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "databases", &databases, ProtobufMessage<DatabaseWire>.self)
  }
}

/// The fields of `google.firestore.admin.v1.CreateDatabaseRequest`.
public struct CreateDatabaseRequest: Sendable, Hashable {
  /// The resource name of the project.
  public var parent = ""
  /// The settings.
  public var database = AdminDatabase()
  /// The id.
  public var databaseID = ""

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.CreateDatabaseRequest`.
public enum CreateDatabaseRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: CreateDatabaseRequest { CreateDatabaseRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout CreateDatabaseRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(2, "database", &request.database, ProtobufMessage<DatabaseWire>.self)
    try visitor.field(3, "databaseId", &request.databaseID, ProtobufString.self)
  }
}

/// The fields of `google.firestore.admin.v1.UpdateDatabaseRequest`.
public struct UpdateDatabaseRequest: Sendable, Hashable {
  /// The settings.
  public var database = AdminDatabase()
  /// The paths of the settings that change; `nil` for all that are given.
  public var mask: [String]?

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.UpdateDatabaseRequest`.
public enum UpdateDatabaseRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: UpdateDatabaseRequest { UpdateDatabaseRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout UpdateDatabaseRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "database", &request.database, ProtobufMessage<DatabaseWire>.self)
    try visitor.optional(2, "updateMask", &request.mask, FieldMaskWire.self)
  }
}

/// The fields of `google.firestore.admin.v1.BulkDeleteDocumentsRequest`.
public struct BulkDeleteRequest: Sendable, Hashable {
  /// The resource name of the database.
  public var name = ""
  /// The collection groups; none for all.
  public var collectionIDs: [String] = []
  /// The namespaces of Datastore.
  public var namespaceIDs: [String] = []

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.BulkDeleteDocumentsRequest`.
public enum BulkDeleteRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: BulkDeleteRequest { BulkDeleteRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout BulkDeleteRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "name", &request.name, ProtobufString.self)
    try visitor.repeated(2, "collectionIds", &request.collectionIDs, ProtobufString.self)
    try visitor.repeated(3, "namespaceIds", &request.namespaceIDs, ProtobufString.self)
  }
}
