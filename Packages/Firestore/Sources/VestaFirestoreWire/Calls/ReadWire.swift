public import VestaBytes
public import VestaFirestoreBackend

/// The statement of `google.firestore.v1.BatchGetDocumentsRequest`.
public enum BatchGetRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: BatchGetDocumentsRequest { BatchGetDocumentsRequest(database: "", documents: []) }

  /// Visits the fields.
  public static func visit(
    _ request: inout BatchGetDocumentsRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "database", &request.database, ProtobufString.self)
    try visitor.repeated(2, "documents", &request.documents, ProtobufString.self)
    try visitor.optional(3, "mask", &request.mask, ProtobufMessage<DocumentMaskWire>.self)
    try visitor.consistency(&request.consistency, transaction: 4, newTransaction: 5, readTime: 7)
    try visitor.requestOptions(8)
  }
}

/// The statement of `google.firestore.v1.BatchGetDocumentsResponse`.
public enum BatchGetResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: BatchGetDocumentsResponse { BatchGetDocumentsResponse() }

  /// Visits the fields.
  public static func visit(
    _ response: inout BatchGetDocumentsResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.member(1, "found", &response.result, ProtobufMessage<DocumentWire>.self) {
      if case .found(let document)? = $0 { document } else { nil }
    } embed: {
      .found($0)
    }
    try visitor.member(2, "missing", &response.result, ProtobufString.self) {
      if case .missing(let name)? = $0 { name } else { nil }
    } embed: {
      .missing($0)
    }
    try visitor.token(3, "transaction", &response.transaction)
    try visitor.optional(4, "readTime", &response.readTime, TimestampWire.self)
  }
}

/// The statement of `google.firestore.v1.ListDocumentsRequest`.
public enum ListDocumentsRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: ListDocumentsRequest { ListDocumentsRequest(parent: "", collectionID: "") }

  /// Visits the fields.
  public static func visit(
    _ request: inout ListDocumentsRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(2, "collectionId", &request.collectionID, ProtobufString.self)
    try visitor.field(3, "pageSize", &request.pageSize, ProtobufInt32.self)
    try visitor.field(4, "pageToken", &request.pageToken, ProtobufString.self)
    try visitor.field(6, "orderBy", &request.orderBy, ProtobufString.self)
    try visitor.optional(7, "mask", &request.mask, ProtobufMessage<DocumentMaskWire>.self)
    try visitor.consistency(&request.consistency, transaction: 8, readTime: 10)
    try visitor.field(12, "showMissing", &request.showMissing, ProtobufBool.self)
    try visitor.requestOptions(13)
  }
}

/// The statement of `google.firestore.v1.ListDocumentsResponse`.
public enum ListDocumentsResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: ListDocumentsResponse { ListDocumentsResponse(documents: []) }

  /// Visits the fields.
  public static func visit(
    _ response: inout ListDocumentsResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "documents", &response.documents, ProtobufMessage<DocumentWire>.self)
    try visitor.field(2, "nextPageToken", &response.nextPageToken, ProtobufString.self)
  }
}

/// The statement of `google.firestore.v1.ListCollectionIdsRequest`.
public enum ListCollectionIDsRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: ListCollectionIDsRequest { ListCollectionIDsRequest(parent: "") }

  /// Visits the fields.
  public static func visit(
    _ request: inout ListCollectionIDsRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(2, "pageSize", &request.pageSize, ProtobufInt32.self)
    try visitor.field(3, "pageToken", &request.pageToken, ProtobufString.self)
    try visitor.optional(4, "readTime", &request.readTime, TimestampWire.self)
    try visitor.requestOptions(5)
  }
}

/// The statement of `google.firestore.v1.ListCollectionIdsResponse`.
public enum ListCollectionIDsResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: ListCollectionIDsResponse { ListCollectionIDsResponse(collectionIDs: []) }

  /// Visits the fields.
  public static func visit(
    _ response: inout ListCollectionIDsResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "collectionIds", &response.collectionIDs, ProtobufString.self)
    try visitor.field(2, "nextPageToken", &response.nextPageToken, ProtobufString.self)
  }
}
