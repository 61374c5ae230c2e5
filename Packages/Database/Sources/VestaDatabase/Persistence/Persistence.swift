import VestaBytes
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop

/// Keeps what a client has been sent and what it has not been able to send, on an `OrderedStore`.
///
/// The client answers from memory; changes are written later, in order, several of them in one commit. Changes that
/// could not be written waits (``DeviceBacklog``) and is tried again: with the next changes, after a while, and when
/// the database is closed.
final class Persistence: Sendable {
  /// The data and writes that were stored when the program ended.
  struct Kept: Sendable {
    var cache: SyncCache
    var writes: [StoredWrite] = []
  }

  private struct State {
    var backlog: DeviceBacklog
    /// Whether the store could be read; one that could not is not written either.
    var isUsable = true
    var isClosing = false
    /// Whether the last commit has failed.
    var isFailing = false
    /// The tries that have failed in a row.
    var failures = 0
    var retry: ListenerRegistration?
  }

  private let store: LazyResource<any OrderedStore>
  private let lane: CommitLane<DeviceJob>
  private let limit: Int
  private let tuning: DatabaseTuning
  private let clock: ServiceClock
  private let state: Locked<State>

  /// Persistence in a store.
  ///
  /// - Parameters:
  ///   - limit: How much data is kept, in estimated bytes.
  ///   - tuning: The figures at which behaviour changes.
  ///   - clock: The time at which failed changes are tried again.
  ///   - open: Opens the store, once.
  init(
    limit: Int, tuning: DatabaseTuning = DatabaseTuning(), clock: ServiceClock = .system,
    open: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.limit = limit
    self.tuning = tuning
    self.clock = clock
    lane = CommitLane(limit: tuning.deviceGroup)
    state = Locked(
      State(backlog: DeviceBacklog(limit: tuning.deviceBacklog)))
    store = LazyResource(
      whenClosed: StoreError(.closed, operation: "open", message: "The database's app has been deleted."),
      open: open, close: { try await $0.close() })
  }

  // MARK: Reading

  /// Reads what is kept.
  ///
  /// A store that cannot be read counts as an empty one. Damaged rows do not take others with them: writes are read one
  /// by one, and data that is damaged is forgotten as a whole, because the service has it. The log says so.
  func load(now: Int64) async -> Kept {
    do {
      let (cached, writes) = try await store.get().read { reader in
        (try await Self.cached(reader), try await Self.writes(reader))
      }
      state.withLock { $0.backlog.note(kept: writes.whole.map(\.id) + writes.damaged) }
      if cached == nil {
        state.withLock { $0.backlog.noteIncompleteCache() }
        submit(.dropCache)
      }
      for id in writes.damaged { forget(id) }
      return Kept(cache: cache(cached ?? (.empty, []), now), writes: writes.whole)
    } catch {
      state.withLock { $0.isUsable = false }
      log.error(
        "I-RDB000005",
        "What is kept on this device cannot be read. Nothing of it is used, and nothing is kept until the next start: \(error)"
      )
      return Kept(cache: cache((.empty, []), now))
    }
  }

  private func cache(_ kept: (node: DatabaseNode, queries: [SyncCache.TrackedQuery]), _ now: Int64) -> SyncCache {
    SyncCache(
      node: kept.node, queries: kept.queries, limit: limit, updates: tuning.updatesPerPruning,
      inactive: tuning.inactiveQueries, now: now)
  }

  /// - Returns: The service's data; `nil` when a row of it is damaged.
  private static func cached(
    _ reader: any StoreReader
  ) async throws -> (node: DatabaseNode, queries: [SyncCache.TrackedQuery])? {
    let data = try await reader.entries(in: KeyRange(prefix: [DeviceRows.data]))
    let tracked = try await reader.entries(in: KeyRange(prefix: [DeviceRows.queries]))
    do {
      var tree = TreeBuilder(below: 1)
      for entry in data { try tree.add(key: entry.key, value: entry.value) }
      let queries = try tracked.map { entry in
        try SyncCache.TrackedQuery(id: try DeviceRows.number(in: entry.key), bytes: entry.value)
      }
      return (tree.finish(), queries)
    } catch {
      log.error("I-RDB000015", "The data that is kept on this device is damaged, and is fetched again: \(error)")
      return nil
    }
  }

