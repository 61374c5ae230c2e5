/// The kind of a transaction.
public enum TransactionOptions: Sendable, Hashable {
  /// Reads at one time: `readTime`, at most an hour ago, or that of the first read. Other calls never make it fail.
  case readOnly(readTime: Timestamp? = nil)
  /// Reads and writes. `retrying` is the transaction that this one tries again, which gives it priority.
  case readWrite(retrying: [UInt8]? = nil, concurrency: ConcurrencyMode? = nil)

  /// The way in which a transaction that writes is isolated from others.
  public enum ConcurrencyMode: Sendable, Hashable {
    /// Nothing is locked; the commit fails with `ABORTED` when something that was read has changed.
    case optimistic
    /// Documents that are read are locked; other writers of them wait.
    case pessimistic
  }
}

/// The read time of a call, or its transaction.
public enum ReadConsistency: Sendable, Hashable {
  /// Now: everything that was committed before the call is seen.
  case latest
  /// In a transaction, which holds what is read.
  case transaction([UInt8])
  /// In a transaction that the call begins; its identifier is in the first response.
  case newTransaction(TransactionOptions)
  /// At a past time, within the retention of the backend.
  case readTime(Timestamp)
}

/// Begins a transaction.
public struct BeginTransactionRequest: Sendable, Hashable {
  /// The database, `projects/{p}/databases/{d}`.
  public var database: String

  /// The kind of transaction.
  public var options: TransactionOptions

  /// A request for a transaction.
  public init(database: String, options: TransactionOptions = .readWrite()) {
    self.database = database
    self.options = options
  }
}

/// A transaction that has begun.
public struct BeginTransactionResponse: Sendable, Hashable {
  /// Its identifier, opaque.
  public var transaction: [UInt8]

  /// A transaction that has begun.
  public init(transaction: [UInt8]) { self.transaction = transaction }
}

/// Gives a transaction up.
public struct RollbackRequest: Sendable, Hashable {
  /// The database, `projects/{p}/databases/{d}`.
  public var database: String

  /// The identifier of the transaction.
  public var transaction: [UInt8]

  /// A request to give a transaction up.
  public init(database: String, transaction: [UInt8]) {
    self.database = database
    self.transaction = transaction
  }
}
