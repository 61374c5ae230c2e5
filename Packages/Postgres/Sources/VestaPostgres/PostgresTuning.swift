/// Every figure at which the store's behaviour changes, in addition to ``PostgresOptions``; tests draw small ones.
struct PostgresTuning: Sendable {
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
