import VestaBytes
public import VestaFirestoreBackend
import VestaFirestoreWire
public import VestaServiceInterop
public import VestaTransportInterop

/// The document service on another machine: a server, an emulator, or Firebase.
///
/// - Each call is one call of `google.firestore.v1` over gRPC, with the fields of upstream's clients. All of them share
///   the connections of the transport, as each brings its identity with it.
/// - Nothing is kept and nothing is repeated here: the client above has the cache, the retries and the back-off.
/// - A commit whose connection was lost on the way may have happened: it fails with `DEADLINE_EXCEEDED`. Requests of a
///   write call have identifiers, by which `vesta` applies them once.
/// - The caller of a call that stays open is refused by its responses, after the first request.
///
/// ```swift
/// let remote = FirestoreRemote(on: try RESTService(client, at: "https://vesta.example"))
/// let response = try await remote.commit(request, context: context)
/// ```
///
/// To read on: `GRPCServiceChannel` for what all calls have in common, `FirestoreRemote+Streams.swift` for the calls
/// that stay open.
public final class FirestoreRemote: FirestoreBackend {
  let channel: GRPCServiceChannel<FirestoreServiceError>
  let options: FirestoreRemoteOptions

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - service: The server.
  ///   - options: The settings.
  public init(on service: RESTService, options: FirestoreRemoteOptions = FirestoreRemoteOptions()) {
    self.options = options
    let grpc = GRPCOptions(messageBytes: options.tuning.messageBytes, compression: service.options.compression)
    channel = GRPCServiceChannel(service, grpc: grpc)
  }

  /// The loop of the connection, which all calls share.
  public var responseExecutor: (any TaskExecutor)? { channel.executor }

  // MARK: Reading

  /// Reads documents by name, all at one version.
  public func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await channel.stream(read("BatchGetDocuments", request.database), context: context) {
      try BatchGetRequestWire.bytes(of: request)
    } decode: {
      try BatchGetResponseWire.message(from: $0)
    } receive: {
      try await receive($0)
    }
  }

  /// Lists the documents of a collection, a page at a time.
  public func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    try await channel.unary(call("ListDocuments", request.parent), context: context) {
      try ListDocumentsRequestWire.bytes(of: request)
    } decode: {
      try ListDocumentsResponseWire.message(from: $0)
    }
  }

  /// Lists the collections directly below a document or the root, a page at a time.
  public func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    try await channel.unary(call("ListCollectionIds", request.parent), context: context) {
      try ListCollectionIDsRequestWire.bytes(of: request)
    } decode: {
      try ListCollectionIDsResponseWire.message(from: $0)
    }
  }

  /// Runs a query; results are in its order.
  public func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await channel.stream(read("RunQuery", request.parent), context: context) {
      try RunQueryRequestWire.bytes(of: request)
    } decode: {
      try RunQueryResponseWire.message(from: $0)
    } receive: {
      try await receive($0)
    }
  }

  /// Counts, sums and averages the results of a query.
  public func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    var merged: RunAggregationQueryResponse?
    do {
      try await channel.stream(read("RunAggregationQuery", request.parent), context: context) {
        try RunAggregationRequestWire.bytes(of: request)
      } decode: {
        try RunAggregationResponseWire.message(from: $0)
      } receive: { response in
        merged = merged.map { $0.merged(with: response) } ?? response
      }
    } catch {
      throw error as? FirestoreServiceError ?? FirestoreServiceError(.unknown, "The call has failed.")
    }
    guard let merged else { throw FirestoreServiceError(.internal, "The service has sent no figures.") }
    return merged
  }

  /// Splits a query into parts of about equal size.
  public func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    try await channel.unary(read("PartitionQuery", request.parent), context: context) {
      try PartitionQueryRequestWire.bytes(of: request)
    } decode: {
      try PartitionQueryResponseWire.message(from: $0)
    }
  }

  // MARK: Writing

  /// Commits writes, all or nothing, and ends the transaction if there is one.
  ///
  /// - Throws: `DEADLINE_EXCEEDED` also where the connection was lost: the writes may have happened.
  public func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await channel.unary(call("Commit", request.database, isRepeatable: false), context: context) {
      try CommitRequestWire.bytes(of: request)
    } decode: {
      try CommitResponseWire.message(from: $0)
    }
  }

  /// Applies writes, each by itself and in any order.
  public func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try await channel.unary(call("BatchWrite", request.database, isRepeatable: false), context: context) {
      try BatchWriteRequestWire.bytes(of: request)
    } decode: {
      try BatchWriteResponseWire.value(from: $0)
    }
  }

  // MARK: Transactions

  /// Begins a transaction.
  ///
  /// One whose answer is lost ends by itself.
  public func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await channel.unary(call("BeginTransaction", request.database), context: context) {
      try BeginTransactionRequestWire.bytes(of: request)
    } decode: {
      try BeginTransactionResponseWire.message(from: $0)
    }
  }

  /// Gives a transaction up, and what it holds.
  public func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await channel.unary(call("Rollback", request.database), context: context) {
      try RollbackRequestWire.bytes(of: request)
    } decode: { _ in
    }
  }

  // MARK: Calls

  /// A call; the names of the documents that it concerns begin with its database.
  func call(_ name: StaticString, _ resource: String, isRepeatable: Bool = true) -> GRPCCall {
    GRPCCall(
      "/google.firestore.v1.Firestore/\(name)", metadata: Self.metadata(of: resource), isRepeatable: isRepeatable)
  }

  /// A call that may read for long.
  private func read(_ name: StaticString, _ resource: String) -> GRPCCall {
    var call = call(name, resource)
    call.timeout = options.tuning.readTimeout
    return call
  }

  /// The fields by which services find the database, as upstream's clients send them.
  private static func metadata(of resource: String) -> HTTPFields {
    let database = fieldText.encode(bytes: databasePart(of: resource))
    return ["google-cloud-resource-prefix": database, "x-goog-request-params": database]
  }

  /// The characters of names that a field may hold unescaped.
  private static let fieldText = PercentEncoding(leaving: "-._~/()")

  /// `projects/P/databases/D` of a name that begins with it.
  private static func databasePart(of resource: String) -> Substring.UTF8View {
    var slashes = 0
    return resource.utf8.prefix { byte in
      if byte == UInt8(ascii: "/") { slashes += 1 }
      return slashes < 4
    }
  }
}

extension RunAggregationQueryResponse {
  /// One response of a result that may arrive in several.
  fileprivate func merged(with later: RunAggregationQueryResponse) -> RunAggregationQueryResponse {
    RunAggregationQueryResponse(
      result: later.result ?? result, transaction: later.transaction ?? transaction,
      readTime: later.readTime ?? readTime, explainMetrics: later.explainMetrics ?? explainMetrics)
  }
}
