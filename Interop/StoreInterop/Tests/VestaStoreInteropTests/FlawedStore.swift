import Synchronization
import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes

/// One promise that a store breaks on purpose.
enum Flaw: String, CaseIterable {
  case dirtyReads, lostWrites, upperBoundIncluded, repeatedVersions, newsTwice, newsLost, failureLeavesChanges
  case ownWritesUnseen, snapshotMoves, multiGetSorted, descendingIgnored, limitIgnored, closeIgnored
  case cancellationIgnored, blindCommits, restSkipsOne, endIgnored, emptyValueIsNone, deleteRangeTooWide
  case newVersionForNothing, longKeysTaken, newsOfFailures, newsLate
  case versionsAreCounters, commitVersionIsGuessed, floorIgnored, floorDoesNotWait, clockFollowed, clockIgnored
  case closeKeepsWaiting
  case prefixEndsAtFF, snapshotMovesAtThirdCall, manyReadersAreStale, valueOfPagesLosesByte, smallOverLargeIsLost
  case longDeleteLeavesLast, longScanTellsNoRest, longMultiGetMissesLast, keptYetCancelled, manyOwnPutsMissLast
  case guessedReadsAreStale, guessesAreAnswers
  case staleUnderLoad
  case foreignErrors, foreignCancellation, scanNeverEnds, emptyDeleteTakesVersion
}

/// A right store with one flaw, to see whether the contracts find it.
final class FlawedStore: CommitObservable {
  let inner: ModelStore
  let flaw: Flaw
  let counter = Atomic<Int>(0)
  // The transaction under way, which dirty reads see.
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

