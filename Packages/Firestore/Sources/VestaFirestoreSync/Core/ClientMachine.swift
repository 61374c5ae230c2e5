import VestaBytes
import VestaFirestoreBackend
package import VestaFirestoreModel

/// A client of one database without its input and output: calls, stream events and timers in, actions out.
///
/// It puts four parts together, each with its own events, and has the events that concern several of them:
///
/// - `core` (`SyncCore`): listeners, views, documents in limbo, the callers of writes.
/// - `watch` and `writes` (`WatchLink`, `WriteLink`): the two streams of the backend.
/// - the cache (`ClientCache`, `LocalStore`): documents, targets, pending writes, and which of them are rows.
///
/// The core calls the links with targets and batches, and is their owner (`WatchLinkOwner`, `WriteLinkOwner`): they
/// call it with snapshots and answers. Both look at the cache. Everything that one event causes is done before the
/// event returns; outside work is in `takeActions()`, in the order in which it was asked for.
///
/// Worked example: a listener on `rooms`, offline, then a write, then the network.
/// 1. `core.listen`: target 2 is allocated, the view runs on the cache, the event machine withholds an empty first
///    event, the watch link notes the target.
/// 2. `core.write`: batch 1 and its overlay; the view adds the document; the listener receives it with pending writes
///    and from the cache.
/// 3. `enableNetwork`: `.openWatch` and `.openWrite` are asked for.
/// 4. `watch.opened`: `.watch(target 2)`. The document, CURRENT and a global snapshot make the view complete.
/// 5. `writes.received`: the caller is resumed, the batch is removed, the document is committed and waits for the watch
///    stream.
///
/// Not thread-safe: its owner holds a lock.
package final class ClientMachine {
  /// The configuration of a machine.
  package struct Configuration: Sendable {
    /// The database.
    package var database: DatabaseName
    /// The kind of link to the backend.
    package var link = BackendLink.remote
    /// Whether rows are kept by a store, so that indexes over the cache become rows, too.
    package var isDurable = false
    /// The figures at which the behavior of the client changes.
    package var tuning = SyncTuning()
    /// MD5; without it bloom filters are not used.
    package var digest: BloomFilter.Digest?
    /// The time in seconds, by which pauses are counted.
    package var time: @Sendable () -> Double = { 0 }
    /// A random number from 0 to 1.
    package var random: @Sendable () -> Double = { 0.5 }

    /// A configuration with defaults.
    package init(database: DatabaseName) { self.database = database }
  }

  private let configuration: Configuration
  private let actions = ClientActions()
  let cache: ClientCache
  /// The watch stream and its targets.
  package let watch: WatchLink
  /// The write stream and its batches.
  package let writes: WriteLink
  /// Listeners, views and callers.
  package let core: SyncCore

  /// A client with a cache; call `start()` first.
  package init(_ configuration: Configuration, local: LocalStore) {
    self.configuration = configuration
    cache = ClientCache(local, configuration)
    watch = WatchLink(configuration, cache, actions)
    writes = WriteLink(configuration, cache, actions)
    core = SyncCore(configuration, cache, actions, watch, writes)
  }

  /// The cache, with everything that has been received.
  package var local: LocalStore {
    get { cache.local }
    _modify { yield &cache.local }
  }

  /// The actions since the last call, in order.
  package func takeActions() -> [ClientAction] {
    for task in cache.store.documents.takeWantedIndexes() { actions.emit(.makeIndexes(task)) }
    return actions.take()
  }

  // MARK: The cache

  /// The part of the cache that some events need and that is not in memory; `nil` for none.
  package func missing(_ needs: some Sequence<CacheNeeds>) -> CachePiece? {
    configuration.link == .embedded ? core.missingOfEngine(needs) : local.missing(needs)
  }

  /// Adds the rows of a part of the cache that has been read.
  package func addRows(_ loader: CacheLoader, as piece: CachePiece) { loader.addRows(to: &local, as: piece) }

  /// Adds the documents and results of the engine that have been read for the events that wait.
  package func mergeEngineCache(_ read: EngineCache) { core.engineCache.merge(read) }

  /// No event waits for a part of the cache any longer.
  package func allEventsTaken() { core.forgetRefills() }

  /// Takes indexes that were made outside.
  package func indexesMade(_ made: IndexTaskResult) {
    local.documents.finish(made, isComplete: local.residence.has(collection: made.collection))
  }

  /// Deletes the indexes over the cache.
  package func deleteIndexes() {
    local.documents.deleteIndexes()
    local.clearedTags += CacheKey.indexTags
  }

  /// Begins the cache again: views keep their documents, and their targets are fetched again.
  package func discardCache() {
    core.discardCache()
    restartNetwork()
  }

  /// Removes the least recently used targets and documents if the cache is larger than a number of bytes.
  package func collectGarbage(
    threshold: Int, percentile: Int = 10, maximum: Int = 1000, rounds: Int = 1
  ) -> LocalStore.GarbageResult {
    local.collectGarbage(threshold: threshold, percentile: percentile, maximum: maximum, rounds: rounds)
  }

  // MARK: Rows

  /// Whether a write that arrives now has a separate row; otherwise the engine is about to have it.
  package var makesRowsOfWrites: Bool { cache.rows == .everything || !watch.isEnabled || writes.isStalled }

  /// The rows of a durable cache that have changed since the last call.
  package func takeRows() -> [CacheRow] { cache.takeRows(ofWrites: makesRowsOfWrites) }

  /// Forgets which rows have changed, where there is no store for them.
  package func dropRows() { cache.store.dropChanges() }

  /// The beginnings of keys whose rows are to be deleted before the rows that have changed are written.
  package func takeClearedPrefixes() -> [[UInt8]] { cache.takeClearedPrefixes() }

  // MARK: Users and the network

  /// Makes another user the current one, or notes new credentials of the same.
  ///
  /// - Returns: Whether it is another one: then the former user's writes get rows.
  @discardableResult
  package func changeUser(_ user: String) -> Bool {
    let isOther = UTF8String(user) != local.shown.writes.user
    if isOther {
      cache.fetches.noteTurn()
      core.changeUser(user)
      cache.noteAllBatches()
    }
    restartNetwork()
    return isOther
  }

  /// Begins what a client does by itself.
  package func start() {
    if case .leastRecentlyUsed(bytes: _?) = local.policy {
      actions.emit(.startTimer(.garbageCollection, seconds: configuration.tuning.firstGarbageSeconds))
    }
  }

  /// Begins to use the network.
  package func enableNetwork() {
    guard !watch.isEnabled else { return }
    watch.enable()
    writes.enable()
  }

  /// Stops using the network: listeners get snapshots from the cache, and writes wait.
  package func disableNetwork() {
    cache.noteAllBatches()
    stopNetwork(.offline)
  }

  /// Ends everything; rows are made of the writes that are pending.
  package func shutDown() {
    cache.noteAllBatches()
    stopNetwork(.unknown)
  }

  /// The network of the machine is another one: connections may be dead without a sign, and pauses are over.
  package func networkChanged() { restartNetwork() }

  private func restartNetwork() {
    guard watch.isEnabled else { return }
    stopNetwork(.unknown)
    watch.inhibitBackoff()
    writes.inhibitBackoff()
    enableNetwork()
  }

  private func stopNetwork(_ state: OnlineState) {
    cache.fetches.noteTurn()
    watch.stop()
    writes.stop()
    watch.update(state)
  }

  // MARK: Timers

  /// A timer has fired.
  package func timerFired(_ name: TimerName) {
    switch name {
    case .onlineState, .watchBackoff, .watchFollow, .watchIdle, .watchHealth: watch.timerFired(name)
    case .writeBackoff, .writeIdle, .writeHealth: writes.timerFired(name)
    case .awaited: core.awaitedTimerFired()
    case .garbageCollection:
      let tuning = configuration.tuning
      guard case .leastRecentlyUsed(let bytes?) = local.policy else { return }
      _ = collectGarbage(
        threshold: bytes, percentile: tuning.garbagePercentile, maximum: tuning.garbageMaximum,
        rounds: tuning.garbageRounds)
      actions.emit(.startTimer(.garbageCollection, seconds: tuning.garbageSeconds))
    }
  }
}
