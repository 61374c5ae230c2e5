public import VestaServiceInterop

/// The limits, lifetimes, indexes and clock of an engine.
public struct FirestoreServiceOptions: Sendable {
  /// The time for which past versions can be read, and listeners can resume without starting over.
  public var retention = Duration.seconds(3600)

  /// The time for which the answer to a request of a write call is kept, so that a client that has not received it can
  /// send the request again; after that, the same request is applied a second time.
  public var answerRetention = Duration.seconds(30 * 86_400)

  /// The time without a query that uses it after which an automatic index is dropped: it costs every write.
  public var indexLifetime = Duration.seconds(7 * 86_400)

  /// The number of queries that must lack an index before it is made; declared indexes are made at once.
  ///
  /// One query without its index costs one scan of its collection, an index costs every write from then on.
  public var automaticIndexUses = 2

  /// The maximum number of automatic indexes of a collection, in addition to the declared ones.
  ///
  /// Beyond that the least recently used one is dropped, if nothing has used it for an hour. Otherwise queries that
  /// lack an index look at all documents of their collection.
  public var automaticIndexesPerCollection = 32

  /// The callers that are served.
  public var access = Access.everyone

  /// The callers that an engine serves.
  public enum Access: Sendable, Hashable {
    /// All callers, without security rules. For an app that trusts its own code; never enable it for calls from a
    /// network.
    case everyone
    /// Calls in the owner's name only; others are refused with `PERMISSION_DENIED`.
    case owner
  }

  /// The indexes to make when a database is opened, and the fields that are exempt from indexes.
  ///
  /// A query that needs an index of an exempt field alone scans its collection.
  public var indexes = FirestoreIndexes()

  /// Refuses queries that production would refuse for want of an index; for development and tests.
  ///
  /// Queries then use `indexes`, and the indexes that production has for every field.
  public var requiresDeclaredIndexes = false

  /// Creates a database that does not exist when it is read, as Firebase's emulator does; for development and tests.
  ///
  /// Otherwise a read fails with `NOT_FOUND`, unless the database is the default one. At most 100 databases are created
  /// by reading.
  public var createsDatabasesByReading = false

  /// The identifiers of the databases that writes of users create; `nil` for all.
  ///
  /// Of others a user's call fails with `NOT_FOUND` until the owner has made or written to the database. The default
  /// one is always there. A server that anyone may call names its databases here: each one that is made stays.
  public var databasesOfUsers: Set<String>?

  /// Refuses `BatchWrite` of everyone but owners, as Firebase's emulator does; for development and tests.
  ///
  /// Otherwise rules decide about each of its writes.
  public var refusesBatchWritesOfUsers = false

  /// The time without a call after which a transaction ends.
  public var transactionIdleTime = Duration.seconds(60)

  /// The time after which a transaction ends in any case.
  public var transactionLifetime = Duration.seconds(270)

  /// The bytes of recently read documents that are kept in memory; 0 for none.
  ///
  /// They are kept only with a store that reports each commit before it is acknowledged
  /// (`CommitObservable.tellsBeforeAcknowledging`), as stores of one process do.
  public var recentDocumentBytes = 16 * 1_048_576

  /// The maximum number of open transactions of a database.
  ///
  /// Beyond that beginning one fails with `RESOURCE_EXHAUSTED`; the open ones continue.
  public var openTransactions = 10_000

  /// The maximum number of documents and queries that one transaction reads.
  ///
  /// Beyond that the read fails with `INVALID_ARGUMENT`: the commit checks everything that was read.
  public var transactionReads = 50_000

  /// The maximum number of documents and queries that all open transactions of a database have read together.
  ///
  /// Beyond that reads in transactions fail with `RESOURCE_EXHAUSTED`; a transaction keeps some 200 bytes for each.
  public var openTransactionReads = 1_000_000

  /// The time that a write outside of transactions waits for documents that a transaction has read and may write.
  ///
  /// After that it fails with `ABORTED`.
  public var lockWait = Duration.seconds(15)

  /// The maximum number of bytes of responses that wait for a listener that does not read.
  ///
  /// Beyond that they are merged: of each document the latest state is kept, of snapshots the last one. A call that has
  /// more than three quarters of the limit unread even so ends with `RESOURCE_EXHAUSTED`; it listens again with its
  /// resume tokens, and misses nothing. The first results of a target may be larger, and do not count; they wait while
  /// more than half of the limit is unread.
  public var unreadBytes = 16 * 1_048_576

  /// The time without a change after which a listener gets a new resume token, so that resuming costs little.
  public var tokenInterval = Duration.seconds(300)

  /// The interval at which listeners look for commits of other processes in a store that does not report its commits.
  ///
  /// Stores that are `CommitObservable` wake listeners at once, and are not polled.
  public var pollInterval: Duration = .milliseconds(500)

  /// The MD5 digest for the bloom filters sent to resuming listeners.
  ///
  /// Without it they get the number of documents alone, and start over when that is not the number they have.
  public var md5: (@Sendable ([UInt8]) -> [UInt8])?

  /// The clock by which read times, lifetimes and deadlines count.
  public var clock = ServiceClock.system

  /// The sizes at which the engine changes what it does; small in tests.
  package var tuning = EngineTuning()

  /// The defaults: production's limits and the system's clock.
  public init() {}

  /// The time in microseconds since 1970.
  func now() -> Int64 { clock.now() }
}