  let openReaders = Atomic<Int>(0)
  // Errors that a shared commit reports to the wrong caller.
  private let lastError = Locked<(any Error)?>(nil)

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    openReaders.add(1, ordering: .relaxed)
    defer { openReaders.subtract(1, ordering: .relaxed) }
    if isClosing.load(ordering: .relaxed) { throw StoreError(.closed, operation: "read", message: "It closes.") }
    return try await inner.read { try await body(FlawedTransaction($0, in: self, isReading: true)) }
  }

  // The entries at the time of the first read that had a hint.
  private let kept = Locked<[StoreEntry]?>(nil)

  func read<Result>(
    expecting first: @autoclosure () -> StoreFirstRead, _ body: (any StoreReader) async throws -> Result
  ) async throws -> Result {
    guard flaw == .guessedReadsAreStale || flaw == .guessesAreAnswers else { return try await read(body) }
    let entries = try await inner.read { try await $0.entries(in: .all) }
    let shown = kept.withLock { kept in
      if kept?.isEmpty ?? true || flaw == .guessesAreAnswers { kept = entries }
      return kept ?? []
    }
    let model = ModelStore()
    let guess = first()
    _ = try await model.write { transaction in
      for entry in shown {
        if case .keys(let keys) = guess, self.flaw == .guessesAreAnswers, !keys.contains(entry.key) { continue }
        try await transaction.put(entry.value, for: entry.key)
      }
    }
    return try await model.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    let isLeader = writes.add(1, ordering: .relaxed).oldValue == 0
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
    case .keptYetCancelled:
      let commit = try await inner.write(body)
      if Task.isCancelled { throw CancellationError() }
      return commit
    case .foreignErrors:
      do {
        let commit = try await inner.write(body)
        if let error = lastError.withLock({ $0.take() }) { throw error }
        return commit
      } catch {
        lastError.withLock { $0 = error }
        throw error
      }
    case .foreignCancellation:
      // The cancellation of any writer reaches the body that runs next to it.
      let cancelled = foreign
      let mine = Task.detached { [inner] in try await inner.write(body) }
      let others = cancelled.withLock { tasks in
        tasks.append { mine.cancel() }
        return tasks
      }
      return try await withTaskCancellationHandler {
        let commit = try await mine.value
        // As one that leads serves the others.
        while isLeader, writes.load(ordering: .relaxed) > 1 { await Task.yield() }
        return commit
      } onCancel: {
        mine.cancel()
        for cancel in others { cancel() }
        for cancel in cancelled.withLock({ $0 }) { cancel() }
      }
    default:
      let before = flaw == .staleUnderLoad ? try await inner.read { try await $0.entries(in: .all) } : []
      let commit = try await inner.write { transaction in
        let value = try await body(FlawedTransaction(transaction, in: self))
        if self.flaw == .newVersionForNothing || self.emptyDeletes.exchange(false, ordering: .relaxed) {
          try await transaction.put(
            [UInt8(truncatingIfNeeded: self.counter.add(1, ordering: .relaxed).newValue)], for: [0, 0, 0])
        }
        return value
      }
      leaked.value = []
      if flaw == .staleUnderLoad { beforeLast.withLock { $0 = before } }
      guard flaw == .repeatedVersions else { return commit }
      return StoreCommit(value: commit.value, version: StoreVersion(rawValue: (commit.version.rawValue + 1) & ~1))
    }
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    switch flaw {
    case .floorIgnored: return version ?? .zero
    // Raises it in a separate task, and does not wait for that.
    case .floorDoesNotWait:
      let inner = inner
      let raising = Task.detached { try await inner.raiseFloor(to: version) }
      for _ in 0..<50 { await Task.yield() }
      guard let version, version.microseconds < 1_800_000_100_000_000 else { return try await raising.value }
      return version
    default: return try await inner.raiseFloor(to: version)
    }
  }

  /// The entries before the last commit.
  let beforeLast = Locked<[StoreEntry]>([])
  let emptyDeletes = Atomic(false)
  private let foreign = Locked<[@Sendable () -> Void]>([])

  func close() async throws {
    if flaw == .closeIgnored { return }
    if flaw == .closeKeepsWaiting {
      isClosing.store(true, ordering: .relaxed)
      while writes.load(ordering: .relaxed) > 0 { await Task.yield() }
    }
    try await inner.close()
  }

  var tellsBeforeAcknowledging: Bool { true }

  func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    let flaw = flaw
    if flaw == .newsLate {
      // In order, and after the acknowledgement: by a separate task.
      let (versions, continuation) = AsyncStream.makeStream(of: StoreVersion.self)
      Task.detached {
        for await version in versions {
          try? await Task.sleep(for: .milliseconds(5))
          observer(version)
        }
      }
      return inner.observeCommits { continuation.yield($0) }
    }
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
    isReading: Bool = false,
    buffer: FlawBox<[@Sendable (any StoreTransaction) async throws -> Void]>? = nil
  ) {
    self.inner = inner
    self.store = store
    self.isReading = isReading
    self.buffer = buffer
  }

  private let isReading: Bool
  private var calls = 0
  private var ownPuts = 0
  private var flaw: Flaw { store.flaw }
  private var transaction: (any StoreTransaction)? { inner as? any StoreTransaction }

  var version: StoreVersion { inner.version }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    switch flaw {
    case .dirtyReads: if let found = store.leaked.value.last(where: { $0.key == key }) { return found.value }
    case .snapshotMoves: return try await store.inner.read { try await $0.get(key) }
    case .ownWritesUnseen: if transaction != nil { return try await store.inner.read { try await $0.get(key) } }
    case .endIgnored: return try? await inner.get(key)
    case .snapshotMovesAtThirdCall, .manyReadersAreStale:
      calls += 1
      let readers = store.openReaders.load(ordering: .relaxed)
      let moves = flaw == .snapshotMovesAtThirdCall ? calls >= 3 && readers > 8 : readers > 32
      if moves, isReading { return try await store.inner.read { try await $0.get(key) } }
    case .staleUnderLoad:
      if isReading, store.openReaders.load(ordering: .relaxed) > 32 {
        return store.beforeLast.withLock { $0.first { $0.key == key }?.value }
      }
    case .emptyValueIsNone: return try await inner.get(key).flatMap { $0.isEmpty ? nil : $0 }
    default: break
    }
    return try await inner.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    if flaw == .multiGetSorted { return try await inner.get(keys.sorted { $0.lexicographicallyPrecedes($1) }) }
    let values = try await inner.get(keys)
    return flaw == .longMultiGetMissesLast && keys.count > 500 ? values.dropLast() + [nil] : values
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
    if flaw == .longScanTellsNoRest, let wanted = limit, wanted > 1_000 {
      return ScanEnd(visited: try await inner.scan(range, order: order, limit: 1_000, visit).visited, rest: nil)
    }
    if flaw == .manyOwnPutsMissLast, ownPuts > 200 {
      let count = try await inner.scan(range, order: order, limit: limit) { _, _ in .next }.visited
      return try await inner.scan(range, order: order, limit: max(count - 1, 0), visit)
    }
    if flaw == .scanNeverEnds {
      let (inner, wanted) = (inner, (range, order, limit))
      var entries: [StoreEntry] = []
      let end = try await inner.scan(wanted.0, order: wanted.1, limit: wanted.2) { key, value in
        entries.append(StoreEntry(key: key.bytes, value: value.bytes))
        return .next
      }
      for entry in entries { _ = try visit(entry.key.span.bytes, entry.value.span.bytes) }
      return end
    }
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

  func put(_ given: [UInt8], for key: [UInt8]) async throws {
    ownPuts += 1
    var value = given
    if flaw == .valueOfPagesLosesByte, !value.isEmpty, value.count % 8_192 == 0 { value.removeLast() }
    if flaw == .smallOverLargeIsLost, value.count < 4_096, try await inner.get(key)?.count ?? 0 > 4_096 { return }
    let value2 = value
    if flaw == .lostWrites, store.counter.add(1, ordering: .relaxed).newValue % 50 == 7 { return }
    if flaw == .dirtyReads { store.leaked.value.append((key, value)) }
    if flaw == .longKeysTaken, key.count > StoreLimits.maximumKeyLength { return }
    guard let buffer else { return try await transaction?.put(value, for: key) ?? () }
    buffer.value.append { try await $0.put(value2, for: key) }
  }

  func delete(_ key: [UInt8]) async throws {
    if flaw == .emptyDeleteTakesVersion { store.emptyDeletes.store(true, ordering: .relaxed) }
    guard let buffer else { return try await transaction?.delete(key) ?? () }
    buffer.value.append { try await $0.delete(key) }
  }

  func deleteRange(_ range: KeyRange) async throws {
    var range = range
    if flaw == .deleteRangeTooWide, let upper = range.upper { range = KeyRange(from: range.lower, to: upper + [0]) }
    if flaw == .prefixEndsAtFF, range.upper != nil, range == KeyRange(prefix: range.lower) {
      range = KeyRange(from: range.lower, to: range.lower + [0xFF])
    }
    if flaw == .longDeleteLeavesLast, try await inner.entries(in: range).count > 1_000,
      let last = try await inner.last(in: range)
    {
      range = KeyRange(from: range.lower, to: last.key)
    }
    let wanted = range
    guard let buffer else { return try await transaction?.deleteRange(wanted) ?? () }
    buffer.value.append { try await $0.deleteRange(wanted) }
  }
}
