import VestaBytes
import VestaFirestoreWire

/// A message of `google.firestore.v1`, and what the codec makes of its two forms.
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

  static let all: [WireMessage] = [
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
