/// Reads documents by name.
public struct BatchGetDocumentsRequest: Sendable, Hashable {
  /// The database, `projects/{p}/databases/{d}`.
  public var database: String

  /// The full names; the same one twice is answered once.
  ///
  /// Empty only to begin a transaction.
  public var documents: [String]

  /// The fields to return; `nil` for all.
  public var mask: DocumentMask?

  /// The read time, or the transaction.
  public var consistency: ReadConsistency

  /// A request for documents.
  public init(
    database: String, documents: [String], mask: DocumentMask? = nil, consistency: ReadConsistency = .latest
  ) {
    self.database = database
    self.documents = documents
    self.mask = mask
    self.consistency = consistency
  }
}

/// One of the documents that were asked for, or the transaction that was begun.
public struct BatchGetDocumentsResponse: Sendable, Hashable {
  /// The document of one name, or its absence.
  public enum Result: Sendable, Hashable {
    /// The document is there.
    case found(Document)
    /// There is no document of this name.
    case missing(String)
  }

  /// A document; `nil` in a first response that only names the transaction.
  public var result: Result?

  /// The transaction that the call has begun; in the first response only.
  public var transaction: [UInt8]?

  /// The read time; the same in all responses.
  public var readTime: Timestamp?

  /// A response.
  public init(result: Result? = nil, transaction: [UInt8]? = nil, readTime: Timestamp? = nil) {
    self.result = result
    self.transaction = transaction
    self.readTime = readTime
  }
}

/// Lists the documents of a collection, a page at a time.
public struct ListDocumentsRequest: Sendable, Hashable {
  /// The parent of the collection: `…/documents`, or a document.
  public var parent: String

  /// The last part of the collection's path; empty for all collections below the parent.
  public var collectionID: String

  /// The maximum number of documents; zero lets the backend choose.
  public var pageSize: Int32

  /// The token of the page before; empty for the first page.
  ///
  /// All else must be as it was then.
  public var pageToken: String

  /// Fields to order by, such as `priority desc, __name__`; empty for names.
  public var orderBy: String

  /// The fields to return; `nil` for all.
  public var mask: DocumentMask?

  /// The read time, or the transaction.
  public var consistency: ReadConsistency

  /// Whether names without a document that have something below them are listed too; not together with `orderBy`.
  public var showMissing: Bool

  /// A request for a page of documents.
  public init(
    parent: String,
    collectionID: String,
    pageSize: Int32 = 0,
    pageToken: String = "",
    orderBy: String = "",
    mask: DocumentMask? = nil,
    consistency: ReadConsistency = .latest,
    showMissing: Bool = false
  ) {
    self.parent = parent
    self.collectionID = collectionID
    self.pageSize = pageSize
    self.pageToken = pageToken
    self.orderBy = orderBy
    self.mask = mask
    self.consistency = consistency
    self.showMissing = showMissing
  }
}

/// A page of documents.
public struct ListDocumentsResponse: Sendable, Hashable {
  /// The documents; missing ones have a name and no times.
  public var documents: [Document]

  /// The token of the next page; empty after the last one.
  public var nextPageToken: String

  /// A page of documents.
  public init(documents: [Document], nextPageToken: String = "") {
    self.documents = documents
    self.nextPageToken = nextPageToken
  }
}

/// Lists the collections directly below a document or the root, a page at a time.
public struct ListCollectionIDsRequest: Sendable, Hashable {
  /// `…/documents`, or a document, which may be missing.
  public var parent: String

  /// The maximum number of collections; zero lets the backend choose.
  public var pageSize: Int32

  /// The token of the page before; empty for the first page.
  public var pageToken: String

  /// The read time; `nil` for the latest version.
  public var readTime: Timestamp?

  /// A request for a page of collections.
  public init(parent: String, pageSize: Int32 = 0, pageToken: String = "", readTime: Timestamp? = nil) {
    self.parent = parent
    self.pageSize = pageSize
    self.pageToken = pageToken
    self.readTime = readTime
  }
}

/// A page of collections.
public struct ListCollectionIDsResponse: Sendable, Hashable {
  /// The last parts of their paths, sorted.
  public var collectionIDs: [String]

  /// The token of the next page; empty after the last one.
  public var nextPageToken: String

  /// A page of collections.
  public init(collectionIDs: [String], nextPageToken: String = "") {
    self.collectionIDs = collectionIDs
    self.nextPageToken = nextPageToken
  }
}
