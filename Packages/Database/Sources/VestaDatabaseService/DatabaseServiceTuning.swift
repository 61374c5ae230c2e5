/// The figures of an engine at which its behaviour changes; tests make them small.
struct DatabaseServiceTuning: Sendable, Hashable {
  /// The most jobs of a database that are taken together; their writes share a commit.
  var groupJobs = 256

  /// How many rows the check of a hash reads while other writes wait; beyond that it runs concurrently with them.
  var hashCheckRows = 1_000

  /// How often a hash is checked concurrently with other writes, before it is checked in the turn itself.
  var concurrentChecks = 3

  /// The most paths that a write with a hash writes one by one.
  var replacementPaths = 1_000

  /// How many rows one step of an index reads.
  var stepRows = 500

  /// The time after which the building of indexes is tried again.
  var indexRetry = Duration.seconds(60)

  /// How many databases without connections are kept open.
  var idleDatabases = 16

  /// The most bytes of a row of the log of commits, which other engines read.
  var logPartBytes = 8 << 20

  /// How long rows of the log of commits are kept: longer than any engine lags.
  var logTime = Duration.seconds(120)

  /// The most bytes of a string in the entry of an index; longer ones are cut, and all engines of a store agree on it.
  var entryBytes = 1_024

  /// How many rows a read has on the threads of tasks; a larger one has dedicated threads.
  var rowsInPlace = 512

  /// How many keys a read of keys alone reads at a time.
  var keysTogether = 1_000

  /// How many rows an export returns at a time, and how many values a write of an import has.
  var transferRows = 1_000

  /// The most bytes of a write of an import, roughly.
  var transferBytes = 1 << 20

  /// The lease of an engine that finds its store shared.
  var lease = Duration.seconds(15)

  /// The figures of a program.
  init() {}
}
