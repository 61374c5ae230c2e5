internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// The results of a query at one time, and what has changed since the snapshot before.
///
/// ```swift
/// for try await snapshot in db.collection("messages").order(by: "sent").snapshots {
///   for change in snapshot.documentChanges where change.type == .added { show(change.document) }
/// }
/// ```
public final class QuerySnapshot: Sendable, Hashable {
  /// The query.
  public let query: Query
  /// Whether the results are from the cache, and have pending writes.
  public let metadata: SnapshotMetadata
  let view: ViewSnapshot

  init(query: Query, view: ViewSnapshot) {
    self.query = query
    self.view = view
    metadata = SnapshotMetadata(hasPendingWrites: view.hasPendingWrites, isFromCache: view.isFromCache)
  }

  /// Whether there are no results.
  public var isEmpty: Bool { view.documents.isEmpty }

  /// How many results there are.
  public var count: Int { view.documents.count }

  /// The results in the order of the query.
  public var documents: [QueryDocumentSnapshot] { view.documents.map(document) }

  /// The changes since the snapshot before; every document is added in the first one.
  public var documentChanges: [DocumentChange] { changes(includingMetadata: false) }

  /// The changes since the snapshot before.
  ///
  /// - Parameter includeMetadataChanges: Whether documents are listed of which only metadata changed. The listener must
  ///   have been added with metadata changes then; the program stops otherwise.
  public func documentChanges(includeMetadataChanges: Bool) -> [DocumentChange] {
    precondition(
      !(includeMetadataChanges && view.excludesMetadataChanges),
      "To include metadata changes with your document changes, you must call "
        + "addSnapshotListener(includeMetadataChanges:true).")
    return changes(includingMetadata: includeMetadataChanges)
  }

  /// The snapshot with all changes since an older one that was not delivered.
  func withChanges(since waiting: QuerySnapshot) -> QuerySnapshot {
    QuerySnapshot(query: query, view: WaitingView(waiting.view).merged(with: WaitingView(view)).snapshot)
  }

  private func changes(includingMetadata: Bool) -> [DocumentChange] {
    ChangeList(snapshot: view, makeDocument: document).changes(includingMetadata: includingMetadata)
  }

  private func document(_ document: CachedDocument) -> QueryDocumentSnapshot {
    QueryDocumentSnapshot(
      reference: DocumentReference(path: document.path, firestore: query.firestore), document: document,
      metadata: SnapshotMetadata(
        hasPendingWrites: view.mutatedKeys.contains(document.path), isFromCache: view.isFromCache))
  }

  /// Whether two snapshots are of the same query with the same results and metadata.
  public static func == (left: QuerySnapshot, right: QuerySnapshot) -> Bool {
    left.query == right.query && left.metadata == right.metadata && left.view.documents == right.view.documents
      && left.view.changes == right.view.changes
  }

  /// Hashes query and metadata.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(query)
    hasher.combine(metadata)
    hasher.combine(count)
  }
}
