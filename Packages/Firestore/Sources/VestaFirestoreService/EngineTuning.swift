package import VestaFirestoreIndexes

/// The sizes at which the engine changes what it does: where a page ends, how much is read together, how much is kept.
///
/// They change the cost of a call and never its outcome. Tests draw them at random, from 1 on, so that what appears
/// with 4,000 documents in production appears with four of them there. The defaults are the figures of production;
/// what users may want to change is in `FirestoreServiceOptions`.
package struct EngineTuning: Sendable, Hashable {
  package var entries = EntryTuning()
  package var queries = QueryTuning()
  package var log = LogTuning()
  package var recent = RecentTuning()
  package var listening = ListenTuning()
  package var indexes = IndexTuning()
  package var commits = CommitTuning()
  package var administration = AdministrationTuning()

  /// The figures of production.
  package init() {}
}

/// The maximum size of a page of results; one that is not the last has looked at one document at least.
package struct PageSize: Sendable, Hashable {
  /// The number of results.
  package var documents: Int
  /// The bytes of the documents that are looked at, whether they are results or not.
  package var bytes: Int
  /// The rows of a look at all documents of a collection, results or not.
  package var rows: Int

  package init(documents: Int, bytes: Int, rows: Int = .max) {
    self.documents = documents
    self.bytes = bytes
    self.rows = rows
  }

  package static let unlimited = PageSize(documents: .max, bytes: .max)
}

/// The sizes of exports, imports and clears.
package struct AdministrationTuning: Sendable, Hashable {
  /// The number of documents that an export hands out together.
  package var exportLength = 256
  /// The number of documents of one commit of an import.
  package var importedDocuments = 400
  /// The number of documents that one commit of a clear deletes.
  package var clearedDocuments = 500
}

/// The sizes of queries and other reads.
package struct QueryTuning: Sendable, Hashable {
  /// A small page, so that results begin to arrive soon.
  package var firstPage = PageSize(documents: 256, bytes: 262_144, rows: 2_048)
  /// Not larger: a page is released at once, and others wait for that.
  package var nextPage = PageSize(documents: 512, bytes: 262_144, rows: 16_384)
  /// The pages of a query whose results are wanted all together.
  package var wholePage = PageSize.unlimited
  /// The number of documents that a walk with a filter reads first; it doubles up to the maximum, after which others
  /// run.
  package var firstBatch = 32
  package var largestBatch = 64
  /// The number of documents that are read together before the size of one is known; few are as large as they may be.
  package var readUnknown = 20
  /// The number of entries that a walk with a filter is likely to want.
  package var likelyEntries = 64
  /// The number of rows that a walk reads before ranges are counted.
  package var raceBudget = 64
  /// The number of rows that are no reason to make an index, however few the results are.
  package var raceTolerance = 100
  /// The number of results beyond twice the wanted ones that are kept before the worst of them are dropped.
  package var spareResults = 256
  /// The number of rows that a scan of a collection reads together, and of names that a get of many documents does.
  package var scannedTogether = 256
  /// The number of documents of a collection that a walk over all collections reads first; it doubles up to the
  /// maximum.
  package var firstNames = 8
  package var mostNames = 256
  /// The number of documents or collections of a page for which the request says none.
  package var listPage = 300
  /// The number of names of a group up to which all are looked at to split it, and not some.
  package var countedNames = 4096
  /// The maximum number of parts of a split.
  package var partitions = 4096
  /// The number of rows between two looks at the deadline.
  package var rowsBetweenChecks = 256

  /// The figures of production.
  package init() {}
}

