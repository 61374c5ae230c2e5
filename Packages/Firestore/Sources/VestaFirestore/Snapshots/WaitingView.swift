internal import VestaConcurrency
internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// The snapshot that the consumer of a stream has not taken yet: the last one, and which documents have changed since
/// the last one that it took.
///
/// Merging costs what has changed, whatever waits; the changes themselves are computed once, when the snapshot is
/// taken.
struct WaitingView: Sendable {
  /// The documents that have changed in snapshots that wait: one object for all of them, so that none is copied.
  private final class Touched: Sendable {
    private let paths: Locked<Set<ResourcePath>>

    init(_ changes: [DocumentViewChange]) { paths = Locked(Set(changes.map(\.document.path))) }

    var all: Set<ResourcePath> { paths.withLock { $0 } }

    func add(_ changes: [DocumentViewChange]) {
      paths.withLock { paths in for change in changes { paths.insert(change.document.path) } }
    }
  }

  private let view: ViewSnapshot
  private let oldDocuments: DocumentSet
  private let syncStateChanged: Bool
  /// `nil` while the view stands for itself alone.
  private let touched: Touched?

  init(_ view: ViewSnapshot) { self.init(view, view.oldDocuments, syncStateChanged: view.syncStateChanged, nil) }

  private init(_ view: ViewSnapshot, _ oldDocuments: DocumentSet, syncStateChanged: Bool, _ touched: Touched?) {
    self.view = view
    self.oldDocuments = oldDocuments
    self.syncStateChanged = syncStateChanged
    self.touched = touched
  }

  /// A newer snapshot in place of this one, with the changes of both; this one must not be used after that.
  func merged(with new: WaitingView) -> WaitingView {
    let touched = touched ?? Touched(view.changes)
    touched.add(new.view.changes)
    return WaitingView(
      new.view, oldDocuments, syncStateChanged: syncStateChanged || new.syncStateChanged, touched)
  }

  /// The snapshot, with all changes since the last one that was taken.
  var snapshot: ViewSnapshot {
    guard let touched else { return view }
    let merged = touched.all.compactMap { path -> DocumentViewChange? in
      switch (oldDocuments[path], view.documents[path]) {
      case (nil, let new?): DocumentViewChange(.added, new)
      case (let old?, nil): DocumentViewChange(.removed, old)
      case (let old?, let new?): change(from: old, to: new)
      case (nil, nil): nil
      }
    }
    let sorted = merged.sorted { left, right in
      if left.kind != right.kind, left.kind < right.kind || right.kind < left.kind { return left.kind < right.kind }
      return view.query.compare(left.document, right.document) < 0
    }
    return ViewSnapshot(
      query: view.query, id: view.id, documents: view.documents, oldDocuments: oldDocuments, changes: sorted,
      mutatedKeys: view.mutatedKeys, isFromCache: view.isFromCache, syncStateChanged: syncStateChanged,
      excludesMetadataChanges: view.excludesMetadataChanges, hasCachedResults: view.hasCachedResults)
  }

  private func change(from old: CachedDocument, to new: CachedDocument) -> DocumentViewChange? {
    if old.fields != new.fields { return DocumentViewChange(.modified, new) }
    guard !view.excludesMetadataChanges, old.hasPendingWrites != new.hasPendingWrites else { return nil }
    return DocumentViewChange(.metadata, new)
  }
}
