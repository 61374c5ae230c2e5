import VestaConcurrency
package import VestaFirestoreBackend
package import VestaFirestoreModel
package import VestaStoreInterop

/// A client of one database: the machine, and the threads, streams, timers and rows around it.
///
/// All methods may be called from any thread. The machine is under one lock. Its actions are performed after the lock
/// is released, in order, by whichever thread is first: a call that finds another thread at work leaves its actions to
/// it. So listeners are called in order, one at a time, never under the lock, and on the thread that caused the event.
///
/// A client with a store reads its rows when they are needed: at its first use what every client needs, and documents
/// for the first event that needs them. Events wait in order until then.
package final class SyncClient: Sendable {
  struct State {
    var machine: ClientMachine?
    /// The events that wait for rows of the cache, in order.
    var waiting: [WaitingEvent] = []
    /// Whether a task reads rows.
    var isLoading = false
    var isShutDown = false
    var isNetworkEnabled = true
    var outbox: [ClientAction] = []
    var isPerforming = false
    var nextID = 1
    var listeners: [ListenerID: Receiver<Result<ViewSnapshot, FirestoreServiceError>>] = [:]
    var syncListeners: [ListenerID: Receiver<Void>] = [:]
    var callbacks: [CallbackID: Completion] = [:]

    /// The machine, when it may take an event now.
    func machine(for needs: CacheNeeds) -> ClientMachine? {
      guard waiting.isEmpty, let machine else { return nil }
      if case .nothing = needs { return machine }
      return machine.missing(CollectionOfOne(needs)) == nil ? machine : nil
    }

    mutating func takeOutbox() -> [ClientAction] {
      defer { outbox = [] }
      return outbox
    }
  }

  let database: DatabaseName
  /// How the client behaves.
  package let options: SyncOptions
  let writer: CacheWriter?
  let streams: SyncStreams
  let timers: SyncTimers
  let reads = ReadGate()
  let state: Locked<State>
  /// The calls that the backend answers alone.
  let calls: BackendCalls
  /// The reads of an engine in the process; `nil` for a remote backend.
  let direct: DirectReads?
  /// Where what events need is found; `nil` where the cache is all there is.
  let source: (any CacheSource)?
  /// The first stages of pending writes.
  let commits: LocalCommits
  /// The registrations of the client with Auth and the network.
  package let companions = ClientCompanions()

  /// A client; nothing happens before its first use.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - backend: The service.
  ///   - store: Where the cache is kept; `nil` for memory. The caller closes it after `shutdown()`.
  ///   - options: How the client behaves.
  package convenience init(
    database: DatabaseName, backend: any FirestoreBackend, store: (any OrderedStore)?, options: SyncOptions
  ) {
    let open = store.map { store in { @Sendable () async throws -> any OrderedStore in store } }
    self.init(database: database, backend: backend, openStore: open, options: options)
  }

  /// A client whose store is opened when it is first needed.
  package init(
    database: DatabaseName, backend: any FirestoreBackend,
    openStore: (@Sendable () async throws -> any OrderedStore)?, options: SyncOptions
  ) {
    self.database = database
    self.options = options
    writer = openStore.map { CacheWriter(open: $0, prefix: Self.prefix(options.persistenceKey), options: options) }
    streams = SyncStreams(database: database, backend: backend, options: options)
    timers = SyncTimers(options.clock)
    let state = Locked(State())
    self.state = state
    commits = LocalCommits(writer)
    let calls = BackendCalls(database, backend, streams)
    self.calls = calls
    switch options.link {
    case .embedded:
      direct = DirectReads(calls: calls, attempts: options.tuning.readAttempts, state: state)
      source = EngineSource(calls: calls, state: state, log: options.log)
    case .remote:
      direct = nil
      source = writer.map {
        RowSource(reader: $0.reader(of: database, options.tuning), writer: $0, log: options.log)
      }
    }
  }

  static func prefix(_ key: String) -> [UInt8] {
    var writer = RowWriter(reserving: 32)
    writer.write(text: key)
    return writer.bytes
  }

  /// The kind of link to the backend.
  package var link: BackendLink { options.link }

  /// Notes that the network of the machine has changed: streams begin again, without a pause.
  package func networkHasChanged() { takeEvent { $0.networkChanged() } }

  /// Deletes the rows of a client that no longer runs.
  package static func clear(_ store: any OrderedStore, persistenceKey: String) async throws {
    try await CacheWriter.clear(store, prefix: prefix(persistenceKey))
  }
}
