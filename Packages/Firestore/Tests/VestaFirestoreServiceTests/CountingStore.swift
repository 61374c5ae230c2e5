import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes

/// A store that counts the rows that its readers return, the rows that its transactions change, and its observers.
final class CountingStore: CommitObservable {
  struct Rows: Sendable, Equatable {
    /// Visited by scans.
    var scanned = 0
    /// Read by their keys.
    var read = 0

    var total: Int { scanned + read }
  }

  /// The changes of one transaction.
  struct Changes: Sendable, Equatable {
    var put = 0
    var deleted = 0
  }

  private let store: ModelStore
  private let rows = Locked(Rows())
  private let committed = Locked([Changes]())
  private let begun = Locked(0)
  private let observers = Locked(0)

  init(clock: StoreClock = .system) { store = ModelStore(clock: clock) }

  /// The changes of the transactions that have committed so far, in the order in which they returned.
  var commitsSoFar: [Changes] { committed.withLock { $0 } }

  /// The number of transactions that have begun so far, those included that fail.
  var writesSoFar: Int { begun.withLock { $0 } }

  /// The number of observers whose registrations are not cancelled.
  var observerCount: Int { observers.withLock { $0 } }

  /// Whether what the task reads is counted.
  @TaskLocal fileprivate static var isCounting = false

  /// The number of rows that a body reads, and its result; concurrent reads in the background do not count.
  func rows<Result>(of body: () async throws -> Result) async throws -> (rows: Rows, result: Result) {
    rows.withLock { $0 = Rows() }
    let result = try await CountingStore.$isCounting.withValue(true) { try await body() }
    return (rows.withLock { $0 }, result)
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await store.read { try await body(CountingReader(reader: $0, rows: self.rows)) }
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    begun.withLock { $0 += 1 }
    let rows = rows
    let commit = try await store.write { transaction in
      let changes = Locked(Changes())
      let result = try await body(CountingTransaction(reader: transaction, rows: rows, changes: changes))
      return (result, changes.withLock { $0 })
    }
    committed.withLock { $0.append(commit.value.1) }
    return StoreCommit(value: commit.value.0, version: commit.version)
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }

  func close() async throws { try await store.close() }

  func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    observers.withLock { $0 += 1 }
    let registration = store.observeCommits(observer)
    return ListenerRegistration { [observers] in
      registration.cancel()
      observers.withLock { $0 -= 1 }
    }
  }

  var commits: AsyncStream<StoreVersion> { store.commits }

  var tellsBeforeAcknowledging: Bool { true }
}

/// A reader that counts the rows that it returns.
private protocol Counting: StoreReader {
  var base: any StoreReader { get }
  var rows: Locked<CountingStore.Rows> { get }
}

extension Counting {
  var version: StoreVersion { base.version }

  private func count(_ change: @Sendable (inout CountingStore.Rows) -> Void) {
    if CountingStore.isCounting { rows.withLock { change(&$0) } }
  }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    count { $0.read += 1 }
    return try await base.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    count { $0.read += keys.count }
    return try await base.get(keys)
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    let end = try await base.scan(range, order: order, limit: limit, visit)
    count { $0.scanned += end.visited }
    return end
  }
}

private struct CountingReader: Counting {
  let reader: any StoreReader
  let rows: Locked<CountingStore.Rows>
  var base: any StoreReader { reader }
}

private struct CountingTransaction: Counting, StoreTransaction {
  let reader: any StoreTransaction
  let rows: Locked<CountingStore.Rows>
  let changes: Locked<CountingStore.Changes>
  var base: any StoreReader { reader }

  func commitVersion() async throws -> StoreVersion { try await reader.commitVersion() }

  func put(_ value: [UInt8], for key: [UInt8]) async throws {
    changes.withLock { $0.put += 1 }
    try await reader.put(value, for: key)
  }

  func delete(_ key: [UInt8]) async throws {
    changes.withLock { $0.deleted += 1 }
    try await reader.delete(key)
  }

  func deleteRange(_ range: KeyRange) async throws {
    changes.withLock { $0.deleted += 1 }
    try await reader.deleteRange(range)
  }
}
