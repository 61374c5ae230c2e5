/// The sizes of the pieces in which entries of indexes are read.
///
/// They change the cost of a query and never its results, so tests draw them at random, from 1 on.
package struct EntryTuning: Sendable, Hashable {
  /// The maximum number of entries, or documents, that one scan of the store reads.
  package var largestBatch = 1024
  /// The bytes of rows after which one scan of the store ends: a batch of documents may be a batch of megabytes.
  package var batchBytes = 1_048_576
  /// The number of entries that the first scan reads where streams jump over entries that others lack.
  package var jumpingBatch = 16
  /// The maximum number of entries that are counted by one scan of the store.
  package var countedTogether = 8192
  /// The number of entries that an alternative looks at before another one has its turn; it doubles.
  package var slice = 64

  /// The figures of production.
  package init() {}
}
