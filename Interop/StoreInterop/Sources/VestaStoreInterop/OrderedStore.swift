/// An ordered map of bytes to bytes with serializable transactions: the storage under every engine.
///
/// One contract from a file on a phone to a cluster. Keys are ordered as unsigned bytes, a shorter key before the
/// longer one it begins; `KeyEncoder` writes values so that this order is the order of their meaning.
///
/// Promises of every implementation:
/// - **Isolation.** `read` sees one version of the store, from its first call to its last. `write` is serializable: the
///   committed transactions have an order in which each of them could have run alone, and that order is the order of
///   their versions. A `read` that begins after a `write` has returned sees what it wrote.
/// - **Atomicity.** All of a transaction is kept, or none of it: after a throw, a cancellation or a crash alike.
/// - **Durability.** When `write` has returned, its changes survive whatever the store's durability says; see
///   `StoreDurability`.
/// - **No hidden waiting.** An embedded engine answers reads on the calling thread, without suspending. Engines on
///   a network suspend, so callers batch: prefer `get(_:)` with many keys and `scan` to single reads in a loop.
///
/// - **Versions are times.** The version of a commit is its commit time in microseconds since 1970: strictly growing,
///   and above everything that a reader was shown, across restarts and clock changes too; see `VersionClock`.
///
/// All methods may be called from any task or thread at once. `nonisolated(nonsending)` says that they run on the
/// caller's executor; copy it into an implementation, whatever the default of its package is.
public protocol OrderedStore: AnyObject, Sendable {
  /// Reads at one version in time.
  ///
  /// Reads do not wait for writes and writes do not wait for reads. Keep the body short all the same: an old snapshot
  /// keeps old data on disk. An engine may bound the number of bodies that read at once, to two or more; a read beyond
  /// them waits until one has returned, unless it is inside another body. So a body must not wait for a read that
  /// another task has not begun, where as many bodies may wait in the same way.
  ///
  /// - Parameter body: The read. The reader is valid until the body returns; a use after that throws
  ///   `StoreError.Code.ended`. A body must not call `write` of the same store and wait for it.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body, `CancellationError`, or `StoreError`.
  nonisolated(nonsending) func read<Result>(
    _ body: nonisolated(nonsending) (any StoreReader) async throws -> Result
  ) async throws -> Result

  /// Reads at one version in time, with a hint about the first read of the body.
  ///
  /// The hint changes how fast the read is, and nothing else: an engine that is reached over a network fetches those
  /// rows together with the beginning of the read, in one round trip. Engines without round trips need not implement
  /// this method, and do not evaluate the hint.
  ///
  /// - Parameters:
  ///   - first: The keys that the body gets first, or the range that it scans first, if it does.
  ///   - body: The read; see `read(_:)`.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body, `CancellationError`, or `StoreError`.
  nonisolated(nonsending) func read<Result>(
    expecting first: @autoclosure () -> StoreFirstRead,
    _ body: nonisolated(nonsending) (any StoreReader) async throws -> Result
  ) async throws -> Result

  /// Changes the store: all of the body's changes, or none.
  ///
  /// The body **may run again** after a conflict, and may run on behalf of the caller in another task: it must have no
  /// effect except through its transaction, and must not rely on task-local values. Reads in the body see the body's
  /// own changes. A body that changes nothing commits nothing and takes no new version; whether putting what is there
  /// already is a change is the engine's choice.
  ///
  /// Cancelling the calling task ends the transaction at its next operation; once the commit itself has begun it is
  /// completed, and the call returns normally.
  ///
  /// - Parameter body: The work. The transaction is valid until the body returns. A body must not call `write` of the
  ///   same store and wait for it: that can never finish, and throws `StoreError.Code.nested` where the engine sees it.
  /// - Returns: The result of the body, and the version of the commit.
  /// - Throws: The error of the body, `CancellationError`, or `StoreError`; nothing has been changed then, except after
  ///   `StoreError.Code.unknownOutcome`, which says so.
  @discardableResult
  nonisolated(nonsending) func write<Result: Sendable>(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result>

  /// Makes a version safe to read at: all commits at or below it are visible, and no later one gets such a version.
  ///
  /// A read that begins after this call therefore sees the same entries with versions up to `version` as every later
  /// one, whatever runs concurrently. The floor survives a restart of the store.
  ///
  /// It returns at once, unless a running transaction was given a commit version at or below; then it waits for
  /// that transaction.
  ///
  /// - Parameter version: The version to read at; `nil` for the current version.
  /// - Returns: `version`, or the current version.
  /// - Throws: `StoreError.Code.futureVersion` for a version more than a minute ahead of the store's clock;
  ///   `StoreError.Code.nested` inside a transaction of the same store; `CancellationError`, or another `StoreError`.
  @discardableResult
  nonisolated(nonsending) func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion

  /// Ends the store: waits for the bodies that are running, refuses everything else, and releases files and locks.
  ///
  /// A write that waits for its turn throws `StoreError.Code.closed`, and nothing of it is kept. Calling `close` again
  /// does nothing. Every other call then throws `closed`; commit observers get no further call, and commit streams end,
  /// after they have reported every commit. No body may close its own store and wait for it: it would wait for itself.
  nonisolated(nonsending) func close() async throws
}

/// One version of a store, to read from.
///
/// Valid inside the body it was handed to, and nowhere else. Not safe to use from two tasks at once.
public protocol StoreReader {
  /// The version of the last commit that this reader sees; `.zero` in a store without commits.
  ///
  /// In a transaction: the version that it is based on.
  var version: StoreVersion { get }

