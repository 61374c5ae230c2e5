import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop

/// Deletes versions older than the retention, in small steps between commits.
///
/// The horizon is moved first, so that no read uses rows that are about to be deleted; then rows are deleted a few at a
/// time. An engine that starts after a crash, or concurrently, continues from the beginning of the log, where the
/// oldest rows are. Of several engines on one store the one that holds the lease does it.
final class LogPruner: Sendable {
  private struct State: Sendable {
    var task: Task<Void, Never>?
    /// The horizon, as far as it is known here; `nil` before the first look.
    var horizon: Int64?
    /// Until this version another engine prunes, as far as is known here.
    var busyUntil: Int64 = 0
    var marks = VersionMarks()
    var isClosed = false
  }

  private let state = Locked(State())
  private let store: any OrderedStore
  private let keys: DocumentDatabaseKeys
  private let options: FirestoreServiceOptions
  private let lease: StoreLease

  private var tuning: LogTuning { options.tuning.log }

  init(store: any OrderedStore, keys: DocumentDatabaseKeys, options: FirestoreServiceOptions, owner: UInt64) {
    lease = StoreLease(key: keys.lease(.pruning), owner: owner)
    self.store = store
    self.keys = keys
    self.options = options
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// Begins to prune when a commit shows that a sixteenth more than the retention is kept.
  func noteCommit(at version: Int64) {
    let retention = options.retention.microseconds
    state.withLock { state in
      guard state.task == nil, !state.isClosed, version >= state.busyUntil else { return }
      let limit = state.marks.horizon(at: version, now: max(options.now(), 0), retention: retention)
      if let horizon = state.horizon, limit.version <= horizon + limit.step { return }
      state.task = Task.detached { await self.prune(to: limit) }
    }
  }

  /// Waits until nothing is being pruned.
  func settle() async { await state.withLock { $0.task }?.value }

  private func prune(to limit: (version: Int64, step: Int64)) async {
    do {
      let (keys, lease) = (keys, lease)
      var horizon = try await store.read { try NumberRow.number(try await $0.get(keys.horizon)) }
      guard limit.version > horizon + limit.step else {
        return state.withLock { state in
          state.horizon = horizon
          state.task = nil
        }
      }
      horizon = try await store.write { transaction in
        transaction.freesRoom()
        let before = try NumberRow.number(try await transaction.get(keys.horizon))
        try await transaction.put(NumberRow.bytes(max(limit.version, before)), for: keys.horizon)
        try await lease.keep(in: transaction)
        return max(limit.version, before)
      }.value
      while !state.withLock({ $0.isClosed }), try await step(before: horizon) {}
      if !state.withLock({ $0.isClosed }) { try await forgetAnswers() }
      state.withLock { $0.horizon = horizon }
    } catch let lost as StoreLeaseLost {
      state.withLock { $0.busyUntil = lost.holder.until }
    } catch StoreError.Code.closed {
      // The next start continues.
    } catch {
      log.warning("I-FSS000006", "What is older than the retention could not be deleted: \(error)")
    }
    state.withLock { $0.task = nil }
  }

  /// Deletes answers that are older than they are kept, from a random place on, until few of those it meets are.
  ///
  /// The names of queues are random, so a step is a sample: an eighth of the rows is too old at most, whatever their
  /// number, and no part of the table is left out when the process often begins again.
  private func forgetAnswers() async throws {
    let oldest = options.now() - options.answerRetention.microseconds
    let start = keys.answers(of: SystemRandom.bytes(8))
    let end = KeyRange(prefix: keys.answers).upper
    for range in [KeyRange(from: start, to: end), KeyRange(from: keys.answers, to: start)] {
      var range = range
      while !state.withLock({ $0.isClosed }) {
        let (last, seen, deleted) = try await forgetAnswers(before: oldest, in: range)
        if deleted * tuning.answerShare < seen { return }
        guard let last, seen == tuning.answerStep else { break }
        range = KeyRange(from: last + [0], to: range.upper)
      }
    }
  }

  /// Deletes old answers among the first rows of a range.
  ///
  /// - Returns: The last key that was looked at, how many there were, and how many were deleted.
  private func forgetAnswers(
    before oldest: Int64, in range: KeyRange
  ) async throws -> (last: [UInt8]?, seen: Int, deleted: Int) {
    let step = tuning.answerStep
    let rows = try await store.read { try await $0.entries(in: range, limit: step) }
    let old = try rows.filter { try AnswerRow.time(of: $0.value) < oldest }
    if !old.isEmpty {
      _ = try await store.write { transaction in
        for row in old {
          // A queue that was silent for that long may have become active again.
          guard let value = try await transaction.get(row.key), try AnswerRow.time(of: value) < oldest else { continue }
          try await transaction.delete(row.key)
        }
      }
    }
    return (rows.last?.key, rows.count, old.count)
  }

  private static func delete(
    _ rows: [StoreEntry], _ keys: DocumentDatabaseKeys, in transaction: any StoreTransaction
  ) async throws {
    var collections: [[UInt8]: LogPosition] = [:]
    for entry in rows {
      let position = try keys.position(ofLogKey: entry.key)
      // A damaged row is deleted like any other; it is unreadable anyway.
      for change in (try? LogRow(entry.value))?.changes ?? [] {
        collections[change.pathKey.collectionPrefix] = position
      }
      try await transaction.delete(entry.key)
    }
    // A row of a collection is deleted with its last part of the log.
    for (collection, last) in collections {
      let prefix = keys.changes(ofGroup: try PathKey.collectionID(ofPrefix: collection)) + collection
      try await transaction.deleteRange(KeyRange(from: prefix, to: last.next.appended(to: prefix)))
    }
  }

  /// Deletes the oldest rows; `false` when none is left before the horizon.
  private func step(before horizon: Int64) async throws -> Bool {
    let (keys, lease, tuning) = (keys, lease, tuning)
    let range = KeyRange(from: keys.log, to: keys.log(LogPosition(version: horizon + 1)))
    return try await store.write { transaction in
      transaction.freesRoom()
      var rows: [StoreEntry] = []
      var size = 0
      let end = try await transaction.scan(range, order: .ascending, limit: tuning.pruneStep) { key, value in
        rows.append(StoreEntry(key: key.bytes, value: value.bytes))
        size += value.byteCount
        return size < tuning.pruneBytes ? .next : .stop
      }
      try await Self.delete(rows, keys, in: transaction)
      if end.rest != nil {
        try await lease.keep(in: transaction)
      } else {
        try await lease.release(in: transaction)
      }
      return end.rest != nil
    }.value
  }
}
