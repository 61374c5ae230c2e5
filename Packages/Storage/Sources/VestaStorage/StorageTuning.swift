/// The sizes and numbers at which the behavior of transfers changes; tests lower them.
struct StorageTuning: Sendable, Hashable {
  /// The number of transfers that run at once in a process; the others wait, and hold neither files nor content.
  ///
  /// An upload of a file to the embedded service has two files open, so 16 leave room also where a process may have
  /// 256.
  var transfers = 16

  /// The number of streams of content that keep their object open between two chunks.
  var openStreams = 64

  /// The length of one read of a download, in bytes.
  var readLength = 1024 * 1024

  /// The size from which on a download to a file is noted, so that it continues after the process was killed.
  var notedSize: Int64 = 4 * 1024 * 1024

  /// The size up to which a downloaded file is read again before it takes its place.
  ///
  /// A larger one is read again where more than one attempt has written it.
  var rereadSize: Int64 = 64 * 1024 * 1024

  /// The size up to which known content is sent in one call; at most `UploadLimits.singleCallLength`.
  var singleCallLength = 256 * 1024

  /// The number of times that a transfer begins again from its beginning.
  var restarts = 3

  /// The delay before the first retry of a call, in seconds; each further one is twice as long.
  var firstRetry = 1.0

  /// The number of pieces that are read from a file before others may run.
  var piecesBetweenYields = 16
}