  /// Whether it answers on the calling thread without suspending, as the readers of embedded engines do.
  ///
  /// Long reads of such a reader should go through `yielding`, which lets other tasks use the thread in between. The
  /// default is `false`. It is also `false` in transactions, which should end soon, as other writes wait for them.
  var answersInPlace: Bool { get }

  /// The value under a key.
  ///
  /// - Parameter key: The whole key; it may be empty.
  /// - Returns: The value, which may be empty; `nil` when there is none.
  nonisolated(nonsending) func get(_ key: [UInt8]) async throws -> [UInt8]?

  /// The values under several keys, in one round trip where there are round trips.
  ///
  /// - Parameter keys: Whole keys in any order; the same one may occur twice.
  /// - Returns: A value or `nil` for each key, in the order of the keys.
  nonisolated(nonsending) func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?]

  /// Visits the entries of a range in order.
  ///
  /// The spans given to `visit` are valid during that call only; copy what is to be kept. `visit` cannot call the
  /// reader: gather keys first and `get` them together afterwards.
  ///
  /// - Parameters:
  ///   - range: Which keys; the upper bound is not part of it.
  ///   - order: Ascending or descending byte order.
  ///   - limit: How many entries at the most; `nil` for all. Zero visits none.
  ///   - visit: Takes the key and the value and says whether to continue. An error ends the scan and is thrown.
  /// - Returns: The end of the scan, and the rest of the range.
  nonisolated(nonsending) func scan(
    _ range: KeyRange,
    order: ScanOrder,
    limit: Int?,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd
}

/// A transaction: reads that see its own changes, and changes that no other reader sees before the commit.
public protocol StoreTransaction: StoreReader {
  /// Returns the version that this transaction will have if it commits changes: its commit time.
  ///
  /// It is above `version` and above the floor, the same for each call, and the one that `write` returns. A transaction
  /// that runs again after a conflict gets another one. Readers that ask for all commits up to this version wait for
  /// the transaction from here on (`OrderedStore.raiseFloor`), so ask for it late in a long body.
  nonisolated(nonsending) func commitVersion() async throws -> StoreVersion

  /// Puts a value under a key, in place of the one that may be there.
  ///
  /// - Parameters:
  ///   - value: At most `StoreLimits.maximumValueLength` bytes; may be empty.
  ///   - key: At most `StoreLimits.maximumKeyLength` bytes; may be empty.
  /// - Throws: `StoreError.Code.keyTooLong` and `.valueTooLong`: the transaction continues as if it had not been
  ///   called.
  nonisolated(nonsending) func put(_ value: [UInt8], for key: [UInt8]) async throws

  /// Takes a key away; nothing happens when it is not there.
  ///
  /// - Parameter key: The whole key.
  nonisolated(nonsending) func delete(_ key: [UInt8]) async throws

  /// Takes every key of a range away.
  ///
  /// - Parameter range: Which keys; the upper bound is not part of it.
  nonisolated(nonsending) func deleteRange(_ range: KeyRange) async throws

  /// Says that this transaction makes room, although it puts something too, such as a note of what it deletes.
  ///
  /// A store that can run out of room keeps some for transactions that make room, so that deleting works on a full
  /// disk. Transactions that delete and put nothing need not say so. The default does nothing.
  ///
  /// Call it where what is put is small and bounded, and what is deleted is more. A store may refuse a transaction of
  /// more than some hundred kilobytes all the same: delete much in several transactions.
  func freesRoom()
}

extension StoreTransaction {
  /// Does nothing: for stores without a bound.
  public func freesRoom() {}
}

/// The outcome of a transaction.
public struct StoreCommit<Result> {
  /// The value that the body returned.
  public let value: Result

  /// The version of this commit; for a body that changed nothing, the version it read at.
  public let version: StoreVersion

  /// A result with the version under which it was committed.
  ///
  /// - Parameters:
  ///   - value: The result of the body.
  ///   - version: The version of the commit.
  public init(value: Result, version: StoreVersion) {
    self.value = value
    self.version = version
  }
}

extension StoreCommit: Sendable where Result: Sendable {}

/// The first read of a body, as far as its caller knows.
public enum StoreFirstRead: Sendable {
  /// Some keys, by one `get`.
  case keys([[UInt8]])

  /// A range, by one `scan`.
  case scan(KeyRange, order: ScanOrder, limit: Int?)
}

extension OrderedStore {
  /// Reads without an order of its keys; see `OrderedStore`.
  public func read<Result>(
    expecting first: @autoclosure () -> StoreFirstRead, _ body: (any StoreReader) async throws -> Result
  ) async throws -> Result {
    try await read(body)
  }
}