  private static func writes(_ reader: any StoreReader) async throws -> (whole: [StoredWrite], damaged: [Int]) {
    var whole: [StoredWrite] = [], damaged: [Int] = []
    for entry in try await reader.entries(in: KeyRange(prefix: [DeviceRows.writes])) {
      let id = try DeviceRows.number(in: entry.key)
      do {
        whole.append(try StoredWrite(id: id, bytes: entry.value))
      } catch {
        log.error("I-RDB000016", "The write \(id) that is kept on this device is damaged, and is not sent: \(error)")
        damaged.append(id)
      }
    }
    return (whole, damaged)
  }

  // MARK: Writing

  /// Keeps changes of the cached data.
  ///
  /// - Parameter cache: The cache after the changes, which is written as a whole where the device's is incomplete.
  func store(_ changes: [SyncCache.Change], of cache: SyncCache) {
    let isWhole = state.withLock { state -> Bool? in
      guard state.backlog.wantsWholeCache else { return false }
      // Where nothing can be stored the whole would only wait.
      if state.isFailing { return nil }
      state.backlog.noteWholeCache()
      return true
    }
    guard let isWhole else { return }
    submit(isWhole ? .replaceCache(cache.node, cache.queries) : .changes(changes))
  }

  /// Keeps a write, then calls the body.
  ///
  /// Where that is not possible, the body is called as soon as the device has no older write.
  func save(_ write: StoredWrite, then: @escaping @Sendable () -> Void) { submit(.save(write)) { _ in then() } }

  /// Forgets a write, then calls the body; with an error when the database is closed before that was possible.
  func forget(_ id: Int, then: (@Sendable (DatabaseError?) -> Void)? = nil) { submit(.forget(id), then: then) }

  /// Calls the body when all writes that were to be forgotten until now have been.
  func whenForgotten(then: @escaping @Sendable (DatabaseError?) -> Void) { submit(.nothing, then: then) }

  private func submit(_ change: DeviceChange, then: (@Sendable (DatabaseError?) -> Void)? = nil) {
    lane.submit(DeviceJob(change: change, then: then)) { [self] jobs in await carryOut(jobs) }
  }

  private func carryOut(_ new: [DeviceJob]) async {
    let (jobs, isUsable) = state.withLock { ($0.backlog.take(new), $0.isUsable) }
    guard isUsable, jobs.contains(where: { if case .nothing = $0.change { false } else { true } }) else {
      return call(state.withLock { $0.backlog.stored(isUsable ? jobs : jobs.map(\.withoutRow)) })
    }
    do {
      try await commit(jobs)
      call(succeeded(jobs))
    } catch  where jobs.count > 1 && !Self.isOfStore(error) {
      // The store refuses one of them.
      await commitEach(jobs)
    } catch  where !Self.isOfStore(error) {
      for job in jobs { refused(job, error) }
    } catch {
      await failed(jobs, error)
    }
  }

  /// Commits each job in a separate transaction.
  private func commitEach(_ jobs: [DeviceJob]) async {
    var rest = jobs[...]
    while let job = rest.first {
      do {
        try await commit([job])
        call(succeeded([job]))
      } catch  where Self.isOfStore(error) {
        return await failed(Array(rest), error)
      } catch {
        refused(job, error)
        // Later changes build on the refused one, so they are left out too.
        rest = state.withLock { [rest] in $0.backlog.fitting(Array(rest.dropFirst()))[...] }
        continue
      }
      rest.removeFirst()
    }
  }

