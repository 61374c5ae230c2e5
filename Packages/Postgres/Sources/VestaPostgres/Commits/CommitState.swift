import VestaBytes
import VestaConcurrency

/// The row of a store's state, which is locked during a commit.
struct CommitState: Sendable, Equatable {
  /// The version of the last commit.
  var version: Int64
  /// No later commit has this version or one below it.
  var floor: Int64
  /// Whether there are, or were, long keys.
  var hasLong: Bool

  init(version: Int64, floor: Int64, hasLong: Bool) {
    self.version = version
    self.floor = floor
    self.hasLong = hasLong
  }

  /// The row that `Schema.state` or `Schema.lock` has read; `nil` when it is not there.
  init?(_ rows: Rows) {
    guard let version = rows.integer(0, 0), let floor = rows.integer(0, 1), let long = rows.integer(0, 2) else {
      return nil
    }
    self.init(version: version, floor: floor, hasLong: long != 0)
  }
}

/// The knowledge about the tries to commit some transactions.
struct CommitAttempt {
  /// By what the rows of its commits are known, whichever try has made them.
  let number = SystemRandom.bytes(16)
  /// The changes that were sent with a COMMIT that was not answered.
  var uncertain: CommitUnit?
  private let patience: Duration
  private let tuning: PostgresTuning
  /// The end of the time that the server has to recover; it begins with the first failure, however long an answer was
  /// waited for before.
  private var deadline: ContinuousClock.Instant?
  private var failures = 0

  init(patience: Duration, _ tuning: PostgresTuning) { (self.patience, self.tuning) = (patience, tuning) }

  /// A unit is about to be sent with its COMMIT; one without commits may be sent twice.
  mutating func begin(_ unit: CommitUnit) { uncertain = unit.isEmpty ? nil : unit }

  /// The server has refused the unit, or has not answered.
  mutating func note(_ failure: PostgresFailure) {
    if failure.isUncertain { deadline = nil } else { uncertain = nil }
  }

  /// Pauses before the next try.
  ///
  /// - Returns: Whether there is to be one.
  mutating func pauseBeforeNextTry() async -> Bool {
    let deadline = deadline ?? tuning.now() + patience
    self.deadline = deadline
    failures += 1
    guard let pause = tuning.commitRetry.pause(after: failures), tuning.now() + pause < deadline else { return false }
    try? await tuning.sleep(pause)
    return true
  }
}
