package import VestaFirestoreModel

/// A change of a document in a view.
package struct DocumentViewChange: Sendable, Hashable {
  /// The kinds of changes, in the order in which listeners receive them.
  package enum Kind: UInt8, Sendable, Hashable, Comparable {
    case removed
    case added
    case modified
    case metadata

    /// Modified and metadata changes share a place.
    var order: UInt8 { min(rawValue, 2) }

    package static func < (left: Kind, right: Kind) -> Bool { left.order < right.order }
  }

  /// The kind of change.
  package let kind: Kind
  /// The document after it; for a removal, before it.
  package let document: CachedDocument

  /// A change.
  package init(_ kind: Kind, _ document: CachedDocument) {
    self.kind = kind
    self.document = document
  }
}

/// The changes of a view, at most one for each document.
package struct DocumentChangeSet: Sendable {
  private(set) var changes: [DocumentKey: DocumentViewChange] = [:]

  /// No changes.
  package init() {}

  var isEmpty: Bool { changes.isEmpty }

  /// Adds a change, merged with the one of the same document.
  mutating func add(_ change: DocumentViewChange) {
    let key = change.document.path
    guard let old = changes[key] else {
      changes[key] = change
      return
    }
    changes[key] = DocumentChangeSet.merged(old, change)
  }

  private static func merged(_ old: DocumentViewChange, _ new: DocumentViewChange) -> DocumentViewChange? {
    switch (old.kind, new.kind) {
    case (_, .metadata) where old.kind != .removed: DocumentViewChange(old.kind, new.document)
    case (.metadata, let kind) where kind != .added: DocumentViewChange(kind, new.document)
    case (.modified, .modified): DocumentViewChange(.modified, new.document)
    case (.added, .modified): DocumentViewChange(.added, new.document)
    case (.added, .removed): nil
    case (.modified, .removed): DocumentViewChange(.removed, old.document)
    case (.removed, .added): DocumentViewChange(.modified, new.document)
    default: new
    }
  }
}

/// The state of a query that a listener receives.
package struct ViewSnapshot: Sendable {
  /// The query.
  package let query: LocalQuery
  /// Its identity.
  package let id: QueryID
  /// The results in order.
  package let documents: DocumentSet
  /// The results before.
  package let oldDocuments: DocumentSet
  /// The changes since then, in the order in which listeners receive them.
  package let changes: [DocumentViewChange]
  /// The results with pending writes.
  package let mutatedKeys: Set<DocumentKey>
  /// Whether results may be missing or outdated.
  package let isFromCache: Bool
  /// Whether completeness has changed.
  package let syncStateChanged: Bool
  /// Whether changes of metadata alone are left out of `changes`.
  package let excludesMetadataChanges: Bool
  /// Whether the cache had results of the backend for this query.
  package let hasCachedResults: Bool

  /// A snapshot of its parts.
  package init(
    query: LocalQuery, id: QueryID, documents: DocumentSet, oldDocuments: DocumentSet, changes: [DocumentViewChange],
    mutatedKeys: Set<DocumentKey>, isFromCache: Bool, syncStateChanged: Bool, excludesMetadataChanges: Bool,
    hasCachedResults: Bool
  ) {
    self.query = query
    self.id = id
    self.documents = documents
    self.oldDocuments = oldDocuments
    self.changes = changes
    self.mutatedKeys = mutatedKeys
    self.isFromCache = isFromCache
    self.syncStateChanged = syncStateChanged
    self.excludesMetadataChanges = excludesMetadataChanges
    self.hasCachedResults = hasCachedResults
  }

  /// Whether any result has pending writes.
  package var hasPendingWrites: Bool { !mutatedKeys.isEmpty }

  /// The first snapshot of a listener: every document is added.
  func initial(excludesMetadataChanges: Bool) -> ViewSnapshot {
    let isInitial = oldDocuments.isEmpty && changes.count == documents.count
    return ViewSnapshot(
      query: query, id: id, documents: documents,
      oldDocuments: isInitial ? oldDocuments : DocumentSet(orders: query.orders),
      changes: isInitial ? changes : documents.map { DocumentViewChange(.added, $0) }, mutatedKeys: mutatedKeys,
      isFromCache: isFromCache, syncStateChanged: true, excludesMetadataChanges: excludesMetadataChanges,
      hasCachedResults: hasCachedResults)
  }

  /// The snapshot without changes of metadata alone.
  func withoutMetadataChanges() -> ViewSnapshot {
    ViewSnapshot(
      query: query, id: id, documents: documents, oldDocuments: oldDocuments,
      changes: changes.contains { $0.kind == .metadata } ? changes.filter { $0.kind != .metadata } : changes,
      mutatedKeys: mutatedKeys, isFromCache: isFromCache, syncStateChanged: syncStateChanged,
      excludesMetadataChanges: true, hasCachedResults: hasCachedResults)
  }
}

extension ViewSnapshot {
  /// The first snapshot of a query whose results are known.
  init(_ query: LocalQuery, documents: [CachedDocument], isFromCache: Bool) {
    var view = QueryView(query, id: QueryID(query), remoteKeys: [])
    let outcome = view.apply(view.firstChanges(documents))
    let snapshot = outcome.snapshot ?? view.initialSnapshot
    self = snapshot.with(isFromCache: isFromCache)
  }

  private func with(isFromCache: Bool) -> ViewSnapshot {
    ViewSnapshot(
      query: query, id: id, documents: documents, oldDocuments: oldDocuments, changes: changes,
      mutatedKeys: mutatedKeys, isFromCache: isFromCache, syncStateChanged: syncStateChanged,
      excludesMetadataChanges: excludesMetadataChanges, hasCachedResults: hasCachedResults)
  }
}
