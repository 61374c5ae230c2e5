import VestaBytes
import VestaFirestoreBackend
package import VestaFirestoreModel

/// A client of one database without its input and output: calls, stream events and timers in, actions out.
///
/// It has the three layers of a Firestore client. The sync engine (`ClientMachine+Listening`, `+Views`, `+Batches`,
/// `+Limbo`, `+Awaited`, `+Sync`) has a view for each query and resolves documents in limbo; the local store has the
/// cache and the pending writes; the remote store (`ClientMachine+Watch`, `+Write`, `+Outages`) follows targets and
/// sends writes. Everything that one event causes is done before the event returns; what must happen outside is in
/// `takeActions()`.
///
/// Worked example: a listener on `rooms`, offline, then a write, then the network.
/// 1. `listen`: target 2 is allocated, the view runs on the cache, the event machine withholds an empty first event,
///    `.openWatch` is asked for.
/// 2. `write`: batch 1 and its overlay; the view adds the document; the listener receives it with pending writes and
///    from the cache; `.openWrite` is asked for.
/// 3. `watchOpened`: `.watch(target 2)`. The document, CURRENT and a global snapshot make the view complete.
/// 4. `writeResponse`: the caller is resumed, the batch is removed, the document is committed and waits for the watch
///    stream.
///
/// Not thread-safe: its owner holds a lock.
package final class ClientMachine {
  /// The configuration of a machine.
  package struct Configuration: Sendable {
    /// The database.
    package var database: DatabaseName
    /// The figures at which the behavior of the client changes.
    package var tuning = SyncTuning()
    /// MD5; without it bloom filters are not used.
    package var digest: BloomFilter.Digest?
    /// A time in seconds that only grows.
    package var monotonicTime: @Sendable () -> Double = { 0 }
    /// Whether rows are made of pending writes alone, and only while the network is disabled.
    package var keepsOnlyPendingWrites = false
    /// Whether new targets are read from the engine in this process before they are followed.
    package var fetchesTargets = false
    /// Whether indexes over the cache become rows.
    package var keepsIndexes = false
    /// A random number from 0 to 1.
    package var random: @Sendable () -> Double = { 0.5 }

    /// A configuration with defaults.
    package init(database: DatabaseName) { self.database = database }
  }

  /// A query with its view and its target.
  struct QueryView {
    let query: LocalQuery
    let target: Int32
    var view: View
    /// How many snapshots of the backend there had been when the view began.
    let begun: Int
  }

  struct LimboResolution {
    let key: DocumentKey
    var hasReceivedDocument = false
  }

  let configuration: Configuration
  var tuning: SyncTuning { configuration.tuning }
  var database: DatabaseName { configuration.database }

  // Local.
  /// The cache, with everything that has been received.
  package internal(set) var local: LocalStore {
    // Not a `_read` coroutine: in debug builds it yields a copy in separate memory, and a caller that takes a large
    // part of the value may release that part after the coroutine has freed the memory.
    get {
      takeDeferred()
      return store
    }
    _modify {
      takeDeferred()
      yield &store
    }
  }
  /// The cache without the results that wait.
  var store: LocalStore
  /// First results that the cache has not taken yet.
  var deferred: FirstResults?

  /// The documents and results that were read from an engine in the process for events that wait.
  var engineCache = EngineCache()
  /// The documents that refills have changed, of which the other views have not been notified.
  var refilled: [DocumentKey: CachedDocument] = [:]

  // Core.
  var events = EventMachine()
  var views: [QueryID: QueryView] = [:]
  var queriesByTarget: [Int32: [QueryID]] = [:]
  var viewIndex = ViewIndex()
  /// The views that follow every snapshot of the backend.
  var unsettledViews: Set<QueryID> = []
  /// The version of the last snapshot of the backend, and how many there have been.
  var lastSnapshot = (version: Timestamp.zero, count: 0)
  var limboReferences = ReferenceSet()
  var enqueuedLimbo = KeyQueue()
  var activeLimbo: [DocumentKey: Int32] = [:]
  var limboResolutions: [Int32: LimboResolution] = [:]
  var limboIDs = TargetIDs.limbo
  var awaited = AwaitedDocuments()
  var writeCallbacks: [UTF8String: [Int: CallbackID]] = [:]
  var pendingWritesCallbacks: [Int: [CallbackID]] = [:]

  // Remote.
  package internal(set) var listenTargets: [Int32: TargetRecord] = [:]
  var targetPlaces = TargetPlaces()
  var fetched = FetchedTargets()
  var aggregator: WatchAggregator?
  var progress = TokenProgress()
  var watchStream: StreamMachine
  /// Whether the watch stream has brought anything since it was started.
  var hasWatchAnswered = false
  var writeStream: StreamMachine
  var onlineMachine = OnlineStateMachine()
  var pipeline: [MutationBatch] = []
  var hasShakenHands = false
  var writeToken: [UInt8] = []
  var isNetworkEnabled = false
  var outage = Outage()
  /// The keys of the pending writes that have a row, where only those have.
  private var keptBatches: Set<[UInt8]>

  private var actions: [ClientAction] = []

  /// A client with a cache; call `start()` first.
  package init(_ configuration: Configuration, local: LocalStore) {
    self.configuration = configuration
    let tuning = configuration.tuning
    let pauses = configuration.fetchesTargets ? tuning.embeddedPauses : tuning.pauses
    watchStream = StreamMachine(.watch, tuning, pauses: pauses)
    writeStream = StreamMachine(.write, tuning, pauses: pauses)
    store = local
    store.tuning = tuning
    keptBatches = local.batchKeys
    store.documents.keepsIndexes = configuration.keepsIndexes
    store.makesRowsOfDocuments = !configuration.keepsOnlyPendingWrites
    // Only the stored size of the cache and its garbage collection need the number of bytes.
    if configuration.keepsOnlyPendingWrites, case .eager = local.policy { store.documents.countsBytes = false }
  }

  /// Takes a part of the cache that has been read.
  package func add(_ loader: CacheLoader, as piece: CachePiece) { loader.addRows(to: &local, as: piece) }

  /// The actions since the last call, in order.
  package func takeActions() -> [ClientAction] {
    for task in store.documents.takeWantedIndexes() { emit(.makeIndexes(task)) }
    defer { actions = [] }
    return actions
  }

  /// Takes indexes that were made outside.
  package func indexesMade(_ made: IndexTaskResult) {
    local.documents.finish(made, isComplete: local.residence.has(collection: made.collection))
  }

  /// The rows of a durable cache that have changed since the last call.
  package func takeRows() -> [CacheRow] {
    guard configuration.keepsOnlyPendingWrites else { return local.takeRows() }
    return store.takeBatchRows().filter { row in
      if row.value == nil { return keptBatches.remove(row.key) != nil }
      // The engine is about to have the write.
      if !makesRowsOfWrites { return false }
      keptBatches.insert(row.key)
      return true
    }
  }

  /// Forgets which rows have changed, where there is no store for them.
  package func dropRows() { store.dropChanges() }

  /// Whether a write that arrives now has a separate row; otherwise the engine is about to have it.
  package var makesRowsOfWrites: Bool {
    !(configuration.keepsOnlyPendingWrites && isNetworkEnabled) || outage.isStalled
  }

  func emit(_ action: ClientAction) { actions.append(action) }

  func emit(_ events: [EventMachine.Event]) { for event in events { emit(.event(event)) } }

  /// The documents whose limbo state is being resolved, with their targets.
  package var activeLimboDocuments: [DocumentKey: Int32] { activeLimbo }

  /// The documents that wait for their resolution.
  package var enqueuedLimboDocuments: [DocumentKey] { enqueuedLimbo.keys }

  /// The batches that were sent or are about to be.
  package var writePipeline: [MutationBatch] { pipeline }

  /// Whether the client reaches its backend, as far as it knows.
  package var onlineState: OnlineState { onlineMachine.state }
}
