public import VestaServiceInterop

/// How the engine behaves.
public struct FirestoreServiceOptions: Sendable {
  /// For how many seconds moments in the past can be read, and listeners can resume without starting over.
  public var retention: Int64 = 3600

  /// For how many seconds the answer to a request of a write call is kept, so that a client that has not received it
  /// can send the request again; after that, the same request is applied a second time.
  public var answerRetention: Int64 = 30 * 86_400

  /// After how many seconds without a query that uses it an index goes, which costs every write.
  public var indexLifetime: Int64 = 7 * 86_400

  /// How often a query has to ask for an index before it is made; declared indexes are made at once.
  ///
  /// A query that is asked once costs a look at its collection, an index costs every write from then on.
  public var automaticIndexUses = 2

  /// How many indexes the queries of one collection may have besides the declared ones.
  ///
  /// Beyond that the one that was used least recently goes, if nothing has used it for an hour. Otherwise queries that
  /// lack an index look at all documents of their collection.
  public var automaticIndexesPerCollection = 32

  /// The callers that are served.
  public var access = Access.everyone

  /// The callers that an engine serves.
  public enum Access: Sendable, Hashable {
    /// All calls. Within an app that trusts its own code; never for calls that come from elsewhere.
    case everyone
    /// Calls in the owner's name only; others are refused with `PERMISSION_DENIED`.
    case owner
  }

  /// The indexes to make when a database is opened, and the fields that are to have none.
  ///
  /// A query that needs an index of an exempt field alone looks at all documents of its collection.
  public var indexes = FirestoreIndexes()

  /// Whether queries are refused that production would refuse for want of an index; for development and tests.
  ///
  /// Then `indexes` is all there is, besides the indexes that production has for every field.
  public var requiresDeclaredIndexes = false

  /// After how many seconds without a call a transaction ends.
  public var transactionIdleTime: Int64 = 60

  /// After how many seconds a transaction ends in any case.
  public var transactionLifetime: Int64 = 270

  /// How many bytes of documents that were read lately are kept in memory; 0 for none.
  ///
  /// They are kept only with a store that tells of each commit before it is acknowledged
  /// (`CommitObservable.tellsBeforeAcknowledging`), as stores of one process do.
  public var recentDocumentBytes = 16 * 1_048_576

  /// How many transactions of a database may be open at a time.
  ///
  /// Beyond that beginning one fails with `RESOURCE_EXHAUSTED`; those that are open go on.
  public var openTransactions = 10_000

  /// How many documents and queries one transaction may read.
  ///
  /// Beyond that the read fails with `INVALID_ARGUMENT`, as what has been read must be checked by the commit.
  public var transactionReads = 50_000

  /// How many documents and queries all open transactions of a database may have read together.
  ///
  /// Beyond that reads in transactions fail with `RESOURCE_EXHAUSTED`; a transaction keeps some 200 bytes for each.
  public var openTransactionReads = 1_000_000

  /// For how many seconds a write outside of transactions waits for documents that a transaction has read and may
  /// write.
  ///
  /// After that it fails with `ABORTED`.
  public var lockWait: Int64 = 15

  /// How many bytes of responses may wait for a listener that does not read.
  ///
  /// Beyond that they are merged: of each document the latest state is kept, of snapshots the last one. A call that has
  /// more than three quarters of the limit unread even so ends with `RESOURCE_EXHAUSTED`; it listens again with its
  /// resume tokens, and misses nothing.
  public var unreadBytes = 16 * 1_048_576

  /// After how many seconds without news a listener gets a new resume token, so that resuming costs little.
  public var tokenInterval: Int64 = 300

  /// How often listeners look for commits of other processes in a store that does not tell of its commits.
  ///
  /// Stores that are `CommitObservable` wake them at once, and are not asked.
  public var pollInterval: Duration = .milliseconds(500)

  /// MD5, with which listeners that resume are told the names of documents that are still there.
  ///
  /// Without it they are told how many there are, and ask again for all of them when that is not what they have.
  public var md5: (@Sendable ([UInt8]) -> [UInt8])?

  /// The clock, by which read times, lifetimes and deadlines count.
  public var clock = ServiceClock.system

  /// The defaults: production's limits and the system's clock.
  public init() {}

  /// The time in microseconds since 1970.
  func now() -> Int64 { clock.now() }
}
