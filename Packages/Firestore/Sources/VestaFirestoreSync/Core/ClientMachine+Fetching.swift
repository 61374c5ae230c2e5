import VestaFirestoreBackend
import VestaFirestoreModel

/// Documents that one call reads from a backend over a network, in place of a target of the watch stream.
///
/// The cache takes such a document as it takes one that was in limbo: it belongs to no target. That is right where
/// the call cannot be told from a target:
///
/// - there is no view, and none begins meanwhile. A view that has the document would show it as of a later time than
///   its other documents. A view of other documents would still be at an earlier time when the call returns; the watch
///   stream brings all targets of a client to one time.
/// - no write of the document is pending, and none is made meanwhile: the call may be answered before the write.
///
/// Everywhere else, and offline, a listener is used.
extension ClientMachine {
  private func mayFetch(_ path: ResourcePath) -> Bool {
    watch.isEnabled && watch.onlineState != .offline && core.views.entries.isEmpty
      && !cache.store.shown.writes.queue.contains(path)
  }

  /// Begins to read a document by a call.
  ///
  /// - Returns: Whether it may; `takeFetched` or `dropFetch` ends it then. Otherwise a listener must be used.
  func beginFetch(_ id: Int, of path: ResourcePath) -> Bool {
    guard mayFetch(path) else { return false }
    cache.fetches.begin(id, path)
    return true
  }

  /// Takes the answer of a call.
  ///
  /// - Returns: Whether it is what the client shows; otherwise a listener must be used.
  func takeFetched(_ document: CachedDocument, of id: Int) -> Bool {
    guard cache.fetches.end(id, with: document), mayFetch(document.path) else { return false }
    if let known = cache.store.shown.remote.known(document.path), known.version > document.version { return false }
    var event = RemoteEvent(version: .zero)
    event.documentUpdates[document.path] = document
    event.resolvedLimboDocuments = [document.path]
    core.apply(event)
    return true
  }

  /// A call has failed.
  func dropFetch(_ id: Int) { cache.fetches.drop(id) }

  /// A transaction has read or written documents.
  func noteTransaction(of paths: [ResourcePath]) {
    if cache.fetches.isEmpty { return }
    for path in paths { cache.fetches.noteWrite(of: path) }
  }

  /// Whether no call is under way.
  package var hasNoFetches: Bool { cache.fetches.isEmpty }
}
