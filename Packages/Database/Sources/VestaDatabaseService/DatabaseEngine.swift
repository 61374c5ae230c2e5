import VestaConcurrency
import VestaCore
public import VestaDatabaseBackend
import VestaEngineInterop
import VestaEventsInterop
public import VestaServiceInterop
public import VestaStoreInterop

/// The authoritative tree store, on any `OrderedStore`.
///
/// One row for each leaf: a read or a write touches what it names. Any number of databases in one store, each of which
/// is created by the first connection that names it. All of it may be used from any task at any time.
///
/// Several engines can have one store, in one process or in several: where the store says so, or
/// `DatabaseServiceOptions.sharing`.
///
/// ```swift
/// let engine = DatabaseEngine(store: store)
/// let connection = engine.connect(DatabaseConnectRequest(namespace: "chat")) { message in … }
/// connection.send(.put("rooms/hall", DatabaseNode(.string("Hall")), hash: nil), id: 1)
/// ```
public final class DatabaseEngine: DatabaseBackend {
  let frame: EngineFrame<DatabaseServiceError>
  private let callers: CallerCheck
  let options: DatabaseServiceOptions
  private let declared: DeclaredIndexes
  private let rooms: Locked<RoomTable>
  /// The owner of this engine's sessions, where other engines use the same store.
  private let owner: String

  /// An engine on an open store.
  ///
  /// - Parameters:
  ///   - store: Belongs to the engine from here on, which closes it in `close()`.
  ///   - options: How the engine behaves.
  ///   - callers: The check of who calls; one that refuses every credential unless given.
  public convenience init(
    store: any OrderedStore, options: DatabaseServiceOptions = DatabaseServiceOptions(),
    callers: CallerCheck = CallerCheck()
  ) {
    self.init(options: options, callers: callers) { store }
  }

  init(
    options: DatabaseServiceOptions, callers: CallerCheck = CallerCheck(),
    open: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.options = options
    declared = DeclaredIndexes(options)
    self.callers = callers
    owner = options.makeSession()
    rooms = Locked(RoomTable(idleLimit: options.tuning.idleDatabases))
    frame = EngineFrame(
      "Database", clock: options.clock, callers: callers, events: TreeEvents.offer, openStore: open
    ) { log.error("I-RDS000011", "A call failed unexpectedly: \($0)") }
  }

  /// The events of values that functions want.
  var events: EventOutbox { frame.events }

  /// Opens a connection.
  public func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let (room, frame) = (enter(request.namespace), frame)
    // The client notices sooner than the network that it is lost: what it has asked for the end of that session is done
    // before what it asks now, and never after it.
    if let last = request.lastSession { room.end(session: last) }
    let connection = EngineConnection(
      room: room, session: options.makeSession(), request, callers,
      admit: { (context) async throws(DatabaseServiceError) in try await frame.admit(context) },
      receive: receive)
    connection.begin()
    return ConnectionHandle(connection)
  }

  /// Reads once.
  public func read(
    _ request: DatabaseReadRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseReadResult {
    try await frame.serve(context) { [self] context in
      let room = enter(request.namespace)
      defer { leave(request.namespace) }
      return try await room.read(request, context)
    }
  }

  /// Writes once.
  public func write(
    _ request: DatabaseWriteRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseNode {
    try await frame.serve(context) { [self] context in
      try await replyOnce(to: request.request, in: request.namespace, context: context).node
    }
  }

  /// Ends all connections, carries out what they have asked for their end, and closes the store.
  public func close() async throws {
    try await frame.close { for room in rooms.withLock({ $0.all }) { await room.close() } }
  }

  /// Returns when nothing runs and nothing waits, in any database.
  func settle() async {
    for room in rooms.withLock({ $0.all }) { await room.settle() }
  }

  /// How many listens a database has.
  func watchCount(in namespace: String) -> Int { room(namespace)?.hub.count ?? 0 }

  /// The number of open databases, including the ones being closed.
  var roomCount: Int { rooms.withLock { $0.all.count } }

  /// The databases that are open.
  var openRooms: [Room] { rooms.withLock { $0.all } }

  /// The database of a name, if it is open.
  func room(_ namespace: String) -> Room? { rooms.withLock { $0.room(namespace) } }

  private func enter(_ namespace: String) -> Room {
    rooms.withLock { rooms in
      rooms.enter(namespace) { number in
        let frame = frame
        return Room(
          namespace: namespace, owner: number == 0 ? owner : "\(owner)-\(number)", options: options,
          declared: declared, events: events,
          whenConnectionEnds: { [weak self] in self?.leave(namespace) },
          openStore: { try await frame.store() })
      }
    }
  }

  /// A connection has ended; the least recently used databases are closed when there are too many.
  private func leave(_ namespace: String) {
    rooms.withLock { $0.leave(namespace) }
    while let surplus = rooms.withLock({ $0.takeSurplus() }) {
      Task {
        await surplus.close()
        rooms.withLock { $0.retired(surplus) }
      }
    }
  }
}

private let log = Logger(service: "VestaDatabaseService")
