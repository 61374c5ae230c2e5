import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop

/// Writes the rows that say which parts of the log have changes of a collection, concurrently with the commits.
///
/// A commit would write such a row to a separate page; a hundred commits together write few rows to few pages. What
/// is not sorted yet, a hundred commits or little more, is read from the log itself by callers that need to know what
/// has changed in a collection: see `Snapshot.visitChanges`. The position up to which the log is sorted is a row that
/// changes together with the rows of the collections, so each reader sees both at one version. Of two engines that sort
/// the same part one succeeds, and the other one finds the position changed and does nothing.
///
/// ```
/// log:        10 a   11 b   12 a   13 c   14 a   15 b      sorted: 13
/// of a:       [10, 12]                                     changes of a after 11: 12 by its row, 14 by the log
/// of b, c:    [11]   [13]
/// ```
///
/// A store whose commits are a network's round trip away has these rows written by the commits themselves, where they
/// cost nothing more: a transaction that looks for changes in a collection then reads rows that other collections'
/// commits do not write, and does not conflict with them. Which of both is so is decided when a database is created, by
/// whether the row with the position is there.
final class LogSorter: Sendable {
  private struct State: Sendable {
    var task: Task<Void, Never>?
    /// The commits, and the bytes that they logged, since the last look.
    var commits: Int
    var bytes = 0
    var isClosed = false

    /// Whether there is enough to sort; the notes so far are taken to be sorted then.
    mutating func begin(_ tuning: LogTuning) -> Bool {
      guard !isClosed, commits >= tuning.unsortedCommits || bytes >= tuning.unsortedBytes else { return false }
      (commits, bytes) = (0, 0)
      return true
    }
  }

  private let state: Locked<State>
  private let store: any OrderedStore
  private let keys: DocumentDatabaseKeys
  private let recent: RecentDocuments
  private let tuning: LogTuning

  /// - Parameters:
  ///   - waiting: The number of commits that are not sorted yet.
  ///   - recent: Learns that the commits of the sorter change no document.
  init(store: any OrderedStore, keys: DocumentDatabaseKeys, waiting: Int, recent: RecentDocuments, tuning: LogTuning) {
    self.tuning = tuning
    state = Locked(State(commits: waiting))
    self.store = store
    self.keys = keys
    self.recent = recent
  }

  /// The number of rows of a database's log that are not sorted yet, or as many as have to be; `nil` where commits do
  /// that themselves.
  static func waiting(_ keys: DocumentDatabaseKeys, in reader: any StoreReader, _ tuning: LogTuning) async throws
    -> Int?
  {
    guard let row = try await reader.get(keys.sorted) else { return nil }
    let rest = keys.log(after: try PositionRow.position(row))
    return try await reader.scan(rest, order: .ascending, limit: tuning.unsortedCommits) { _, _ in .next }.visited
  }

  /// Whether the log of a database in this store is sorted in the background.
  static func isWorthwhile(for store: any OrderedStore) -> Bool {
    (store as? any CommitObservable)?.tellsBeforeAcknowledging == true
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// Notes a commit and the number of bytes that it logged; begins to sort when there is enough.
  func noteCommit(bytes: Int) {
    state.withLock { state in
      state.commits += 1
      state.bytes += bytes
      guard state.task == nil, state.begin(tuning) else { return }
      state.task = Task.detached { await self.run() }
    }
  }

  /// Waits until nothing is being sorted.
  func settle() async { await state.withLock { $0.task }?.value }

  /// Sorts until less waits than has to: on a busy machine many commits may happen between the last read of the log and
  /// the end, and there may be no later one to begin again.
  private func run() async {
    repeat {
      do {
        try await sort()
      } catch StoreError.Code.closed {
        // The next start continues.
      } catch {
        log.warning("I-FSS000007", "The log could not be sorted by collection: \(error)")
      }
    } while state.withLock { state in
      if state.begin(tuning) { return true }
      state.task = nil
      return false
    }
  }

  /// Sorts all of the log that there is.
  func sort() async throws { while !state.withLock({ $0.isClosed }), try await step() {} }

  /// Sorts the next part of the log; `false` when that was all.
  private func step() async throws -> Bool {
    let keys = keys
    let (start, log, isAll) = try await nextPart()
    guard let start, let last = log.last?.position else { return false }
    let announcement = CommitAnnouncement(to: recent)
    do {
      try await store.write { transaction in
        let rows = try await transaction.get([keys.sorted, keys.horizon])
        // Another engine has sorted this part.
        guard let row = rows[0], try PositionRow.position(row) == start else { return }
        let horizon = try NumberRow.number(rows[1])
        announcement.announce(try await transaction.commitVersion().microseconds) { [] }
        // Rows that were pruned in between are not found.
        try await self.put(log.filter { $0.position.version > horizon }, in: transaction)
        try await transaction.put(PositionRow.bytes(last), for: keys.sorted)
      }
    } catch {
      announcement.retract()
      throw error
    }
    return !isAll
  }

  private func put(_ log: [Part], in transaction: any StoreTransaction) async throws {
    for (collection, rows) in ChangeRow.rows(of: log, limit: tuning.changeRowLimit) {
      let prefix = keys.changes(ofGroup: try PathKey.collectionID(ofPrefix: collection)) + collection
      for row in rows {
        guard let last = row.parts.last else { continue }
        try await transaction.put(row.bytes, for: last.position.appended(to: prefix))
      }
    }
  }

  private typealias Part = (position: LogPosition, row: LogRow)

  /// Reads the part of the log that is sorted next, and whether it is the last one; no position if nothing waits.
  private func nextPart() async throws -> (start: LogPosition?, log: [Part], isAll: Bool) {
    let (keys, tuning) = (keys, tuning)
    return try await store.read { reader -> (start: LogPosition?, log: [Part], isAll: Bool) in
      guard let start = try await reader.get(keys.sorted).map({ try PositionRow.position($0) }) else {
        return (nil, [], true)
      }
      var (log, size) = ([Part](), 0)
      let end = try await reader.scan(keys.log(after: start), order: .ascending, limit: tuning.sortStep) { key, value in
        do {
          log.append((try keys.position(ofLogKey: key.bytes), try LogRow(value.bytes)))
        } catch  where !log.isEmpty {
          // Rows before a damaged one are sorted all the same.
          return .stop
        }
        size += value.byteCount
        return size < tuning.sortBytes ? .next : .stop
      }
      return (start, log, end.rest == nil)
    }
  }
}
