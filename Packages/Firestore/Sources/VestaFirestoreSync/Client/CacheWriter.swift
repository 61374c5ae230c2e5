import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// Writes the rows of a durable cache, one commit at a time; later rows are written together in the next one.
///
/// Rows of pending writes, and rows that a caller waits for, are written at once. Other rows, of documents that the
/// backend has sent, wait for these, for `SyncTuning.cacheSeconds` at most: a client that reads one document after the
/// other makes a commit every few milliseconds, and not one for each document.
final class CacheWriter: Sendable {
  /// Prefixes whose rows go, and rows to write after that.
  private struct Batch {
    var cleared: [[UInt8]] = []
    var rows: [[UInt8]: [UInt8]?] = [:]

    var isEmpty: Bool { cleared.isEmpty && rows.isEmpty }

    mutating func clear(_ prefix: [UInt8]) {
      rows = rows.filter { !$0.key.starts(with: prefix) }
      cleared.append(prefix)
    }

    /// Puts the changes of another batch after this one's.
    mutating func append(_ later: Batch) {
      for prefix in later.cleared { clear(prefix) }
      rows.merge(later.rows) { _, new in new }
    }
  }

  private struct State {
    var batch = Batch()
    var waiters: [Completion] = []
    var isWriting = false
    /// Whether something was added since writing began last.
    var hasMore = false
    /// Whether something is to be written at once.
    var isUrgent = false
    /// Whether the clock is going to call.
    var isTimed = false
    /// Why nothing is written: the existing rows could not be read, and must not be overwritten.
    var refusal: StoreError?
  }

  private let open: @Sendable () async throws -> any OrderedStore
  private let prefix: [UInt8]
  private let log: @Sendable (String) -> Void
  private let clock: ServiceClock
  private let delay: Duration
  private let state = Locked(State())

  init(
    open: @escaping @Sendable () async throws -> any OrderedStore, prefix: [UInt8], options: SyncOptions
  ) {
    self.open = open
    self.prefix = prefix
    log = options.log
    clock = options.clock
    delay = .seconds(options.tuning.cacheSeconds)
  }

  /// Takes rows to write after ``begin()``; the latest value of a key counts.
  ///
  /// - Parameters:
  ///   - cleared: The beginnings of keys whose rows are deleted first.
  ///   - completions: Finished when the rows are durable, or with the store's error.
  func add(_ rows: [CacheRow], clearing cleared: [[UInt8]] = [], completions: [Completion] = []) {
    if let refusal = state.withLock({ $0.refusal }) { return completions.forEach { $0.finish(refusal) } }
    if rows.isEmpty, cleared.isEmpty, completions.isEmpty { return }
    let isUrgent = !completions.isEmpty || !cleared.isEmpty || rows.contains(where: \.isOfWrite)
    state.withLock { state in
      for start in cleared { state.batch.clear(prefix + start) }
      for row in rows { state.batch.rows[prefix + row.key] = .some(row.value) }
      state.waiters += completions
      state.hasMore = true
      if isUrgent { state.isUrgent = true }
    }
  }

  /// Begins to write what was added, at once or soon.
  func begin() {
    enum Next { case nothing, run, wait }
    let next = state.withLock { state -> Next in
      guard !state.isWriting, state.hasMore else { return .nothing }
      state.isWriting = state.isUrgent
      if state.isUrgent { return .run }
      defer { state.isTimed = true }
      return state.isTimed ? .nothing : .wait
    }
    switch next {
    case .nothing: break
    case .run: Task { await run() }
    case .wait: _ = clock.schedule(after: delay) { self.timeIsOver() }
    }
  }

  private func timeIsOver() {
    state.withLock { state in
      state.isTimed = false
      if state.hasMore { state.isUrgent = true }
    }
    begin()
  }

  /// Writes rows soon; the latest value of a key counts.
  ///
  /// - Parameters: As of ``add(_:clearing:completions:)``.
  func write(_ rows: [CacheRow], clearing cleared: [[UInt8]] = [], completions: [Completion] = []) {
    add(rows, clearing: cleared, completions: completions)
    begin()
  }

  /// Ends writing for good; later writes fail.
  func refuse(_ error: any Error) {
    let refusal = error as? StoreError ?? StoreError(.inputOutput, operation: "write the cache", message: "\(error)")
    state.withLock { $0.refusal = refusal }
  }

  /// Waits until everything that was handed over before is durable.
  func flush() async throws {
    let completion = Completion()
    write([], completions: [completion])
    try await completion.wait()
  }

  private func run() async {
    while let (batch, waiters) = take() {
      do {
        if !batch.isEmpty { try await commit(batch) }
        for waiter in waiters { waiter.finish(nil) }
      } catch {
        keep(batch)
        log("The cache cannot be written: \(error)")
        for waiter in waiters { waiter.finish(error) }
        // Changes that could not be written are written with the next one.
        if stop() { return }
      }
    }
  }

  private func commit(_ batch: Batch) async throws {
    try await open().write { transaction in
      for prefix in batch.cleared { try await transaction.deleteRange(KeyRange(prefix: prefix)) }
      // In the transaction: a store that refuses to begin one does not cost the order of all that waits for it.
      let sorted = batch.rows.sorted { UTF8Order.compare(bytes: $0.key, $1.key) < 0 }
      for (key, value) in sorted {
        if let value { try await transaction.put(value, for: key) } else { try await transaction.delete(key) }
      }
    }
  }

  private func take() -> (Batch, [Completion])? {
    state.withLock { state in
      guard !(state.batch.isEmpty && state.waiters.isEmpty) else {
        (state.isWriting, state.isUrgent) = (false, false)
        return nil
      }
      state.hasMore = false
      defer { (state.batch, state.waiters) = (Batch(), []) }
      return (state.batch, state.waiters)
    }
  }

  /// Keeps rows that could not be written, before later ones.
  private func keep(_ batch: Batch) {
    state.withLock { state in
      var batch = batch
      batch.append(state.batch)
      state.batch = batch
    }
  }

  /// Ends after a failure unless a caller waits.
  private func stop() -> Bool {
    state.withLock { state in
      guard state.waiters.isEmpty else { return false }
      (state.isWriting, state.isUrgent) = (false, false)
      return true
    }
  }

  /// Reads the rows that an earlier client left.
  func reader(of database: DatabaseName, _ tuning: SyncTuning) -> CacheReader {
    CacheReader(open: open, prefix: prefix, database: database, tuning: tuning)
  }

  /// Deletes every row of a client.
  static func clear(_ store: any OrderedStore, prefix: [UInt8]) async throws {
    try await store.write { try await $0.deleteRange(KeyRange(prefix: prefix)) }
  }
}
