public import VestaConcurrency
public import VestaStoreInterop

/// A store whose disk can be made full, for engines that have to delete then.
///
/// On a full disk a transaction that puts something fails with `StoreError.Code.diskFull`, unless it says that it makes
/// room (`StoreTransaction.freesRoom`) and puts little; a transaction that only deletes is kept.
///
/// ```swift
/// let store = SmallDiskStore()
/// store.isFull = true
/// try await engine.delete("cities/berlin")   // has to work
/// store.isFull = false                       // and everything else works again
/// ```
public final class SmallDiskStore: CommitObservable {
  private let inner: ModelStore
  private let reserve: Int?
  private let full = Locked(false)

  /// An empty store with room.
  ///
  /// - Parameters:
  ///   - reserve: How many bytes a transaction that makes room may put on a full disk; `nil` for a store that refuses
  ///     deletes too, which is wrong.
  ///   - clock: The clocks that versions are taken from.
  public init(reserve: Int? = 64 * 1024, clock: StoreClock = .system) {
    inner = ModelStore(clock: clock)
    self.reserve = reserve
  }

  /// Whether the disk is full.
  public var isFull: Bool {
    get { full.withLock { $0 } }
    set { full.withLock { $0 = newValue } }
  }

  /// Reads at one version in time.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await inner.read(body)
  }

  /// Changes the store, if there is room.
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    let commit = try await inner.write { transaction in
      let counted = CountedTransaction(transaction)
      let value = try await body(counted)
      try self.check(counted)
      return value
    }
    return commit
  }

  private func check(_ transaction: CountedTransaction) throws {
    guard isFull, !transaction.fits(reserve) else { return }
    throw StoreError(.diskFull, operation: "commit", message: "The disk of the small store is full.")
  }

  /// Raises the floor of later versions.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try await inner.raiseFloor(to: version)
  }

  /// Ends the store.
  public func close() async throws { try await inner.close() }

  /// Calls back after every commit.
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    inner.observeCommits(observer)
  }

  /// Observers are called before a write returns.
  public var tellsBeforeAcknowledging: Bool { true }

  /// The commits from here on as a stream.
  public var commits: AsyncStream<StoreVersion> { inner.commits }
}

/// A transaction that knows how much it has put.
private final class CountedTransaction: StoreTransaction {
  private let inner: any StoreTransaction
  private var putBytes = 0
  private var hasPut = false
  private var hasDeleted = false
  private var saysItFrees = false

  init(_ inner: any StoreTransaction) { self.inner = inner }

  /// Whether it can be kept on a full disk.
  func fits(_ reserve: Int?) -> Bool {
    guard hasPut || hasDeleted else { return true }
    guard let reserve else { return false }
    return !hasPut || saysItFrees && putBytes <= reserve
  }

  var version: StoreVersion { inner.version }
  var answersInPlace: Bool { inner.answersInPlace }
  func get(_ key: [UInt8]) async throws -> [UInt8]? { try await inner.get(key) }
  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] { try await inner.get(keys) }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try await inner.scan(range, order: order, limit: limit, visit)
  }

  func commitVersion() async throws -> StoreVersion { try await inner.commitVersion() }

  func put(_ value: [UInt8], for key: [UInt8]) async throws {
    try await inner.put(value, for: key)
    hasPut = true
    putBytes += key.count + value.count
  }

  func delete(_ key: [UInt8]) async throws {
    hasDeleted = true
    try await inner.delete(key)
  }

  func deleteRange(_ range: KeyRange) async throws {
    hasDeleted = true
    try await inner.deleteRange(range)
  }

  func freesRoom() { saysItFrees = true }
}
