import VestaFirestoreModel

/// The rows of durable indexes that are to be written.
///
/// A change of a document brings the rows of its entries at once, so that they are written with the document. The
/// entries of a new index are many: they are written in parts, and its own row after the last of them. A client that
/// ends before that has no such index, and its next one is made over the rows that are there: an entry too many costs a
/// look at a document.
struct IndexRows: Sendable {
  private var changed: [CacheRow] = []
  /// The entries of new indexes that have not been taken, except changed ones.
  private var entries: [CacheRow] = []
  private var next = 0
  private var outdated: Set<[UInt8]> = []
  private var finished: [CacheRow] = []

  /// The number of entries of new indexes per part.
  var part = SyncTuning().indexPart

  /// Whether entries of new indexes are left.
  var hasMore: Bool { next < entries.count || !finished.isEmpty }

  /// Adds all entries of a new index.
  mutating func add(_ index: CacheIndex, of collection: ResourcePath) {
    index.forEach { bytes, key in
      let name = Array(key.lastSegment.utf8)
      let row = CacheKey.indexEntry(collection, index.id, entry: bytes + name).bytes
      entries.append(CacheRow(key: row, value: name))
    }
    finished.append(CacheRow(key: CacheKey.index(collection, index.id).bytes, value: []))
  }

  /// Adds the change of an entry; `nil` for its removal.
  mutating func put(_ value: [UInt8]?, at key: [UInt8]) {
    if hasMore { outdated.insert(key) }
    changed.append(CacheRow(key: key, value: value))
  }

  /// Takes the changes, and a part of the entries of new indexes.
  mutating func take() -> [CacheRow] {
    if changed.isEmpty, !hasMore { return [] }
    let end = min(entries.count, next + max(1, part))
    var rows = entries[next..<end].filter { !outdated.contains($0.key) }
    next = end
    rows += changed
    changed = []
    if next == entries.count {
      rows += finished
      (entries, next, outdated, finished) = ([], 0, [], [])
    }
    return rows
  }
}
