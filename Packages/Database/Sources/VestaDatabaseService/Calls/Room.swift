import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop

/// One database: its jobs, its listens, its sessions.
///
/// Jobs run one group after another, so that what a connection asks is carried out in order and many writers share a
/// commit. Reads run concurrently with them. Read next: `Room+Opening.swift`,
/// `Room+Writing.swift`, `Room+Reading.swift`, `SessionEnds.swift`, `Room+Sharing.swift`; decisions without a store are
/// in ``SessionLedger``, ``CommitOrder`` and ``HashCheckBook``.
final class Room: Sendable {
  enum Job: Sendable {
    case open(EngineConnection)
    case request(EngineConnection, DatabaseRequest, Int)
    /// The token has been checked: the user of the connection is another one now.
    case signedIn(EngineConnection, Int)
    case close(EngineConnection)
    /// Something of the engine's own, between two groups.
    case perform(@Sendable () async -> Void)

    /// The connection that the job is for; `nil` for one of the engine.
    var connection: EngineConnection? {
      switch self {
      case .open(let connection), .request(let connection, _, _), .signedIn(let connection, _), .close(let connection):
        connection
      case .perform: nil
      }
    }
  }

  struct State {
    var isPrepared = false
    /// The indexes that were declared last.
    var declared: DatabaseIndexes?
    var connections: [String: EngineConnection] = [:]
    /// The sessions that have ended, and the other engines.
    var sessions = SessionLedger()
    /// Why the database could not be opened last.
    var failure: String?
    /// The commits that the listens have been sent; for engines that share a store.
    var order = CommitOrder()
    var timer: ListenerRegistration?
    var observation: ListenerRegistration?
    /// The registration for changes of the rules.
    var rules: ListenerRegistration?
    /// The time at which the building of the indexes continues after a failure.
    var retry: ListenerRegistration?
    /// The hashes that are being checked.
    var checks = HashCheckBook()
    var isOver = false
  }

  let context: RoomContext
  let access: any DatabaseAccess
  let options: DatabaseServiceOptions
  let declared: DeclaredIndexes
  let hub = ListenHub()
  let reads = PendingCount()
  let state = Locked(State())
  let openStore: @Sendable () async throws -> any OrderedStore
  let whenConnectionEnds: @Sendable () -> Void

  /// The jobs.
  let lane: CommitLane<Job>

  init(
    namespace: String, owner: String, options: DatabaseServiceOptions, declared: DeclaredIndexes? = nil,
    events: EventOutbox? = nil,
    whenConnectionEnds: @escaping @Sendable () -> Void = {},
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    lane = CommitLane(limit: options.tuning.groupJobs)
    context = RoomContext(
      owner: owner, keys: Keys(namespace: namespace, entryBytes: options.tuning.entryBytes),
      catalogs: CatalogCache(), sharing: RoomSharing(), logPartBytes: options.tuning.logPartBytes,
      namespace: namespace, events: events)
    access = options.access
    self.options = options
    self.declared = declared ?? DeclaredIndexes(options)
    self.openStore = openStore
    self.whenConnectionEnds = whenConnectionEnds
    observeRules()
  }

  /// Whether there are no connections, and nothing is left to do for sessions that have ended.
  var isDone: Bool { state.withLock { $0.connections.isEmpty && $0.sessions.isSettled } }

  /// The time in milliseconds since 1970: server values are stored and sent, and push ids are made, in that unit, where
  /// other engines count in microseconds.
  var now: Int64 { options.clock.milliseconds() }

  /// Adds a job; returns at once.
  func submit(_ job: Job) {
    job.connection?.jobBegins()
    lane.submit(job) { [self] jobs in await processGroup(jobs) }
  }

  /// Takes a request of a connection.
  ///
  /// A read waits for earlier requests of its connection, and not for the writes of others: where nothing of its
  /// connection waits, it begins at once.
  func take(_ request: DatabaseRequest, of connection: EngineConnection, _ id: Int) {
    if request.isRead, !connection.hasJobs, isOpen(connection) {
      answer(connection, request, id)
    } else {
      submit(.request(connection, request, id))
    }
  }

  /// Returns when nothing runs and nothing waits.
  func settle() async {
    while true {
      await lane.idle()
      if await reads.waitUntilZero(), lane.isIdle { return }
    }
  }

  /// Ends the connection of a session whose client has opened another one.
  func end(session: String) { state.withLock { $0.connections[session] }?.close() }

  /// Ends all connections.
  func close() async {
    let (connections, registrations) = state.withLock { state in
      state.isOver = true
      return (
        Array(state.connections.values),
        [state.timer.take(), state.observation.take(), state.retry.take(), state.rules.take()]
      )
    }
    for registration in registrations { registration?.cancel() }
    for connection in connections { connection.close() }
    await settle()
    await leave()
  }

  // MARK: Jobs

