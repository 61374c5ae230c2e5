import VestaFirestoreModel

/// The cache of a client: the local store, first results that it takes when anything looks at it, and its rows.
///
/// First results of a target reach their listener before the store takes them. Until something looks at the store
/// nothing can tell the difference, and a listener that leaves after its first snapshot has cost the store nothing.
///
/// Worked example: a listener of `rooms` gets 20 documents (`postpone`). A write to one of them looks at `local`, and
/// the store takes the documents first. If the listener had left before (`drop`), they would have been dropped.
///
/// One object, because the links and the sync core look at the same store, each for a moment.
final class ClientCache {
  let rows: RowPolicy
  /// The store without the results that wait.
  var store: LocalStore
  /// First results that the store has not taken yet.
  private(set) var waiting: FirstResults?
  /// The calls under way that read single documents.
  var fetches = DocumentFetches()
  private var kept: KeptBatches

  init(_ store: LocalStore, _ configuration: ClientMachine.Configuration) {
    rows = RowPolicy(configuration.link)
    kept = KeptBatches(Set(store.shown.writes.all.map(\.key.bytes)))
    self.store = store
    self.store.tuning = configuration.tuning
    self.store.rows = rows
    self.store.documents.keepsIndexes = configuration.isDurable && rows.hasDocuments
    // Only the stored size of the cache and its garbage collection need the number of bytes.
    if rows == .pendingWrites, case .eager = store.policy { self.store.documents.countsBytes = false }
  }

  /// The store, with everything that has been received.
  var local: LocalStore {
    // Not a `_read` coroutine: in debug builds it yields a copy in separate memory, and a caller that takes a large
    // part of the value may release that part after the coroutine has freed the memory.
    get {
      takeWaiting()
      return store
    }
    _modify {
      takeWaiting()
      yield &store
    }
  }

  // MARK: First results

  /// Lets the store take first results later; the ones before them are taken now.
  ///
  /// - Parameter snapshot: The snapshot that shows the results.
  func postpone(_ results: FirstResults, shownBy snapshot: ViewSnapshot?) {
    takeWaiting()
    waiting = results
    waiting?.snapshot = snapshot
  }

  /// Lets the store take the results that wait.
  func takeWaiting() {
    guard let results = waiting else { return }
    waiting = nil
    _ = store.apply(results.event)
    store.noteViews(results.snapshot.map { [LocalStore.ViewReferences($0, target: results.target)] } ?? [])
  }

  /// Forgets the results of a target without listeners.
  func drop(_ target: Int32) { if waiting?.target == target { waiting = nil } }

  // MARK: Rows

  /// The rows of a durable cache that have changed since the last call.
  ///
  /// - Parameter ofWrites: Whether pending writes of the current user without a row get one, where only pending writes
  ///   have rows. Writes of other users always do: the engine gets them when their user signs in again.
  func takeRows(ofWrites: Bool) -> [CacheRow] {
    guard rows == .pendingWrites else { return local.takeRows() }
    let (current, others) = store.takeBatchRows()
    return kept.take(current, makesRows: ofWrites) + kept.take(others, makesRows: true)
  }

  /// The beginnings of keys whose rows are to be deleted before the rows that have changed are written.
  func takeClearedPrefixes() -> [[UInt8]] {
    defer { store.clearedTags = [] }
    return rows == .pendingWrites ? [] : store.clearedTags.map { [$0] }
  }

  /// Notes that every pending write needs a row, where only pending writes have rows.
  func noteAllBatches() { if rows == .pendingWrites { local.noteAllBatches() } }
}
