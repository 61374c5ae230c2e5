public import VestaBytes
public import VestaFirestoreBackend
import VestaServiceInterop

/// The statement of `google.firestore.v1.CommitRequest`.
public enum CommitRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: CommitRequest { CommitRequest(database: "", writes: []) }

  /// Visits the fields.
  public static func visit(_ request: inout CommitRequest, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "database", &request.database, ProtobufString.self)
    try visitor.repeated(2, "writes", &request.writes, ProtobufConverted<WriteWire>.self)
    try visitor.token(3, "transaction", &request.transaction)
    try visitor.requestOptions(4)
  }
}

/// The statement of `google.firestore.v1.CommitResponse`.
public enum CommitResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: CommitResponse { CommitResponse(writeResults: [], commitTime: Timestamp(seconds: 0)) }

  /// Visits the fields.
  public static func visit(
    _ response: inout CommitResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "writeResults", &response.writeResults, ProtobufMessage<WriteResultWire>.self)
    try visitor.field(2, "commitTime", &response.commitTime, TimestampWire.self)
  }
}

/// The statement of `google.firestore.v1.BatchWriteRequest`; labels are not kept.
public enum BatchWriteRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: BatchWriteRequest { BatchWriteRequest(database: "", writes: []) }

  /// Visits the fields.
  public static func visit(
    _ request: inout BatchWriteRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "database", &request.database, ProtobufString.self)
    try visitor.repeated(2, "writes", &request.writes, ProtobufConverted<WriteWire>.self)
    var labels: [String: String] = [:]
    try visitor.map(3, "labels", &labels, ProtobufString.self)
    try visitor.requestOptions(4)
  }
}

/// The conversion of `google.firestore.v1.BatchWriteResponse`: a result and a status for each write.
public enum BatchWriteResponseWire: ProtobufConversion {
  /// The statement.
  public enum Schema: ProtobufSchema {
    /// No fields.
    public static var empty: (results: [WriteResult], statuses: [ProtobufStatus]) { ([], []) }

    /// Visits the fields.
    public static func visit(
      _ parts: inout (results: [WriteResult], statuses: [ProtobufStatus]), _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.repeated(1, "writeResults", &parts.results, ProtobufMessage<WriteResultWire>.self)
      try visitor.repeated(2, "status", &parts.statuses, ProtobufMessage<ProtobufStatusSchema>.self)
    }
  }

  /// The fields of a response.
  public static func parts(
    of response: BatchWriteResponse
  ) -> (results: [WriteResult], statuses: [ProtobufStatus]) {
    let results = response.results.map { (try? $0.get()) ?? WriteResult() }
    let statuses = response.results.map { result in
      switch result {
      case .success: ProtobufStatus(code: 0, message: "")
      case .failure(let error): StatusWire.status(of: error)
      }
    }
    return (results, statuses)
  }

  /// The response of fields.
  public static func value(
    of parts: (results: [WriteResult], statuses: [ProtobufStatus])
  ) throws(BytesError) -> BatchWriteResponse {
    guard parts.results.count == parts.statuses.count else {
      throw BytesError(.malformed, "a response to several writes has not as many results as statuses")
    }
    return BatchWriteResponse(
      results: zip(parts.results, parts.statuses).map { result, status in
        StatusWire.error(of: status).map { .failure($0) } ?? .success(result)
      })
  }
}
