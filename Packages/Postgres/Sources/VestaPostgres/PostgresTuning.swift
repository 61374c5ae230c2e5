import VestaConcurrency

/// Every figure at which the store's behaviour changes, in addition to ``PostgresOptions``; tests draw small ones.
struct PostgresTuning: Sendable {
  /// The clock of all pauses and time-outs, which a test may advance.
  var now: @Sendable () -> ContinuousClock.Instant = { .now }
  /// A pause on that clock.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

  /// The pauses after a failed commit, as long as the patience of the options lasts.
  var commitRetry = Retry(initial: .milliseconds(10), cap: .seconds(1))
  /// The pauses before a store is opened again: a server that starts, or has too many connections, may answer then.
  var openRetry = Retry(initial: .milliseconds(50), factor: 5, cap: .seconds(1), attempts: 4)
  /// The pauses before a snapshot is asked for again after its connection has turned out to be dead: the first one may
  /// have been idle for long, then a server that is restarted has some seconds.
  var readRetry = Retry(
    initial: .milliseconds(50), factor: 5, cap: .seconds(3), attempts: 6, beginsAtOnce: true)
  /// The pauses before the connection that listens is opened again.
  var listenRetry = Retry(initial: .milliseconds(50), cap: .seconds(5))
  /// How often commits are looked for without a notification: a dead connection does not say so.
  var listenInterval: Duration = .seconds(10)
  /// How long an attempt to connect may take where the connection string does not say.
  var connectTime: Duration = .seconds(10)

  /// The most transactions of one commit.
  var largestUnit = 256
  /// The most bytes and entries of one statement that puts.
  var partBytes = 4_194_304
  var partEntries = 5_000
  /// How long a version waits for lower ones that are reserved.
  var courtesy: Duration = .milliseconds(5)
  /// How often a body runs next to others before it runs without concurrent commits.
  var attemptsBeside = 6
  /// The part of the lock's time-out that a body may take without concurrent commits.
  var shareOfTheLock = 0.8

  /// The bytes of the changed keys of a commit beyond which one range stands for them.
  var changedBytes = 262_144
  /// How many microseconds of commits are kept to find conflicts, and how many keys.
  var conflictSpan: Int64 = 300_000_000
  var conflictKeys = 200_000

  /// The first page of a scan, and the largest one; a scan with a limit begins with up to four times as many entries.
  var firstEntries = 64
  var firstBytes = 131_072
  var largestEntries = 4_096
  var largestBytes = 1_048_576
}