/// The sizes of the log: how it is written, read, sorted and pruned.
package struct LogTuning: Sendable, Hashable {
  /// The size from which on a row takes no further change: of the log, and of a collection.
  package var rowLimit = 262_144
  package var changeRowLimit = 16_384
  /// The number of rows of the log that are read together.
  package var page = 256
  /// The number of rows of a collection that are read together; each says of a hundred commits or so what they changed.
  package var changePage = 64
  /// The number of parts of the log, which may be large, that are read together.
  package var partsTogether = 16
  /// The maximum number of changes of a document that are followed back.
  package var stepsBack = 32
  /// The number of commits, or of bytes in the log, that wait to be sorted.
  package var unsortedCommits = 128
  package var unsortedBytes = 262_144
  /// The rows and bytes of the log that are sorted together.
  package var sortStep = 2_048
  package var sortBytes = 1_048_576
  /// The rows and bytes of the log that are deleted together.
  package var pruneStep = 128
  package var pruneBytes = 524_288
  /// The number of answers to write calls that are looked at together, to delete the old ones.
  package var answerStep = 512
  /// The next answers are looked at too where at least one of this number was too old.
  package var answerShare = 8

  /// The figures of production.
  package init() {}
}

/// The sizes of the memory of documents that were read lately.
package struct RecentTuning: Sendable, Hashable {
  /// The number of marks of documents that were read once, as a power of two: 14 are 64 KiB of marks.
  package var markBits = 14
  /// The number of unannounced commits that are remembered; after more of them everything is forgotten.
  package var unknownCommits = 4096
  /// The rows and bytes of the log that a check reads; beyond that everything is forgotten.
  package var checkedRows = 256
  package var checkedBytes = 1_048_576
  /// The number of announced commits from which on those are dropped that have failed.
  package var announcedCommits = 64

  /// The figures of production.
  package init() {}
}

/// The sizes of listening.
package struct ListenTuning: Sendable, Hashable {
  /// The number of further matches that a limited query knows; it doubles with each run in vain.
  package var spare = 16
  /// The bytes of these matches; they double with each run in vain.
  package var spareBytes = 262_144
  /// The number of documents before the first result that are kept to follow a query with an offset.
  package var mostSkipped = 1_000
  /// The number of attempts to run a query with a large offset outside the turns, before a turn runs it.
  package var requeries = 3
  /// The number of documents of a target up to which its start is made in a turn: it takes less time than a task.
  package var documentsInTurn = 8
  /// The number of starts that one turn makes; all other calls wait for them.
  package var startsInTurn = 32
  /// The number of open calls up to which a turn for a request runs on the executor of its call.
  package var callsInPlace = 64
  /// The number of starts and queries that run at a time.
  package var jobs = 16
  /// The bytes of the states between two turns that a turn looks at; beyond that every call learns that its snapshot
  /// has moved.
  package var betweenBytes = 262_144

  /// The figures of production.
  package init() {}
}

/// The sizes of making indexes.
package struct IndexTuning: Sendable, Hashable {
  /// The number of shapes of which it is remembered that queries lacked them, and of shapes that could not be made.
  package var wishes = 4096
  package var failures = 4096
  /// The number of entries of a run of a build, or little more: some ten megabytes in memory.
  package var entriesInRun = 65_536
  /// The number of documents that a build reads together.
  package var documentsInPage = 256
  /// The number of entries that one transaction of a build writes: at first, at least, and at most.
  package var firstPart = 128
  package var smallestPart = 64
  package var largestPart = 1_000
  /// The number of entries of a dropped index that are deleted together.
  package var sweepStep = 500

  /// The figures of production.
  package init() {}
}

/// The sizes of commits and transactions.
package struct CommitTuning: Sendable, Hashable {
  /// The number of elements of array transforms from which on a commit is worked out before its transaction.
  package var manyElements = 256
  /// The bytes of stored documents that a transaction takes apart; a commit of more is worked out before.
  package var bytesTakenApart = 65_536
  /// The number of attempts to work a commit out before its transaction, while others write the same documents.
  package var attemptsBefore = 3
  /// The number of ended transactions that are remembered.
  package var endedTransactions = 4096
  /// The number of contended documents that are remembered.
  package var contendedDocuments = 1024
  /// The number of databases that reads may create.
  package var databasesByReading: Int64 = 100

  /// The figures of production.
  package init() {}
}
