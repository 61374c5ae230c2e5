import VestaFirestoreBackend
import VestaFirestoreModel

/// The calls under way that read single documents.
///
/// The answer of such a call is of some time between its beginning and its end. It counts unless the client has shown a
/// later time meanwhile: by a write of the document, by a listener, for another user, or by another call.
///
/// Worked example: call 1 reads `rooms/a` and is answered with version 4, which takes long. A write of `rooms/a` is
/// acknowledged at version 5 and leaves the cache, as nothing refers to it. `end(1, ...)` says that the answer does not
/// count.
struct DocumentFetches: Sendable {
  private struct Fetch {
    let path: ResourcePath
    var isCurrent = true
    /// The latest version that another call has brought meanwhile.
    var version = Timestamp.zero
  }

  private var open: [Int: Fetch] = [:]

  /// Whether no call is under way.
  var isEmpty: Bool { open.isEmpty }

  /// A call begins, under a number that its caller has chosen.
  mutating func begin(_ id: Int, _ path: ResourcePath) { open[id] = Fetch(path: path) }

  /// A document is written: calls that read it may be answered from before the write.
  mutating func noteWrite(of path: ResourcePath) {
    if open.isEmpty { return }
    for (id, fetch) in open where fetch.path == path { open[id]?.isCurrent = false }
  }

  /// A listener begins, or the user or the network changes.
  mutating func noteTurn() {
    if open.isEmpty { return }
    for id in open.keys { open[id]?.isCurrent = false }
  }

  /// A call has failed.
  mutating func drop(_ id: Int) { open[id] = nil }

  /// A call has ended.
  ///
  /// - Returns: Whether its answer counts.
  mutating func end(_ id: Int, with document: CachedDocument) -> Bool {
    guard let fetch = open.removeValue(forKey: id), fetch.isCurrent, fetch.version <= document.version else {
      return false
    }
    for (id, other) in open where other.path == document.path {
      open[id]?.version = max(other.version, document.version)
    }
    return true
  }
}
