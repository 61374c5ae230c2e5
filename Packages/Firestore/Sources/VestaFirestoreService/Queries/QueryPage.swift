import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The answer to a query.
struct QueryAnswer {
  var documents: [Document] = []
  var skipped = 0
  /// The number of documents that were read.
  var read = 0
  /// The number of index entries that were read.
  var scanned = 0
  /// The plan; `nil` where all documents were looked at.
  var plan: QueryPlan?

  /// Adds what follows.
  mutating func append(_ more: QueryAnswer) {
    documents += more.documents
    skipped += more.skipped
    read += more.read
    scanned += more.scanned
    plan = more.plan ?? plan
  }
}

/// One page of the results of a query, and what follows it.
struct QueryPage {
  let answer: QueryAnswer
  let rest: QueryRest
}

/// Whether a query has been answered, or its page has ended before that: because it is full, or because enough has been
/// read for one page.
///
/// A page that ends by its cost may have any number of results, and none as well. So whether others follow is never
/// concluded from the results: it is said here, and where others may follow, it is said from where on.
enum QueryRest {
  /// No results follow.
  case none
  /// Results may follow.
  case after(QueryPosition)
}

/// The position at which the next page of a query begins: after a document that was looked at, a result or not.
struct QueryPosition: Sendable {
  /// The query of what follows, whose offset and limit are what is left of them.
  let query: NormalQuery
  /// The work on the pages before.
  var progress: RaceProgress
  /// An unfinished look at all documents, which has its results after the last part.
  private(set) var scan: QueryScan?

  /// A position in a look at all documents.
  init(in scan: QueryScan, of query: NormalQuery, _ progress: RaceProgress) {
    (self.query, self.progress, self.scan) = (query, progress, scan)
  }

  /// - Parameters:
  ///   - document: The last document that was looked at, in the order of the query.
  ///   - query: The query of the page.
  ///   - sink: The results of the page.
  init(after document: Document, of query: NormalQuery, _ sink: QuerySink, _ progress: RaceProgress) {
    self.query = query.continued(after: document, returned: sink.taken, skipped: sink.skipped)
    self.progress = progress
  }
}

/// The work on the pages of a query so far, so that a race over several pages continues where it was.
struct RaceProgress: Sendable {
  /// The number of rows that the walk looks at in all before ranges are counted; `nil` for the first budget.
  var budget: Int?
  /// The number of rows that the walk has looked at.
  var walked = 0
  /// The number of rows that were looked at in all.
  var cost = 0
  /// The number of results, including skipped ones.
  var results = 0
  /// Whether this is a page after the first one.
  var isContinued = false
  /// The bytes of a document on average; 0 when none was read.
  var documentBytes = 0
}
