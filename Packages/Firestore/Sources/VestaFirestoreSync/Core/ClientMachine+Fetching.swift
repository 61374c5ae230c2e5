import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel

/// Documents that one call has read from a backend over a network, in place of a target of the watch stream.
///
/// The cache takes such a document as it takes one that was in limbo: it belongs to no target. That is right where
/// the call cannot be told from a target, before it and after it:
///
/// - there is no view: one that looks at the document would show it of a later time than others, and any would show,
///   after the call, a time before that of the call. The watch stream brings all targets of a client to one time.
/// - no write of the document is pending, and the cache has no later version: the call may have been answered before
///   the write.
///
/// Everywhere else, and offline, a listener is used.
extension ClientMachine {
  /// Whether a document may be read by a call now.
  ///
  /// - Returns: The user whose cache is to take it; `nil` where a listener must be used.
  func mayFetch(_ path: ResourcePath) -> UTF8String? {
    guard watch.isEnabled, watch.onlineState != .offline, core.views.entries.isEmpty,
      !cache.store.shown.writes.queue.contains(path)
    else { return nil }
    return cache.store.shown.writes.user
  }

  /// Takes a document that was read by a call.
  ///
  /// - Parameter user: What `mayFetch` returned before the call.
  /// - Returns: Whether it is what the client shows.
  func takeFetched(_ document: CachedDocument, of user: UTF8String) -> Bool {
    guard mayFetch(document.path) == user else { return false }
    if let known = cache.store.shown.remote.known(document.path), known.version > document.version { return false }
    var event = RemoteEvent(version: .zero)
    event.documentUpdates[document.path] = document
    event.resolvedLimboDocuments = [document.path]
    core.apply(event)
    return true
  }
}
