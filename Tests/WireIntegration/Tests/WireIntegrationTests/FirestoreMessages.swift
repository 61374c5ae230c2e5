import VestaBytes
import VestaFirestoreWire
import VestaServiceInterop

/// A message of `google.firestore.v1` or of its administration, and what the codec makes of its two forms.
struct WireMessage: Sendable {
  let name: String
  let bytesToBytes: @Sendable ([UInt8]) throws -> [UInt8]
  let bytesToJSON: @Sendable ([UInt8]) throws -> [UInt8]
  let jsonToBytes: @Sendable ([UInt8]) throws -> [UInt8]

  init<Schema: ProtobufSchema>(_ name: String, _ schema: Schema.Type) {
    self.name = name
    bytesToBytes = { try Schema.bytes(of: Schema.message(from: $0)) }
    bytesToJSON = { try Schema.json(of: Schema.message(from: $0)) }
    jsonToBytes = { try Schema.bytes(of: Schema.message(json: $0)) }
  }

  init<Conversion: ProtobufConversion>(_ name: String, _ conversion: Conversion.Type) {
    self.name = name
    bytesToBytes = { try Conversion.bytes(of: Conversion.value(from: $0)) }
    bytesToJSON = { try Conversion.json(of: Conversion.value(from: $0)) }
    jsonToBytes = { bytes in
      let json = try JSONValue(json: bytes, limits: JSONLimits(maximumDepth: 200))
      return try Conversion.bytes(of: Conversion.value(json: json))
    }
  }

  static let all = documents + administration

  private static let documents: [WireMessage] = [
    WireMessage("Document", DocumentWire.self), WireMessage("DocumentMask", DocumentMaskWire.self),
    WireMessage("StructuredQuery", QueryWire.self), WireMessage("Write", WriteWire.self),
    WireMessage("WriteResult", WriteResultWire.self), WireMessage("GetDocumentRequest", GetDocumentRequestWire.self),
    WireMessage("ListDocumentsRequest", ListDocumentsRequestWire.self),
    WireMessage("ListDocumentsResponse", ListDocumentsResponseWire.self),
    WireMessage("CreateDocumentRequest", CreateDocumentRequestWire.self),
    WireMessage("UpdateDocumentRequest", UpdateDocumentRequestWire.self),
    WireMessage("DeleteDocumentRequest", DeleteDocumentRequestWire.self),
    WireMessage("BatchGetDocumentsRequest", BatchGetRequestWire.self),
    WireMessage("BatchGetDocumentsResponse", BatchGetResponseWire.self),
    WireMessage("BeginTransactionRequest", BeginTransactionRequestWire.self),
    WireMessage("BeginTransactionResponse", BeginTransactionResponseWire.self),
    WireMessage("CommitRequest", CommitRequestWire.self), WireMessage("CommitResponse", CommitResponseWire.self),
    WireMessage("RollbackRequest", RollbackRequestWire.self), WireMessage("RunQueryRequest", RunQueryRequestWire.self),
    WireMessage("RunQueryResponse", RunQueryResponseWire.self),
    WireMessage("RunAggregationQueryRequest", RunAggregationRequestWire.self),
    WireMessage("RunAggregationQueryResponse", RunAggregationResponseWire.self),
    WireMessage("PartitionQueryRequest", PartitionQueryRequestWire.self),
    WireMessage("PartitionQueryResponse", PartitionQueryResponseWire.self),
    WireMessage("ListCollectionIdsRequest", ListCollectionIDsRequestWire.self),
    WireMessage("ListCollectionIdsResponse", ListCollectionIDsResponseWire.self),
    WireMessage("BatchWriteRequest", BatchWriteRequestWire.self),
    WireMessage("BatchWriteResponse", BatchWriteResponseWire.self), WireMessage("WriteRequest", WriteRequestWire.self),
    WireMessage("WriteResponse", WriteResponseWire.self), WireMessage("ListenRequest", ListenRequestWire.self),
    WireMessage("ListenResponse", ListenResponseWire.self), WireMessage("Target", TargetWire.self),
  ]
}

