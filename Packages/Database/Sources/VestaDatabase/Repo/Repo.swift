import Dispatch
import VestaAppCheckInterop
import VestaAuthInterop
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop

/// One database as a client has it: its listens and writes, the connection, transactions.
///
/// All of it is confined to a serial queue, which is the executor of this actor. The public API hands its work to
/// ``enqueue(_:)`` and returns; the order of its calls is the order of the work. Observers and completions are called
/// on the event queue, in the order in which things happened.
///
/// It decides nothing: it performs what four values decide, each in an extension. These are ``ClientTree`` (data and
/// observers), ``RequestBook``, ``TransactionMachine`` and ``ConnectionMachine``. An event of one of them returns
/// actions, which are performed in their order before the next event.
///
/// To read on: the four values, then `Repo+Listening.swift`, `Repo+Writing.swift`, `Repo+Requests.swift`,
/// `Repo+Transactions.swift`, `Repo+Connection.swift`.
actor Repo {
  /// The surroundings of a repo.
  struct Environment: Sendable {
    var backend: any DatabaseBackend
    var auth: (any AuthInterop)?
    var appCheck: (any AppCheckInterop)?
    var clock: ServiceClock = .system
    var userAgent = ""
    /// Spreads reconnections.
    var random: @Sendable () -> Double = Retry.systemRandom
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

  /// The difference between the time of the service and this device's, for callers that do not wait for the queue.
  nonisolated let knownOffset = Locked<Int64>(0)

  /// The data that is kept on this device; `nil` when none is.
  let persistence: Persistence?
  private var gate = StartGate()

  // The machines; their decisions are performed in the extensions of this actor.
  var data = ClientTree()
  var requestBook = RequestBook()
  var transactionMachine: TransactionMachine
  /// The machine of the connection, and the connection.
  var link: ConnectionRunner

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
      repo.begin()
      if repo.gate.hold(body) { return }
      body(repo)
      repo.flush()
    }
  }

  /// At the first use: loads what the device keeps, then connects.
  private func begin() {
    guard gate.begin() else { return }
    guard let persistence else { return open() }
    let now = now
    Task {
      let kept = await persistence.load(now: now)
      enqueue { repo in repo.open(with: kept) }
    }
  }

  private func open(with kept: Persistence.Kept? = nil) {
    if let kept { data.tree.cache = kept.cache }
    for write in kept?.writes ?? [] { replay(write) }
    let bodies = gate.open()
    link.listenForTokens(for: self)
    resume(.waitingForFirstUse)
    for body in bodies {
      body(self)
      flush()
    }
  }

  /// Hands over what an operation has left to do: listens to start and stop, changes to store.
  func flush() {
    data.tree.cache?.now = now
    performListenActions()
    storeChanges()
  }

  /// Has the device keep what has changed in the cache.
  func storeChanges() {
    guard let changes = data.tree.cache?.takeChanges(), !changes.isEmpty, let cache = data.tree.cache else { return }
    persistence?.store(changes, of: cache)
  }

  /// The time on this device, in milliseconds: the unit of server values, and of the offset that the service sends.
  var now: Int64 { environment.clock.milliseconds() }

  /// The time of the service as far as it is known, in milliseconds.
  var serverTime: Int64 { now + link.machine.timeOffset }

  /// Ends the repo: closes the connection, and ends every call and every stream.
  ///
  /// Writes that the device keeps are sent at the next start.
  func shutDown() {
    link.stopListening()
    interrupt(.shutDown)
    perform(requestBook.endPuts(.appDeleted))
    perform(transactionMachine.fail(.appDeleted))
    perform(requestBook.endReads(DatabaseError.appDeleted.message))
    perform(requestBook.endOperations(.appDeleted))
    for observer in data.removeAll() {
      table.forget(observer)
      complete { observer.end() }
    }
  }

  /// Calls a completion, later, on the event queue.
  func complete(_ body: @escaping @Sendable () -> Void) { events.post([body]) }
}
