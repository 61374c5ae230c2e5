/// The figures at which the behavior of a client changes.
///
/// The defaults are for production. Tests draw small ones, so that a fault that needs thousands of documents in
/// production needs a few.
package struct SyncTuning: Sendable, Hashable {
  /// The pauses between two attempts to open a stream.
  package struct Pauses: Sendable, Hashable {
    /// The pause before the second attempt, in seconds; the first one is immediate.
    package var initial = 1.0
    /// By how much each further pause is longer.
    package var factor = 1.5
    /// The longest pause.
    package var maximum = 60.0

    /// The pauses for a backend that many clients share.
    package init() {}

    /// The pauses for an engine in the process: an attempt costs next to nothing there, and what stopped the last one,
    /// such as a full disk, is over as soon as there is room.
    package static var embedded: Pauses {
      var pauses = Pauses()
      (pauses.initial, pauses.maximum) = (0.1, 2)
      return pauses
    }
  }

  // MARK: Streams

  /// How many batches are sent before the first of them is answered.
  package var pipelineLimit = 10
  /// How many limbo resolutions are active at once; `nil` for no limit.
  package var limboLimit: Int? = 100
  /// How many responses that arrive at once are taken on the thread of the connection.
  package var responsesInPlace = 32
  /// The pauses of streams to a remote backend.
  package var pauses = Pauses()
  /// The pauses of streams to an engine in the process.
  package var embeddedPauses = Pauses.embedded
  /// After how many seconds without work a stream is closed.
  package var idleSeconds = 60.0
  /// After how many seconds an open stream counts as healthy.
  package var healthySeconds = 10.0
  /// How many seconds the client waits for the first message before it counts as offline.
  package var onlineSeconds = 10.0
  /// After how many seconds a call that reads a document is given up, and a listener reads it.
  package var fetchSeconds = 2.0
  /// How many seconds a target whose first results were read from the engine waits before it is followed.
  package var followSeconds = 0.002
  /// How many seconds the removal of a target waits for another request of a remote backend, to be sent with it.
  package var removalSeconds = 0.002
  /// How many seconds an acknowledged write may be shown before the backend has sent a snapshot of it; then the client
  /// asks for its document.
  package var awaitedSeconds = 1.0
  /// Token and versions of a target are written when they are this many seconds newer than what was written.
  package var resumeTokenSeconds: Int64 = 300

  // MARK: Cache

  /// How many seconds rows of what the backend has sent wait, to be written together.
  package var cacheSeconds = 0.002
  /// Collections with fewer documents are looked at whole.
  package var indexedSize = 100
  /// The indexes of collections with more documents are made in the background, and kept as rows.
  package var largeSize = 1_000
  /// How many indexes of a collection are kept as rows.
  package var durableIndexes = 16
  /// How many entries of a new index become rows at once.
  package var indexPart = 4_096
  /// Queries with more candidates read their collection.
  package var candidateLimit = 4_096
  /// A limited query reads its candidates if they are fewer than this many times its limit, and `spareCandidates`.
  package var candidatesPerResult = 4
  /// See `candidatesPerResult`.
  package var spareCandidates = 64
  /// How many entries of an index are read at once, at least, for the first results of a limited query.
  package var firstEntries = 16
  /// How many queries are known to be in memory before all of them are forgotten.
  package var residentQueries = 1_000
  /// Of a document with more pending writes, the combined effect is not computed anew after each answer.
  package var exactReplays = 64
  /// How many documents of acknowledged writes stay in the cache until the backend has sent a snapshot of the writes;
  /// beyond that, an earlier snapshot may show an earlier state for a moment.
  package var acknowledgedDocuments = 1_000
  /// How often a read from the engine in the process begins again when writes are answered in between.
  package var readAttempts = 3

  // MARK: Garbage collection

  /// The time of the first collection, in seconds after the start.
  package var firstGarbageSeconds = 60.0
  /// How many seconds are between two collections.
  package var garbageSeconds = 300.0
  /// The share of targets and documents that go in one round, in percent.
  package var garbagePercentile = 10
  /// How many targets and documents go in one round at most.
  package var garbageMaximum = 1_000
  /// How many rounds a collection has at most.
  package var garbageRounds = 64

  /// The figures of production.
  package init() {}
}