extension WireMessage {
  private static let administration: [WireMessage] = [
    WireMessage("Index", IndexWire.self), WireMessage("Field", FieldWire.self),
    WireMessage("Database", DatabaseWire.self), WireMessage("CreateIndexRequest", CreateIndexRequestWire.self),
    WireMessage("GetIndexRequest", NamedRequestWire.self), WireMessage("DeleteIndexRequest", NamedRequestWire.self),
    WireMessage("ListIndexesRequest", PageRequestWire.self),
    WireMessage("ListIndexesResponse", ListIndexesResponseWire.self),
    WireMessage("GetFieldRequest", NamedRequestWire.self),
    WireMessage("UpdateFieldRequest", UpdateFieldRequestWire.self),
    WireMessage("ListFieldsRequest", PageRequestWire.self),
    WireMessage("ListFieldsResponse", ListFieldsResponseWire.self),
    WireMessage("CreateDatabaseRequest", CreateDatabaseRequestWire.self),
    WireMessage("GetDatabaseRequest", NamedRequestWire.self),
    WireMessage("UpdateDatabaseRequest", UpdateDatabaseRequestWire.self),
    WireMessage("DeleteDatabaseRequest", NamedRequestWire.self),
    WireMessage("ListDatabasesRequest", ListDatabasesRequestWire.self),
    WireMessage("ListDatabasesResponse", ListDatabasesResponseWire.self),
    WireMessage("BulkDeleteDocumentsRequest", BulkDeleteRequestWire.self),
    WireMessage("ExportDocumentsRequest", ExportRequestWire.self),
    WireMessage("ImportDocumentsRequest", ImportRequestWire.self),
    WireMessage("ExportDocumentsResponse", ExportResponseWire.self),
    WireMessage("ExportDocumentsMetadata", ExportMetadataWire.self),
    WireMessage("ImportDocumentsMetadata", ImportMetadataWire.self),
    WireMessage("IndexOperationMetadata", IndexOperationMetadataWire.self),
    WireMessage("FieldOperationMetadata", FieldOperationMetadataWire.self),
    WireMessage("Operation", OperationWire.self) { try $0.withBothForms() },
    WireMessage("GetOperationRequest", NamedRequestWire.self),
    WireMessage("ListOperationsRequest", ListOperationsRequestWire.self),
    WireMessage("ListOperationsResponse", ListOperationsResponseWire.self) { page in
      page.items = try page.items.map {
        var operation = $0
        try operation.withBothForms()
        return operation
      }
    },
  ]

  /// A message that carries messages of other types, whose statements its reader knows.
  private init<Schema: ProtobufSchema>(
    _ name: String, _ schema: Schema.Type, complete: @escaping @Sendable (inout Schema.Message) throws -> Void
  ) {
    @Sendable func completed(_ message: Schema.Message) throws -> Schema.Message {
      var message = message
      try complete(&message)
      return message
    }
    self.name = name
    bytesToBytes = { try Schema.bytes(of: completed(Schema.message(from: $0))) }
    bytesToJSON = { try Schema.json(of: completed(Schema.message(from: $0))) }
    jsonToBytes = { try Schema.bytes(of: completed(Schema.message(json: $0))) }
  }
}

extension AdminOperation {
  /// Reads the messages that the operation carries, so that they have both forms.
  fileprivate mutating func withBothForms() throws {
    metadata = try metadata.map(Self.withBothForms)
    if case .response(let message)? = outcome { outcome = .response(try Self.withBothForms(message)) }
  }

  private static func withBothForms(_ message: AnyMessage) throws -> AnyMessage {
    func read<Schema: ProtobufSchema>(_ schema: Schema.Type) throws -> AnyMessage {
      try AnyMessage(message.type, message.message(Schema.self), Schema.self)
    }
    return switch message.type.split(separator: ".").last {
    case "Index": try read(IndexWire.self)
    case "Field": try read(FieldWire.self)
    case "Database": try read(DatabaseWire.self)
    case "ExportDocumentsResponse": try read(ExportResponseWire.self)
    case "ExportDocumentsMetadata": try read(ExportMetadataWire.self)
    case "ImportDocumentsMetadata": try read(ImportMetadataWire.self)
    case "IndexOperationMetadata": try read(IndexOperationMetadataWire.self)
    case "FieldOperationMetadata": try read(FieldOperationMetadataWire.self)
    default: try read(EmptyWire.self)
    }
  }
}
