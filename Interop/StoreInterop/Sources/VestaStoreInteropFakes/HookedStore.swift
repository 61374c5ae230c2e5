public import VestaConcurrency
public import VestaStoreInterop

/// A store in front of another one, with a hook at each step of its calls, and counts of what passes through.
///
/// A hook may wait, as at a `Gate` of VestaTesting, do something else first, or throw the error with which the step
/// fails.
///
/// ```swift
/// let (store, gate) = (HookedStore(), Gate())
/// store.hook { if $0 == .write { await gate.wait() } }            // writes wait before they begin
/// store.hook { if $0 == .committed { throw unknownOutcome } }     // kept, and yet reported as failed
/// store.hook(nil)
/// ```
public final class HookedStore: CommitObservable {
  /// A step of a call.
  public enum Step: Sendable, Hashable {
    /// A read is about to begin.
    case read
    /// A read has its version, and its body is about to run.
    case snapshot
    /// The body of a read has returned, and the read is over.
    case readEnd
    /// Rows are about to be read by their keys, in the body of a read.
    case get([[UInt8]])
    /// A range is about to be read, in the body of a read.
    case scan(lower: [UInt8])
    /// A write is about to begin.
    case write
    /// A transaction is about to put a value for a key.
    case put([UInt8])
    /// A transaction is about to delete a row, or a range that begins there.
    case delete([UInt8])
    /// A write was committed, and is about to return.
    case committed
  }

  /// A hook: it runs before the step, which fails with its error.
  public typealias Hook = @Sendable (Step) async throws -> Void

  /// The calls, rows and changes that have passed through the store.
  public struct Counts: Sendable, Hashable {
    /// All reads, and the reads that have not ended.
    public var (reads, openReads) = (0, 0)
    /// All writes, and the committed ones.
    public var (writes, commits) = (0, 0)
    /// The rows that were read by key, and the rows that scans have visited.
    public var (rowsRead, rowsScanned) = (0, 0)
    /// The scans.
    public var scans = 0
    /// The values that were put, and the deletions of rows and of ranges.
    public var (put, deleted) = (0, 0)

    /// Nothing.
    public init() {}
  }

  private struct State: Sendable {
    var hook: Hook?
    var counts = Counts()
  }

  private let base: any CommitObservable
  private let closesBase: Bool
  private let state = Locked(State())

  /// Whether each commit is reported before it is acknowledged.
  public let tellsBeforeAcknowledging: Bool

  /// A store in front of another one.
  ///
  /// - Parameters:
  ///   - base: The store that keeps the data.
  ///   - closesBase: Whether closing this store closes the other one; `false` where it outlives its engines.
  ///   - isShared: Whether other processes may write to the store, so that commits are acknowledged before they are
  ///     reported; `nil` for the answer of the other store.
  public init(_ base: any CommitObservable = ModelStore(), closesBase: Bool = true, isShared: Bool? = nil) {
    self.base = base
    self.closesBase = closesBase
    tellsBeforeAcknowledging = isShared.map { !$0 } ?? base.tellsBeforeAcknowledging
  }

  /// Sets the hook of all steps from now on; `nil` for none.
  public func hook(_ hook: Hook?) { state.withLock { $0.hook = hook } }

  /// The counts so far.
  public var counts: Counts { state.withLock { $0.counts } }

  fileprivate func pass(_ step: Step) async throws {
    let hook = state.withLock { $0.hook }
    try await hook?(step)
  }

  fileprivate func count(_ change: @Sendable (inout Counts) -> Void) { state.withLock { change(&$0.counts) } }

  /// Reads at one version in time.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    count {
      $0.reads += 1
      $0.openReads += 1
    }
    defer { count { $0.openReads -= 1 } }
    try await pass(.read)
    let result = try await base.read { reader in
      try await pass(.snapshot)
      return try await body(HookedReader(base: reader, store: self))
    }
    try await pass(.readEnd)
    return result
  }

  /// Changes the store.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    count { $0.writes += 1 }
    try await pass(.write)
    let commit = try await base.write { try await body(HookedTransaction(base: $0, store: self)) }
    count { $0.commits += 1 }
    try await pass(.committed)
    return commit
  }

  /// Raises the floor of later versions.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try await base.raiseFloor(to: version)
  }

  /// Closes the other store, unless it outlives this one.
  public func close() async throws {
    if closesBase { try await base.close() }
  }

  /// Calls back after every commit.
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    base.observeCommits(observer)
  }

  /// The commits from here on as a stream.
  public var commits: AsyncStream<StoreVersion> { base.commits }
}

/// Reads that are counted; those of a read's body also pass the hook, and those of a transaction do not.
private struct HookedReader: StoreReader {
  let base: any StoreReader
  let store: HookedStore
  var passesHook = true

  var version: StoreVersion { base.version }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    store.count { $0.rowsRead += 1 }
    if passesHook { try await store.pass(.get([key])) }
    return try await base.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    store.count { $0.rowsRead += keys.count }
    if passesHook { try await store.pass(.get(keys)) }
    return try await base.get(keys)
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    store.count { $0.scans += 1 }
    if passesHook { try await store.pass(.scan(lower: range.lower)) }
    let end = try await base.scan(range, order: order, limit: limit, visit)
    store.count { $0.rowsScanned += end.visited }
    return end
  }
}

private struct HookedTransaction: StoreTransaction {
  let base: any StoreTransaction
  let store: HookedStore
  private let reader: HookedReader

  init(base: any StoreTransaction, store: HookedStore) {
    self.base = base
    self.store = store
    reader = HookedReader(base: base, store: store, passesHook: false)
  }

  var version: StoreVersion { base.version }

  func get(_ key: [UInt8]) async throws -> [UInt8]? { try await reader.get(key) }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] { try await reader.get(keys) }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try await reader.scan(range, order: order, limit: limit, visit)
  }

  func commitVersion() async throws -> StoreVersion { try await base.commitVersion() }

  func put(_ value: [UInt8], for key: [UInt8]) async throws {
    try await store.pass(.put(key))
    store.count { $0.put += 1 }
    try await base.put(value, for: key)
  }

  func delete(_ key: [UInt8]) async throws {
    try await store.pass(.delete(key))
    store.count { $0.deleted += 1 }
    try await base.delete(key)
  }

  func deleteRange(_ range: KeyRange) async throws {
    try await store.pass(.delete(range.lower))
    store.count { $0.deleted += 1 }
    try await base.deleteRange(range)
  }

  func freesRoom() { base.freesRoom() }
}