  private func commit(_ jobs: [DeviceJob]) async throws {
    _ = try await store.get().write { transaction in
      for job in jobs { try await DeviceRows.apply(job.change, in: transaction) }
    }
  }

  private func succeeded(_ jobs: [DeviceJob]) -> [@Sendable () -> Void] {
    state.withLock { state in
      if state.isFailing { log.notice("I-RDB000018", "Changes are kept on this device again.") }
      state.isFailing = false
      state.failures = 0
      return state.backlog.stored(jobs)
    }
  }

  /// The store takes nothing right now: writes that only free room are tried by themselves, and the rest waits.
  private func failed(_ jobs: [DeviceJob], _ error: any Error) async {
    let removals = jobs.filter(\.change.isRemoval)
    var areRemovalsDone = removals.isEmpty
    if !removals.isEmpty, removals.count < jobs.count, (try? await commit(removals)) != nil { areRemovalsDone = true }
    let (isFirst, calls) = state.withLock { state in
      defer { state.isFailing = true }
      let isUnknown = StoreError.Code.unknownOutcome ~= error
      return (
        !state.isFailing,
        state.backlog.failed(jobs, areRemovalsDone: areRemovalsDone, isUnknown: isUnknown)
      )
    }
    if isFirst { logFailure(error) }
    call(calls)
    retryLater()
  }

  private func logFailure(_ error: any Error) {
    log.error(
      "I-RDB000006",
      """
      Changes could not be kept on this device; they are tried again until they can, and the completions of writes \
      that the device still has wait for that: \(error)
      """)
  }

  /// A change that this store never takes: a write that is too large, cached data below a damaged row.
  private func refused(_ job: DeviceJob, _ error: any Error) {
    log.error("I-RDB000006", "A change could not be kept on this device: \(error)")
    call(
      state.withLock { state in
        switch job.change {
        case .changes, .replaceCache, .dropCache: state.backlog.noteIncompleteCache()
        case .save, .forget, .nothing: break
        }
        return state.backlog.stored([job.withoutRow])
      })
    if case .changes = job.change { submit(.dropCache) }
  }

  private func call(_ calls: [@Sendable () -> Void]) { for call in calls { call() } }

  /// Whether a failure is one of the store, and not of what it was to store.
  private static func isOfStore(_ error: any Error) -> Bool {
    guard let error = error as? StoreError else { return false }
    return ![.keyTooLong, .valueTooLong, .malformedKey, .corrupt].contains(error.code)
  }

  private func retryLater() {
    state.withLock { state in
      guard !state.backlog.isEmpty, !state.isClosing else { return }
      state.retry?.cancel()
      state.failures += 1
      guard let pause = tuning.deviceRetry.pause(after: state.failures) else { return }
      state.retry = clock.schedule(after: pause) { [weak self] in self?.submit(.nothing) }
    }
  }

  /// Writes what is still to be written, and closes the store.
  ///
  /// Callers that wait for the device to forget a write get an error when it cannot: the write is sent again at the
  /// next start.
  func close() async {
    state.withLock { state in
      state.isClosing = true
      state.retry.take()?.cancel()
    }
    await lane.idle()
    if !state.withLock({ $0.backlog.isEmpty }) {
      submit(.nothing)
      await lane.idle()
    }
    call(state.withLock { $0.backlog.close(Self.unforgotten) })
    do {
      try await store.close()
    } catch {
      log.error("I-RDB000007", "The store of this device could not be closed: \(error)")
    }
  }

  private static let unforgotten = DatabaseError(
    .unavailable,
    """
    The service has answered, but this device could not note that before the app was deleted: the write is sent again \
    at the next start. Make room on the device.
    """)
}

extension DeviceJob {
  /// The job for a store that has no row of it.
  fileprivate var withoutRow: DeviceJob { DeviceJob(change: .nothing, then: then) }
}

private let log = Logger(service: "VestaDatabase")
