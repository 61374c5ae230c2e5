public import VestaAuthBackend
public import VestaBytes

/// The query of `accounts:batchGet`, and its response.
public enum BatchGetWire: ProtobufSchema {
  /// The query of a request.
  public static func query(of request: BatchGetRequest) -> String {
    var fields = FormFields()
    fields.append("maxResults", "\(request.maxResults)")
    fields.append("nextPageToken", request.nextPageToken)
    // Vesta's own: another service refuses a field that it does not know.
    if request.hashForm == .text { fields.append(hashForm, "TEXT") }
    return fields.text
  }

  /// Reads the query of a request: 20 accounts unless it says how many, and -1 for all.
  ///
  /// - Throws: `BytesError` with `.malformed`.
  public static func request(query: String) throws(BytesError) -> BatchGetRequest {
    let fields = try FormFields(query)
    guard let count = Int(fields["maxResults"] ?? "20") else {
      throw BytesError(.malformed, "the parameter maxResults is no number")
    }
    let token = fields["nextPageToken"]
    return BatchGetRequest(
      maxResults: count, nextPageToken: token?.isEmpty == true ? nil : token,
      hashForm: fields[hashForm] == "TEXT" ? .text : .parts)
  }

  private static let hashForm = "vestaHashForm"

  /// No members.
  public static var empty: BatchGetResponse { BatchGetResponse(users: []) }

  /// Visits the members of a response.
  public static func visit(
    _ response: inout BatchGetResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.constant(1, "kind", "identitytoolkit#DownloadAccountResponse")
    try visitor.repeated(2, "users", &response.users, ProtobufMessage<AuthUserWire>.self)
    try visitor.optional(3, "nextPageToken", &response.nextPageToken, ProtobufString.self)
  }
}

/// The request of `accounts:batchDelete`.
public enum BatchDeleteRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: BatchDeleteRequest { BatchDeleteRequest(localIDs: []) }

  /// Visits the members.
  public static func visit(
    _ request: inout BatchDeleteRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "localIds", &request.localIDs, ProtobufString.self)
    try visitor.field(2, "force", &request.force, ProtobufBool.self)
  }
}

/// The response of `accounts:batchDelete`; without errors it has no members.
public enum BatchDeleteResponseWire: ProtobufSchema {
  enum Failure: ProtobufSchema {
    static var empty: BatchDeleteResponse.Failure { .init(index: 0, localID: "", message: "") }

    static func visit(
      _ failure: inout BatchDeleteResponse.Failure, _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.index(1, &failure.index)
      try visitor.field(2, "localId", &failure.localID, ProtobufString.self)
      try visitor.field(3, "message", &failure.message, ProtobufString.self)
    }
  }

  /// No members.
  public static var empty: BatchDeleteResponse { BatchDeleteResponse() }

  /// Visits the members.
  public static func visit(
    _ response: inout BatchDeleteResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "errors", &response.errors, ProtobufMessage<Failure>.self)
  }
}

/// The response of `accounts:batchCreate`.
public enum BatchCreateResponseWire: ProtobufSchema {
  enum Failure: ProtobufSchema {
    static var empty: BatchCreateResponse.Failure { .init(index: 0, message: "") }

    static func visit(
      _ failure: inout BatchCreateResponse.Failure, _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.index(1, &failure.index)
      try visitor.field(2, "message", &failure.message, ProtobufString.self)
    }
  }

  /// No members.
  public static var empty: BatchCreateResponse { BatchCreateResponse() }

  /// Visits the members.
  public static func visit(
    _ response: inout BatchCreateResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.constant(1, "kind", "identitytoolkit#UploadAccountResponse")
    try visitor.repeated(2, "error", &response.errors, ProtobufMessage<Failure>.self)
  }
}

extension ProtobufVisitor {
  /// Visits the place of an entry in the request; zero is written too.
  fileprivate mutating func index(_ number: UInt32, _ index: inout Int) throws(BytesError) {
    var value: Int64? = Int64(index)
    try optional(number, "index", &value, JSONInteger.self)
    index = value.flatMap { Int(exactly: $0) } ?? 0
  }
}
