import VestaListenerInterop
import VestaStoreInterop
import VestaStoreInteropContracts
import Synchronization

/// One promise that a store breaks on purpose.
enum Flaw: String, CaseIterable {
  case dirtyReads, lostWrites, upperBoundIncluded, repeatedVersions, newsTwice, newsLost, failureLeavesChanges
  case ownWritesUnseen, snapshotMoves, multiGetSorted, descendingIgnored, limitIgnored, closeIgnored
  case cancellationIgnored, blindCommits, restSkipsOne, endIgnored, emptyValueIsNone, deleteRangeTooWide
  case newVersionForNothing, longKeysTaken, newsOfFailures
  case versionsAreCounters, commitVersionIsGuessed, floorIgnored, floorDoesNotWait, clockFollowed, clockIgnored
  case closeKeepsWaiting
}

/// A right store with one flaw, to see whether the contracts find it.
final class FlawedStore: CommitObservable {
  let inner: ModelStore
  let flaw: Flaw
  let counter = Atomic<Int>(0)
  // What dirty reads see: the transaction that is under way.
  let leaked = FlawBox<[(key: [UInt8], value: [UInt8])]>([])

  /// A store whose clocks are the given ones, unless its flaw is about clocks.
  init(_ flaw: Flaw, clock: StoreClock) {
    self.flaw = flaw
    switch flaw {
    case .clockFollowed: inner = ModelStore(clock: StoreClock { StoreTime(wall: clock.now.wall, steady: nil) })
    case .clockIgnored: inner = ModelStore(clock: StoreClock { StoreTime(wall: 1_800_000_000_000_000, steady: nil) })
    case .versionsAreCounters: inner = ModelStore(clock: StoreClock { StoreTime(wall: 0, steady: nil) })
    default: inner = ModelStore(clock: clock)
    }
  }

  private let isClosing = Atomic(false)
  private let writes = Atomic<Int>(0)

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    if isClosing.load(ordering: .relaxed) { throw StoreError(.closed, operation: "read", message: "It closes.") }
    return try await inner.read { try await body(FlawedTransaction($0, in: self)) }
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    writes.add(1, ordering: .relaxed)
    defer { writes.subtract(1, ordering: .relaxed) }
    switch flaw {
    case .failureLeavesChanges:
      let commit = try await inner.write { transaction in
        do { return Swift.Result<Result, any Error>.success(try await body(transaction)) } catch {
          return .failure(error)
        }
      }
      return StoreCommit(value: try commit.value.get(), version: commit.version)
    case .cancellationIgnored:
      let inner = inner
      return try await Task.detached { try await inner.write(body) }.value
    case .blindCommits:
      let buffer = FlawBox<[@Sendable (any StoreTransaction) async throws -> Void]>([])
      let value = try await inner.read { try await body(FlawedTransaction($0, in: self, buffer: buffer)) }
      let changes = buffer.value
      let commit = try await inner.write { for change in changes { try await change($0) } }
      return StoreCommit(value: value, version: commit.version)
    default:
      let commit = try await inner.write { transaction in
        let value = try await body(FlawedTransaction(transaction, in: self))
        if self.flaw == .newVersionForNothing {
          try await transaction.put(
            [UInt8(truncatingIfNeeded: self.counter.add(1, ordering: .relaxed).newValue)], for: [0, 0, 0])
        }
        return value
      }
      leaked.value = []
      guard flaw == .repeatedVersions else { return commit }
      return StoreCommit(value: commit.value, version: StoreVersion(rawValue: (commit.version.rawValue + 1) & ~1))
    }
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    switch flaw {
    case .floorIgnored: return version ?? .zero
    // Raises it in a task of its own, and does not wait for that.
    case .floorDoesNotWait:
      let inner = inner
      let raising = Task.detached { try await inner.raiseFloor(to: version) }
      for _ in 0..<50 { await Task.yield() }
      guard let version, version.microseconds < 1_800_000_100_000_000 else { return try await raising.value }
      return version
    default: return try await inner.raiseFloor(to: version)
    }
  }

  func close() async throws {
    if flaw == .closeIgnored { return }
    if flaw == .closeKeepsWaiting {
      isClosing.store(true, ordering: .relaxed)
      while writes.load(ordering: .relaxed) > 0 { await Task.yield() }
    }
    try await inner.close()
  }

  func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> InteropRegistration {
    let flaw = flaw
    return inner.observeCommits { version in
      if flaw == .newsLost, version.rawValue % 5 == 2 { return }
      observer(version)
      if flaw == .newsTwice, version.rawValue % 5 == 2 { observer(version) }
      if flaw == .newsOfFailures, version.rawValue % 5 == 1 { observer(StoreVersion(rawValue: version.rawValue + 1)) }
    }
  }

  var commits: AsyncStream<StoreVersion> { inner.commits }
}

