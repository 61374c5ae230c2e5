public import VestaBytes
public import VestaFirestoreBackend

/// The statement of `google.firestore.v1.TransactionOptions`; without a mode the transaction may write.
public enum TransactionOptionsWire: ProtobufSchema {
  /// A transaction that writes.
  public static var empty: TransactionOptions { .readWrite() }

  /// Visits the fields.
  public static func visit(
    _ options: inout TransactionOptions, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.member(2, "readOnly", &options, ProtobufMessage<ReadOnlyWire>.self) {
      if case .readOnly(let time) = $0 { .some(time) } else { nil }
    } embed: {
      .readOnly(readTime: $0)
    }
    try visitor.member(3, "readWrite", &options, ProtobufMessage<ReadWriteWire>.self) {
      if case .readWrite(let retrying, let concurrency) = $0 { (retrying, concurrency) } else { nil }
    } embed: {
      .readWrite(retrying: $0.retrying, concurrency: $0.concurrency)
    }
  }
}

private enum ReadOnlyWire: ProtobufSchema {
  static var empty: Timestamp? { nil }

  static func visit(_ time: inout Timestamp?, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(2, "readTime", &time, TimestampWire.self)
  }
}

private enum ReadWriteWire: ProtobufSchema {
  typealias Parts = (retrying: [UInt8]?, concurrency: TransactionOptions.ConcurrencyMode?)

  static var empty: Parts { (nil, nil) }

  static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "retryTransaction", &parts.retrying, ProtobufBytes.self)
    if parts.retrying?.isEmpty == true { parts.retrying = nil }
    try visitor.field(2, "concurrencyMode", &parts.concurrency, ProtobufEnum<Modes>.self)
  }

  enum Modes: ProtobufEnumSchema {
    static var cases: [(number: Int32, name: StaticString, value: TransactionOptions.ConcurrencyMode?)] {
      [(0, "CONCURRENCY_MODE_UNSPECIFIED", nil), (1, "OPTIMISTIC", .optimistic), (2, "PESSIMISTIC", .pessimistic)]
    }
  }
}

extension ProtobufVisitor {
  /// Visits the oneof that says at which time a call reads.
  mutating func consistency(
    _ consistency: inout ReadConsistency, transaction: UInt32, newTransaction: UInt32? = nil, readTime: UInt32
  ) throws(BytesError) {
    try member(transaction, "transaction", &consistency, ProtobufBytes.self) {
      if case .transaction(let id) = $0 { id } else { nil }
    } embed: {
      $0.isEmpty ? .latest : .transaction($0)
    }
    if let newTransaction {
      try member(newTransaction, "newTransaction", &consistency, ProtobufMessage<TransactionOptionsWire>.self) {
        if case .newTransaction(let options) = $0 { options } else { nil }
      } embed: {
        .newTransaction($0)
      }
    }
    try member(readTime, "readTime", &consistency, TimestampWire.self) {
      if case .readTime(let time) = $0 { time } else { nil }
    } embed: {
      .readTime($0)
    }
  }

  /// Visits bytes that are absent when they are empty.
  mutating func token(_ number: UInt32, _ name: StaticString, _ token: inout [UInt8]?) throws(BytesError) {
    try optional(number, name, &token, ProtobufBytes.self)
    if token?.isEmpty == true { token = nil }
  }

  /// Visits the options of a request, which are tags for its measurement and not kept.
  mutating func requestOptions(_ number: UInt32) throws(BytesError) {
    guard isReading else { return }
    var tags: [String]?
    try optional(number, "requestOptions", &tags, ProtobufMessage<RequestOptionsWire>.self)
  }
}

private enum RequestOptionsWire: ProtobufSchema {
  static var empty: [String] { [] }

  static func visit(_ tags: inout [String], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "requestTags", &tags, ProtobufString.self)
  }
}

/// The statement of `google.firestore.v1.BeginTransactionRequest`.
public enum BeginTransactionRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: BeginTransactionRequest { BeginTransactionRequest(database: "") }

  /// Visits the fields.
  public static func visit(
    _ request: inout BeginTransactionRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "database", &request.database, ProtobufString.self)
    try visitor.field(2, "options", &request.options, ProtobufMessage<TransactionOptionsWire>.self)
    try visitor.requestOptions(3)
  }
}

/// The statement of `google.firestore.v1.BeginTransactionResponse`.
public enum BeginTransactionResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: BeginTransactionResponse { BeginTransactionResponse(transaction: []) }

  /// Visits the fields.
  public static func visit(
    _ response: inout BeginTransactionResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "transaction", &response.transaction, ProtobufBytes.self)
  }
}

/// The statement of `google.firestore.v1.RollbackRequest`.
public enum RollbackRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: RollbackRequest { RollbackRequest(database: "", transaction: []) }

  /// Visits the fields.
  public static func visit(
    _ request: inout RollbackRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "database", &request.database, ProtobufString.self)
    try visitor.field(2, "transaction", &request.transaction, ProtobufBytes.self)
    try visitor.requestOptions(3)
  }
}