  /// Carries out a group of jobs in order, and writes that follow each other in one commit.
  func processGroup(_ jobs: [Job]) async {
    var writes: [RequestedWrite] = []
    for job in jobs {
      if case .request(let connection, let request, let id) = job, request.isWrite {
        // The jobs of a connection that has ended are not counted.
        if connection.keep(job) || !isOpen(connection) { continue }
        writes.append(RequestedWrite(connection: connection, request: request, id: id))
        continue
      }
      await commit(&writes)
      if job.connection?.keep(job) != true { await processOther(job) }
    }
    await commit(&writes)
  }

  /// Carries out a job that is not a write.
  ///
  /// A job ends before its reply is sent: after the reply there is nothing to wait for.
  private func processOther(_ job: Job) async {
    job.connection?.jobEnds()
    switch job {
    case .open(let connection): await open(connection)
    case .request(let connection, _, _) where !isOpen(connection): break
    case .request(let connection, .unauthenticate, let id):
      connection.signOut()
      await userChanged(connection, id, .ok)
    case .request(let connection, let request, let id): answer(connection, request, id)
    case .signedIn(let connection, let id): await userChanged(connection, id, connection.signedIn)
    case .close(let connection):
      await close(connection)
      whenConnectionEnds()
    case .perform(let body): await body()
    }
  }

  /// Whether the connection has been opened and has not ended: requests before and afterwards are dropped, because
  /// its client asks again on the next one.
  func isOpen(_ connection: EngineConnection) -> Bool {
    state.withLock { $0.connections[connection.session] === connection }
  }

  private func open(_ connection: EngineConnection) async {
    do {
      try await prepare()
      // A failure to carry them out now is no reason to refuse a client.
      try? await SessionEnds(self).finish()
      // The greeting precedes every answer to a read.
      connection.enqueue([.hello(DatabaseHello(timestamp: now, session: connection.session))])
      state.withLock { state in
        state.connections[connection.session] = connection
        state.failure = nil
      }
      connection.deliver()
    } catch {
      refuse(connection, error)
    }
  }

  /// Says why the database cannot be opened: in the log, once, and to the client, which tries again.
  private func refuse(_ connection: EngineConnection, _ error: any Error) {
    let reason = "The database cannot be opened: \(error)"
    let isNew = state.withLock { state in
      defer { state.failure = reason }
      return state.failure != reason
    }
    if isNew { log.error("I-RDS000007", reason) }
    let isPassing = (error as? StoreError)?.isPassing ?? false
    connection.post((isPassing ? [] : [.failed(reason: reason)]) + [.closed(reason: reason)])
  }

  private func close(_ connection: EngineConnection) async {
    hub.removeAll(of: connection)
    guard state.withLock({ $0.connections.removeValue(forKey: connection.session) }) != nil else { return }
    state.withLock { $0.sessions.ended([connection.session]) }
    do {
      try await SessionEnds(self).finish()
      connection.post([.closed(reason: "The client has closed the connection.")])
    } catch {
      // The rows are still there: the operations run when a connection is opened or closed next, or by the next engine.
      connection.post([.closed(reason: "The operations for the end of the session wait: \(error)")])
    }
  }

  /// After a sign-in or a sign-out: listens that are no longer allowed end, then the request has its reply.
  func userChanged(_ connection: EngineConnection, _ id: Int, _ reply: DatabaseReply) async {
    await revokeListens(of: connection)
    connection.post([.reply(id, reply)])
  }

  /// The token of a connection has expired.
  ///
  /// - Parameter change: The sign-in that the token was of.
  func expire(_ connection: EngineConnection, _ change: Int) async {
    guard isOpen(connection), connection.expire(change) else { return }
    connection.post([.authRevoked(status: "expired_token", reason: "Auth token is expired.")])
    await revokeListens(of: connection)
  }

  /// Ends the listens that the caller of a connection may not have.
  private func revokeListens(of connection: EngineConnection) async {
    let user = connection.user
    hub.revoke(of: connection) { access.mayRead($0.path, $0.spec, user: user) }
    await askAgain(connection)
  }
}

/// A write, and who has asked for it.
struct RequestedWrite: Sendable {
  let connection: EngineConnection
  let request: DatabaseRequest
  let id: Int
  /// How often its hash has been checked concurrently with other writes.
  var checks = 0

  var job: Room.Job { .request(connection, request, id) }
}

/// The context that every call of a database has.
struct RoomContext: Sendable {
  /// The engine: whose sessions are whose.
  let owner: String
  let keys: Keys
  let catalogs: CatalogCache
  let sharing: RoomSharing
  /// Whether other engines have to be notified of commits.
  var isShared: Bool { sharing.isShared }
  let logPartBytes: Int
  let namespace: String
  /// Where changes are recorded that functions want.
  let events: EventOutbox?
}

extension DatabaseRequest {
  /// Whether the request changes the store.
  fileprivate var isWrite: Bool {
    switch self {
    case .put, .merge, .onDisconnectPut, .onDisconnectMerge, .onDisconnectCancel: true
    default: false
    }
  }

  /// Whether the request is answered with data, by a separate task.
  fileprivate var isRead: Bool {
    switch self {
    case .listen, .get: true
    default: false
    }
  }
}

private let log = Logger(service: "VestaDatabaseService")
