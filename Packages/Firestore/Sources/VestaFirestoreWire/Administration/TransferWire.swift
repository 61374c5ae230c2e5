public import VestaBytes
public import VestaFirestoreBackend

/// The fields of `google.firestore.admin.v1.ExportDocumentsRequest`, and of the import, which has the same.
public struct TransferRequest: Sendable, Hashable {
  /// The resource name of the database.
  public var name = ""
  /// The collection groups; none for all.
  public var collectionIDs: [String] = []
  /// The place in a bucket: `gs://bucket/folder`.
  public var prefix = ""
  /// The namespaces of Datastore.
  public var namespaceIDs: [String] = []
  /// The time at which the documents are read; `nil` for that of the call.
  public var snapshotTime: Timestamp?

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.ExportDocumentsRequest`.
public enum ExportRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: TransferRequest { TransferRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout TransferRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "name", &request.name, ProtobufString.self)
    try visitor.repeated(2, "collectionIds", &request.collectionIDs, ProtobufString.self)
    try visitor.field(3, "outputUriPrefix", &request.prefix, ProtobufString.self)
    try visitor.repeated(4, "namespaceIds", &request.namespaceIDs, ProtobufString.self)
    try visitor.optional(5, "snapshotTime", &request.snapshotTime, TimestampWire.self)
  }
}

/// The statement of `google.firestore.admin.v1.ImportDocumentsRequest`.
public enum ImportRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: TransferRequest { TransferRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout TransferRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "name", &request.name, ProtobufString.self)
    try visitor.repeated(2, "collectionIds", &request.collectionIDs, ProtobufString.self)
    try visitor.field(3, "inputUriPrefix", &request.prefix, ProtobufString.self)
    try visitor.repeated(4, "namespaceIds", &request.namespaceIDs, ProtobufString.self)
  }
}

/// The fields of `google.firestore.admin.v1.ExportDocumentsResponse`.
public struct ExportResponse: Sendable, Hashable {
  /// The place of the export.
  public var prefix = ""

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.ExportDocumentsResponse`.
public enum ExportResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: ExportResponse { ExportResponse() }

  /// Visits the fields.
  public static func visit(_ response: inout ExportResponse, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "outputUriPrefix", &response.prefix, ProtobufString.self)
  }
}

/// The fields of `google.firestore.admin.v1.ExportDocumentsMetadata`, and of the import.
public struct TransferMetadata: Sendable, Hashable {
  /// When it started.
  public var startTime: Timestamp?
  /// When it ended.
  public var endTime: Timestamp?
  /// Its state.
  public var state = OperationState.unspecified
  /// The documents that were transferred.
  public var documents = TransferProgress()
  /// The bytes that were transferred.
  public var bytes = TransferProgress()
  /// The collection groups; none for all.
  public var collectionIDs: [String] = []
  /// The place in a bucket.
  public var prefix = ""

  /// No fields.
  public init() {}
}

/// The fields of `google.firestore.admin.v1.Progress`.
public struct TransferProgress: Sendable, Hashable {
  /// The amount of work that was expected.
  public var estimated: Int64 = 0
  /// The amount of work that is done.
  public var completed: Int64 = 0

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.Progress`.
public enum TransferProgressWire: ProtobufSchema {
  /// No fields.
  public static var empty: TransferProgress { TransferProgress() }

  /// Visits the fields.
  public static func visit(
    _ progress: inout TransferProgress, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "estimatedWork", &progress.estimated, ProtobufInt64.self)
    try visitor.field(2, "completedWork", &progress.completed, ProtobufInt64.self)
  }
}

/// The statement of `google.firestore.admin.v1.ExportDocumentsMetadata`.
public enum ExportMetadataWire: ProtobufSchema {
  /// No fields.
  public static var empty: TransferMetadata { TransferMetadata() }

  /// Visits the fields.
  public static func visit(
    _ metadata: inout TransferMetadata, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try metadata.visitCommon(&visitor)
    try visitor.field(7, "outputUriPrefix", &metadata.prefix, ProtobufString.self)
  }
}

/// The statement of `google.firestore.admin.v1.ImportDocumentsMetadata`.
public enum ImportMetadataWire: ProtobufSchema {
  /// No fields.
  public static var empty: TransferMetadata { TransferMetadata() }

  /// Visits the fields.
  public static func visit(
    _ metadata: inout TransferMetadata, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try metadata.visitCommon(&visitor)
    try visitor.field(7, "inputUriPrefix", &metadata.prefix, ProtobufString.self)
  }
}

extension TransferMetadata {
  fileprivate mutating func visitCommon(_ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "startTime", &startTime, TimestampWire.self)
    try visitor.optional(2, "endTime", &endTime, TimestampWire.self)
    try visitor.field(3, "operationState", &state, ProtobufEnum<OperationState>.self)
    try visitor.field(4, "progressDocuments", &documents, ProtobufMessage<TransferProgressWire>.self)
    try visitor.field(5, "progressBytes", &bytes, ProtobufMessage<TransferProgressWire>.self)
    try visitor.repeated(6, "collectionIds", &collectionIDs, ProtobufString.self)
  }
}
