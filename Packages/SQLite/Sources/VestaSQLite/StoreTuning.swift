/// Sizes and bounds that a test may want to be smaller.
struct StoreTuning: Sendable {
  /// From how many pages on the log is written back after a commit: 8 MB.
  var checkpointPages = 1_000

  /// How many pages the log may have before a writer waits for the readers that hold it: 64 MB.
  var logLimit = 8_000

  /// How many milliseconds such a writer waits for the readers to end.
  var logPatience = 250

  /// How many transactions share a commit at the most.
  var groupLimit = 256

  /// How many readers may be open, beside one for each body.
  var readerLimit = 64

  /// How many unused readers are kept.
  var idleReaders = 8

  var writerCacheKilobytes = 16_384

  /// How many readers have a large page cache; the others have a small one.
  var warmReaders = 4
  var readerCacheKilobytes = 16_384
  var coldReaderCacheKilobytes = 1_024
}
