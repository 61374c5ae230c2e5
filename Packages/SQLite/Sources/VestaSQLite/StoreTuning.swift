/// Sizes and bounds that a test may want to be smaller.
struct StoreTuning: Sendable {
  /// The clock of all pauses, which a test may advance.
  var now: @Sendable () -> ContinuousClock.Instant = { .now }
  /// A pause on that clock.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

  /// The number of log pages above which a commit writes the log back: 32 MB.
  ///
  /// Writing back costs the commit that does it some milliseconds, most of them for syncing the pages of the database
  /// file, of which there are hardly more after four times as many commits. Up to 4,062 pages one block of the log's
  /// index says where each is.
  var checkpointPages = 4_000

  /// The number of log pages above which a writer waits for the readers that hold the log: 64 MB.
  var logLimit = 8_000

  /// The longest time that such a writer waits for the readers to end.
  var logPatience = Duration.milliseconds(250)

  /// The time for which a check that the files are in their places is valid for further commits.
  ///
  /// The check asks for facts of the log, and the next write to it costs more then; see `is_short` in `store_files.c`.
  var placeCheckInterval = Duration.milliseconds(5)

  /// The number of bytes on the disk that are kept for transactions that make room; see `StoreReserve`.
  var reserveBytes = 1 << 20
  /// The fewest bytes of them that are given away at once.
  var reservePiece = 64 * 1024
  /// The time between two attempts to fill them up again.
  var reserveInterval = Duration.seconds(1)

  /// The time after a refusal for lack of room in which the log starts over after each commit.
  var shortTime = Duration.seconds(60)

  /// How many transactions share a commit at the most.
  var groupLimit = 256

  /// The longest key and value, together, that lie in one row; the value of a longer one is in a separate table.
  ///
  /// It has to fit into a leaf of the index.
  var inlineLimit = 2_000

  /// How many entries a scan visits between two looks at whether to continue.
  var entriesBetweenChecks = 64

  /// The number of readers that may be open, in addition to one for each body; at least two.
  ///
  /// With one, a body that waits for what another caller does, and that caller's own read, would wait for each other.
  var readerLimit = 64

  /// How many unused readers are kept for good.
  var idleReaders = 8

  /// For how long further readers are unused before they are closed.
  var readerTrimInterval = Duration.seconds(1)

  var writerCacheKilobytes = 16_384

  /// How many readers have a large page cache; the others have a small one.
  var warmReaders = 4
  var readerCacheKilobytes = 16_384
  var coldReaderCacheKilobytes = 1_024
}
