public import VestaBytes
public import VestaFirestoreBackend

// The calls for one document, which the seam does not have: a service makes them of `batchGet` and `commit`.

/// The fields of `google.firestore.v1.GetDocumentRequest`.
public struct GetDocumentRequest: Sendable, Hashable {
  /// The name of the document.
  public var name = ""
  /// The fields to return; `nil` for all.
  public var mask: DocumentMask?
  /// When to read.
  public var consistency = ReadConsistency.latest

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.v1.GetDocumentRequest`.
public enum GetDocumentRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: GetDocumentRequest { GetDocumentRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout GetDocumentRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "name", &request.name, ProtobufString.self)
    try visitor.optional(2, "mask", &request.mask, ProtobufMessage<DocumentMaskWire>.self)
    try visitor.consistency(&request.consistency, transaction: 3, readTime: 5)
    try visitor.requestOptions(10)
  }
}

/// The fields of `google.firestore.v1.CreateDocumentRequest`.
public struct CreateDocumentRequest: Sendable, Hashable {
  /// The name of the parent document or of the database's documents.
  public var parent = ""
  /// The collection.
  public var collectionID = ""
  /// The id of the document; empty for one that the service chooses.
  public var documentID = ""
  /// The document, without a name.
  public var document = Document(name: "")
  /// The fields to return; `nil` for all.
  public var mask: DocumentMask?

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.v1.CreateDocumentRequest`.
public enum CreateDocumentRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: CreateDocumentRequest { CreateDocumentRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout CreateDocumentRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(2, "collectionId", &request.collectionID, ProtobufString.self)
    try visitor.field(3, "documentId", &request.documentID, ProtobufString.self)
    try visitor.field(4, "document", &request.document, ProtobufMessage<DocumentWire>.self)
    try visitor.optional(5, "mask", &request.mask, ProtobufMessage<DocumentMaskWire>.self)
    try visitor.requestOptions(6)
  }
}

/// The fields of `google.firestore.v1.UpdateDocumentRequest`.
public struct UpdateDocumentRequest: Sendable, Hashable {
  /// The document.
  public var document = Document(name: "")
  /// The fields that are written; `nil` for all.
  public var updateMask: DocumentMask?
  /// The fields to return; `nil` for all.
  public var mask: DocumentMask?
  /// The condition on the document as it is before.
  public var precondition: Precondition?

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.v1.UpdateDocumentRequest`.
public enum UpdateDocumentRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: UpdateDocumentRequest { UpdateDocumentRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout UpdateDocumentRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "document", &request.document, ProtobufMessage<DocumentWire>.self)
    try visitor.optional(2, "updateMask", &request.updateMask, ProtobufMessage<DocumentMaskWire>.self)
    try visitor.optional(3, "mask", &request.mask, ProtobufMessage<DocumentMaskWire>.self)
    try visitor.precondition(4, "currentDocument", &request.precondition)
    try visitor.requestOptions(5)
  }
}

/// The fields of `google.firestore.v1.DeleteDocumentRequest`.
public struct DeleteDocumentRequest: Sendable, Hashable {
  /// The name of the document.
  public var name = ""
  /// The condition on the document as it is before.
  public var precondition: Precondition?

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.v1.DeleteDocumentRequest`.
public enum DeleteDocumentRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: DeleteDocumentRequest { DeleteDocumentRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout DeleteDocumentRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "name", &request.name, ProtobufString.self)
    try visitor.precondition(2, "currentDocument", &request.precondition)
    try visitor.requestOptions(3)
  }
}
