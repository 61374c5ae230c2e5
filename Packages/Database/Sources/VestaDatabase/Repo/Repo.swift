import Dispatch
import VestaAppCheckInterop
import VestaAuthInterop
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop

/// One database as a client has it: what is listened to and written, the connection, transactions.
///
/// All of it is confined to a serial queue, which is the executor of this actor. The public API hands its work to
/// ``enqueue(_:)`` and returns; the order of its calls is the order of the work. Observers and completions are called
/// on the event queue, in the order in which things happened.
///
/// To read on: `Repo+Listening.swift`, `Repo+Writing.swift`, `Repo+Transactions.swift`, `Repo+Connection.swift`.
actor Repo {
  /// The surroundings of a repo.
  struct Environment: Sendable {
    var backend: any DatabaseBackend
    var auth: (any AuthInterop)?
    var appCheck: (any AppCheckInterop)?
    var clock: ServiceClock = .system
    var userAgent = ""
    /// Spreads reconnections.
    var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    /// How long a read waits for a connection.
    var readTime = Duration.seconds(3)
    var tuning = DatabaseTuning()
  }

  nonisolated let url: DatabaseURL
  nonisolated let environment: Environment
  nonisolated let queue: WorkQueue
  nonisolated let events: EventQueue
  /// The observers of the program.
  nonisolated let table = ObserverTable()
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  // Data.
  var tree = SyncTree()
  var info = SyncTree()
  var infoValues: [DatabaseKey: DatabaseNode] = [.init("connected"): DatabaseNode(.bool(false))]
  var observers: [Int: Observer] = [:]
  var keptSynced: [SyncQuery: Int] = [:]
  var nextWriteID = 1
  /// The difference between the time of the service and this device's, for callers that do not wait for the queue.
  nonisolated let knownOffset = Locked<Int64>(0)
  let persistence: Persistence?

  // Transactions.
  var transactionMachine: TransactionMachine

  // The start.
  private var isStarted = false
  /// Work that waits until what the device keeps has been loaded; `nil` when it has been.
  private var waitingForStart: [@Sendable (isolated Repo) -> Void]?

  // The connection.
  var link: ConnectionRunner

  // Requests.
  var requestBook = RequestBook()
  var readTimers: [Int: ListenerRegistration] = [:]
  /// The calls of the program that have not ended.
  var calls = PendingCalls()

  init(url: DatabaseURL, environment: Environment, events: EventQueue, persistence: Persistence? = nil) {
    self.url = url
    self.environment = environment
    self.events = events
    self.persistence = persistence
    // Blocks of transactions run on it, which may block.
    queue = WorkQueue(label: "vesta.database.\(url.namespace)", on: .shared)
    link = ConnectionRunner(environment)
    transactionMachine = TransactionMachine(attempts: environment.tuning.transactionAttempts)
  }

  // MARK: Running

  /// Runs a piece of work on the repo's queue, after all that was handed in before; returns at once.
  nonisolated func enqueue(_ body: @escaping @Sendable (isolated Repo) -> Void) {
    queue.async { self.assumeIsolated { repo in body(repo) } }
  }

  /// Runs a piece of work of the public API: as ``enqueue(_:)``, but not before what the device keeps has been loaded.
  nonisolated func perform(_ body: @escaping @Sendable (isolated Repo) -> Void) {
    enqueue { repo in
      repo.start()
      if repo.waitingForStart == nil {
        body(repo)
        repo.flush()
      } else {
        repo.waitingForStart?.append(body)
      }
    }
  }

  /// At the first use: loads what the device keeps, then connects.
  private func start() {
    guard !isStarted else { return }
    isStarted = true
    guard let persistence else { return begin() }
    waitingForStart = []
    let now = now
    Task {
      let kept = await persistence.load(now: now)
      enqueue { repo in repo.begin(with: kept) }
    }
  }

  private func begin(with kept: Persistence.Kept) {
    tree.cache = kept.cache
    for write in kept.writes { replay(write) }
    let bodies = waitingForStart ?? []
    waitingForStart = nil
    begin()
    for body in bodies {
      body(self)
      flush()
    }
  }

  private func begin() {
    link.listenForTokens(for: self)
    resume(.waitingForFirstUse)
  }

  /// Hands over what an operation has left to do: listens to start and stop, changes to store.
  func flush() {
    tree.cache?.now = now
    performListenActions()
    storeChanges()
  }

  /// Has the device keep what has changed in the cache.
  func storeChanges() {
    guard let changes = tree.cache?.takeChanges(), !changes.isEmpty, let cache = tree.cache else { return }
    persistence?.store(changes, of: cache)
  }

  /// The time on this device, in milliseconds.
  var now: Int64 { environment.clock.milliseconds() }

  /// The time of the service as far as it is known, in milliseconds.
  var serverTime: Int64 { now + link.machine.timeOffset }

  /// The error of calls that the end of the app has overtaken.
  static let deleted = DatabaseError(.unavailable, "The app was deleted before the service had answered.")

  var isShutDown: Bool { link.machine.interruptions.contains(.shutDown) }

  /// Ends the repo: closes the connection, and ends every call and every stream.
  ///
  /// Writes that the device keeps are sent at the next start.
  func shutDown() {
    link.stopListening()
    interrupt(.shutDown)
    perform(requestBook.endPuts(Self.deleted))
    perform(transactionMachine.fail(Self.deleted))
    perform(requestBook.endReads(Self.deleted.message))
    perform(requestBook.endOperations(Self.deleted))
    let ended = observers.values.sorted { $0.id < $1.id }
    observers = [:]
    for observer in ended {
      table.forget(observer)
      complete { observer.end() }
    }
  }

  // MARK: Raising events

  /// Calls observers, later, on the event queue.
  func raise(_ events: [SyncEvent]) {
    if events.isEmpty { return }
    var calls: [@Sendable () -> Void] = []
    for event in events {
      guard let observer = observers[event.registration] else { continue }
      switch event.content {
      case .data(let kind, let key, let node, let previous):
        let path = key.map { event.path.child($0) } ?? event.path
        let raised = RaisedEvent(kind: kind, path: path, node: node, previousKey: previous?.text)
        calls.append { observer.raise(raised) }
        if observer.isOnce { removeOnce(observer) }
      case .cancelled(let status, let message):
        observers[observer.id] = nil
        table.forget(observer)
        let error = DatabaseError(status: DatabaseStatus(rawValue: status), message: message)
        calls.append { observer.cancel(error) }
      }
    }
    self.events.post(calls)
  }

  private func removeOnce(_ observer: Observer) {
    observers[observer.id] = nil
    table.forget(observer)
    if observer.path.front?.text == ".info" {
      _ = info.remove(observer.id, at: observer.path, observer.spec)
    } else {
      _ = tree.remove(observer.id, at: observer.path, observer.spec)
    }
  }

  /// Calls a completion, later, on the event queue.
  func complete(_ body: @escaping @Sendable () -> Void) { events.post([body]) }
}

/// A query at its place.
struct SyncQuery: Hashable, Sendable {
  let path: DatabasePath
  let spec: DatabaseQuerySpec
}
