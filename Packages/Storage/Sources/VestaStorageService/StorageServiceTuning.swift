/// The sizes and times at which the behavior of the service changes; tests lower them.
struct StorageServiceTuning: Sendable, Hashable {
  /// The length of one read when content is hashed or copied, in bytes.
  var pieceLength = 1 << 20

  /// The interval between two removals of expired uploads, in microseconds.
  var sweepInterval: Int64 = 3_600_000_000

  /// The number of attempts to open the content of an object that is being replaced.
  var openAttempts = 8

  /// The time for which one process has an upload, in microseconds of the store's versions.
  var ownership: Int64 = 10_000_000

  /// The number of calls that wait until another call has done with their upload.
  var waitingCalls = 8

  /// The time for which an upload is kept that only its process can continue.
  var shortLifetime: Duration = .seconds(24 * 3_600)

  /// The length of a piece of content that is kept in the store, in bytes.
  var storedPiece = 256 << 10

  /// The bytes of such content that are read or written by one call of the store at the most, but for one piece.
  var storedTogether = 4 << 20

  /// The time for which the pieces of removed content stay for its readers, in microseconds of the store's versions.
  var removalDelay: Int64 = 3_600_000_000

  /// The bytes that are kept free in addition to the content, so that something can be deleted when the disk is full.
  var reservedBytes = 1 << 20
}
