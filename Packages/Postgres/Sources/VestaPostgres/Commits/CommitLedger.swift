import VestaStoreInterop

/// The versions of a store, as this process knows them: which are committed, which are reserved, and what they changed.
///
/// It decides and does not wait: its callers hand in the time.
struct CommitLedger: Sendable {
  /// The largest difference of the clocks of server and machine before the server's is followed: two seconds.
  private static let tolerance: Int64 = 2_000_000
  /// For how long commits are listed, whatever clocks do.
  private static let kept: Duration = .seconds(3_600)
  /// The silence after which the list of commits of other processes may not go back so far.
  private static let silence: Duration = .seconds(3_000)

  /// The last version that is known to be committed.
  private(set) var known: Int64
  /// The keys that the last commits have changed.
  private(set) var log: ConflictLog
  /// The row of the store's state, as it was seen last.
  private(set) var last: CommitState
  /// Whether no other process had committed then, so that a commit is likely to find the row as it was.
  private(set) var isAlone = true
  /// How many units have been committed.
  private(set) var units = 0
  /// Versions that were given to bodies which are running.
  private(set) var running: Set<Int64> = []

  private var clock: VersionClock
  /// The lead of the server's clock over this machine's, in microseconds; `nil` where it is not followed.
  private var offset: Int64?
  private var lastSync: ContinuousClock.Instant
  /// Versions that were the last ones at some times, oldest first.
  private var marks: [(time: ContinuousClock.Instant, version: Int64)] = []
  private let tuning: PostgresTuning

  /// - Parameters:
  ///   - last: The state of the store.
  ///   - offset: The lead of the server's clock over this machine's; `nil` where the server's is not followed.
  init(_ last: CommitState, offset: Int64?, now: ContinuousClock.Instant, _ tuning: PostgresTuning) {
    clock = VersionClock(floor: StoreVersion(microseconds: max(last.version, last.floor)))
    (known, self.last, self.offset, lastSync, self.tuning) = (last.version, last, offset, now, tuning)
    log = ConflictLog(base: last.version, tuning: tuning)
  }

  // MARK: Reserving

  /// The next version; it belongs to a body until it is committed or abandoned.
  mutating func reserve(at reading: StoreTime) -> Int64 {
    let version = clock.next(at: corrected(reading)).microseconds
    running.insert(version)
    return version
  }

  /// A body no longer needs its version: it is about to be committed, or never will be.
  mutating func release(_ version: Int64) { running.remove(version) }

  /// The outcome of a request to raise the floor.
  enum Raise {
    /// Nothing: committed changes are visible, and no version arrives below them.
    case done(StoreVersion)
    /// A commit of the floor.
    case commit(StoreVersion)
    /// The version lies too far in the future.
    case refused
  }

  mutating func raise(to version: StoreVersion?, at reading: StoreTime) -> Raise {
    if let version, version.microseconds <= known { return .done(version) }
    return clock.raise(to: version, at: corrected(reading)).map { .commit($0) } ?? .refused
  }

  /// The clock's reading, put right where it is far from the server's.
  private func corrected(_ reading: StoreTime) -> StoreTime {
    guard let offset, abs(offset) > Self.tolerance else { return reading }
    return StoreTime(wall: reading.wall + offset, steady: reading.steady)
  }

  // MARK: Learning

  /// The rows that were read with the lock of the store's state.
  struct Reading {
    var state: CommitState
    /// The commits of other processes, with the keys that they have changed.
    var others: [(version: Int64, changes: ChangedKeys)]
    /// The version that was asked after.
    var known: Int64
    /// The clock of the server; `nil` where it has none.
    var server: Int64?
    /// When it was asked, and when the answer was there.
    var (asked, answered): (StoreTime, StoreTime)
  }

  /// Takes over the state of the store and the commits of other processes.
  mutating func absorb(_ reading: Reading, now: ContinuousClock.Instant) {
    if reading.state.version < reading.known || now - lastSync > Self.silence {
      log = ConflictLog(base: reading.state.version, tuning: tuning)
    } else {
      for other in reading.others { log.add(other.version, other.changes) }
    }
    isAlone = reading.others.isEmpty && reading.state == last
    (last, lastSync, known) = (reading.state, now, max(known, reading.state.version))
    if offset != nil, let server = reading.server {
      offset = Self.offset(of: server, between: reading.asked.wall, and: reading.answered.wall)
    }
    clock.follow(StoreVersion(microseconds: max(last.version, last.floor)), at: corrected(reading.answered))
  }

  /// The least lead of the server's clock, if it was read some time between two readings of this machine's.
  static func offset(of server: Int64, between before: Int64, and after: Int64) -> Int64 {
    if server > after { return server - after }
    return server < before ? server - before : 0
  }

  /// Notes what this process has committed.
  mutating func finish(_ unit: CommitUnit) {
    for commit in unit.commits where commit.version > known { log.add(commit.version, commit.changes) }
    known = max(known, unit.version)
    if unit.version >= last.version {
      last = CommitState(version: unit.version, floor: unit.floor, hasLong: unit.hasLong)
    }
    if !unit.commits.isEmpty { units += 1 }
  }

  /// Notes a floor that was set where a commit was barred.
  mutating func note(_ state: CommitState) { last = state }

  // MARK: Forgetting

  /// Before which version commits are forgotten; `nil` most of the time.
  ///
  /// Versions may jump with a clock, so it is the version that was the last one an hour ago by the steady clock.
  mutating func horizon(at now: ContinuousClock.Instant) -> Int64? {
    guard units % 32 == 0 else { return nil }
    if marks.last.map({ now - $0.time > .seconds(300) }) ?? true { marks.append((now, known)) }
    let old = marks.prefix { now - $0.time > Self.kept }
    marks.removeFirst(max(0, old.count - 1))
    return old.last?.version
  }
}
