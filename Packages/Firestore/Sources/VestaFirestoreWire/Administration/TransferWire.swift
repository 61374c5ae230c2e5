public import VestaBytes
public import VestaFirestoreBackend

/// The fields of `google.firestore.admin.v1.ExportDocumentsRequest` and `ImportDocumentsRequest`.
public struct TransferRequest: Sendable, Hashable {
  /// The resource name of the database.
  public var name = ""
  /// The collection groups; none for all.
  public var collectionIDs: [String] = []
  /// The folder of the files: `gs://bucket/path`.
  public var folder = ""
  /// The namespaces of Datastore.
  public var namespaceIDs: [String] = []
  /// The version of the database to export; `nil` for the current one.
  public var snapshotTime: Timestamp?

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.ExportDocumentsRequest`.
public enum ExportDocumentsRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: TransferRequest { TransferRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout TransferRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "name", &request.name, ProtobufString.self)
    try visitor.repeated(2, "collectionIds", &request.collectionIDs, ProtobufString.self)
    try visitor.field(3, "outputUriPrefix", &request.folder, ProtobufString.self)
    try visitor.repeated(4, "namespaceIds", &request.namespaceIDs, ProtobufString.self)
    try visitor.optional(5, "snapshotTime", &request.snapshotTime, TimestampWire.self)
  }
}

/// The statement of `google.firestore.admin.v1.ImportDocumentsRequest`.
public enum ImportDocumentsRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: TransferRequest { TransferRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout TransferRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "name", &request.name, ProtobufString.self)
    try visitor.repeated(2, "collectionIds", &request.collectionIDs, ProtobufString.self)
    try visitor.field(3, "inputUriPrefix", &request.folder, ProtobufString.self)
    try visitor.repeated(4, "namespaceIds", &request.namespaceIDs, ProtobufString.self)
  }
}

/// The statement of `google.firestore.admin.v1.ExportDocumentsResponse`.
public enum ExportDocumentsResponseWire: ProtobufSchema {
  /// No folder.
  public static var empty: String { "" }

  /// Visits the fields.
  public static func visit(_ folder: inout String, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "outputUriPrefix", &folder, ProtobufString.self)
  }
}

/// What an export or an import is, and how far it is.
public struct TransferMetadata: Sendable, Hashable {
  /// When it started.
  public var startTime: Timestamp?
  /// When it ended.
  public var endTime: Timestamp?
  /// Its state.
  public var state = OperationState.unspecified
  /// The number of documents so far.
  public var documents: Int64 = 0
  /// The collection groups; none for all.
  public var collectionIDs: [String] = []
  /// The folder of the files.
  public var folder = ""

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.ExportDocumentsMetadata`.
public enum ExportDocumentsMetadataWire: ProtobufSchema {
  /// No fields.
  public static var empty: TransferMetadata { TransferMetadata() }

  /// Visits the fields.
  public static func visit(
    _ metadata: inout TransferMetadata, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.transfer(&metadata)
    try visitor.field(7, "outputUriPrefix", &metadata.folder, ProtobufString.self)
  }
}

/// The statement of `google.firestore.admin.v1.ImportDocumentsMetadata`.
public enum ImportDocumentsMetadataWire: ProtobufSchema {
  /// No fields.
  public static var empty: TransferMetadata { TransferMetadata() }

  /// Visits the fields.
  public static func visit(
    _ metadata: inout TransferMetadata, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.transfer(&metadata)
    try visitor.field(7, "inputUriPrefix", &metadata.folder, ProtobufString.self)
  }
}

extension ProtobufVisitor {
  /// Visits what exports and imports have in common.
  fileprivate mutating func transfer(_ metadata: inout TransferMetadata) throws(BytesError) {
    try optional(1, "startTime", &metadata.startTime, TimestampWire.self)
    try optional(2, "endTime", &metadata.endTime, TimestampWire.self)
    try field(3, "operationState", &metadata.state, ProtobufEnum<OperationState>.self)
    try field(4, "progressDocuments", &metadata.documents, ProtobufMessage<ProgressWire>.self)
    try repeated(6, "collectionIds", &metadata.collectionIDs, ProtobufString.self)
  }
}

/// The statement of `google.firestore.admin.v1.Progress`: of work that is done, all that was estimated.
private enum ProgressWire: ProtobufSchema {
  static var empty: Int64 { 0 }

  static func visit(_ completed: inout Int64, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    var estimated = completed
    try visitor.field(1, "estimatedWork", &estimated, ProtobufInt64.self)
    try visitor.field(2, "completedWork", &completed, ProtobufInt64.self)
  }
}