/// A mutable value in a flaw; the checks that use it run one task at a time.
// Sound as @unchecked Sendable: only single-task checks are run on the flaws that use it.
final class FlawBox<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }
}

/// A reader or transaction with the flaw of its store.
private final class FlawedTransaction: StoreTransaction {
  private let inner: any StoreReader
  private let store: FlawedStore
  private let buffer: FlawBox<[@Sendable (any StoreTransaction) async throws -> Void]>?

  init(
    _ inner: any StoreReader,
    in store: FlawedStore,
    buffer: FlawBox<[@Sendable (any StoreTransaction) async throws -> Void]>? = nil
  ) {
    self.inner = inner
    self.store = store
    self.buffer = buffer
  }

  private var flaw: Flaw { store.flaw }
  private var transaction: (any StoreTransaction)? { inner as? any StoreTransaction }

  var version: StoreVersion { inner.version }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    switch flaw {
    case .dirtyReads: if let found = store.leaked.value.last(where: { $0.key == key }) { return found.value }
    case .snapshotMoves: return try await store.inner.read { try await $0.get(key) }
    case .ownWritesUnseen: if transaction != nil { return try await store.inner.read { try await $0.get(key) } }
    case .endIgnored: return try? await inner.get(key)
    case .emptyValueIsNone: return try await inner.get(key).flatMap { $0.isEmpty ? nil : $0 }
    default: break
    }
    return try await inner.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    if flaw == .multiGetSorted { return try await inner.get(keys.sorted { $0.lexicographicallyPrecedes($1) }) }
    return try await inner.get(keys)
  }

  func scan(
    _ range: KeyRange,
    order: ScanOrder,
    limit: Int?,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    var (range, order, limit) = (range, order, limit)
    if flaw == .upperBoundIncluded, let upper = range.upper { range = KeyRange(from: range.lower, to: upper + [0]) }
    if flaw == .descendingIgnored { order = .ascending }
    if flaw == .limitIgnored { limit = nil }
    if flaw == .dirtyReads {
      for leak in store.leaked.value { _ = try visit(leak.key.span.bytes, leak.value.span.bytes) }
    }
    let end = try await inner.scan(range, order: order, limit: limit, visit)
    guard flaw == .restSkipsOne, let rest = end.rest else { return end }
    let skipped = try await inner.entries(in: rest, order: order, limit: 1).first?.key ?? []
    return ScanEnd(visited: end.visited, rest: order == .ascending ? rest.after(skipped) : rest.before(skipped))
  }

  func commitVersion() async throws -> StoreVersion {
    guard flaw == .commitVersionIsGuessed else { return try await transaction?.commitVersion() ?? .zero }
    return StoreVersion(microseconds: inner.version.microseconds + 10)
  }

  func put(_ value: [UInt8], for key: [UInt8]) async throws {
    if flaw == .lostWrites, store.counter.add(1, ordering: .relaxed).newValue % 50 == 7 { return }
    if flaw == .dirtyReads { store.leaked.value.append((key, value)) }
    if flaw == .longKeysTaken, key.count > StoreLimits.maximumKeyLength { return }
    guard let buffer else { return try await transaction?.put(value, for: key) ?? () }
    buffer.value.append { try await $0.put(value, for: key) }
  }

  func delete(_ key: [UInt8]) async throws {
    guard let buffer else { return try await transaction?.delete(key) ?? () }
    buffer.value.append { try await $0.delete(key) }
  }

  func deleteRange(_ range: KeyRange) async throws {
    var range = range
    if flaw == .deleteRangeTooWide, let upper = range.upper { range = KeyRange(from: range.lower, to: upper + [0]) }
    let wanted = range
    guard let buffer else { return try await transaction?.deleteRange(wanted) ?? () }
    buffer.value.append { try await $0.deleteRange(wanted) }
  }
}
