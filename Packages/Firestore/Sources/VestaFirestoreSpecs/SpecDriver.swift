import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// A client under test with a mock of its backend: streams open at once, and nothing waits.
final class SpecDriver {
  struct Event {
    let query: LocalQuery
    var snapshot: ViewSnapshot?
    var error: FirestoreServiceError?
  }

  private(set) var machine: ClientMachine
  private let disk: SpecDisk
  private let limboLimit: Int?
  private let md5: BloomFilter.Digest

  // The requests that the mock has received.
  private(set) var activeTargets: [Int32: TargetRecord] = [:]
  private(set) var sentWrites: [MutationBatch] = []
  private(set) var writeRequests = 0
  private(set) var watchRequests = 0
  private var watchStream: Int?
  private var writeStream: Int?
  private var timers: Set<TimerName> = []

  // The messages of the client since the last step.
  private(set) var events: [Event] = []
  private(set) var acknowledged: [String] = []
  private(set) var rejected: [String] = []
  private(set) var syncEvents = 0
  private(set) var waitEvents = 0

  // The steps of the test so far.
  private(set) var outstanding: [String: [[Mutation]]] = [:]
  private var callbacks: [CallbackID: Mutation] = [:]
  private var queries: [ListenerID: LocalQuery] = [:]
  private var listeners: [QueryID: ListenerID] = [:]
  private var syncListeners: [ListenerID] = []
  private var nextID = 1
  private(set) var user = ""
  private(set) var isNetworkEnabled = true

  init(limboLimit: Int?, md5: @escaping BloomFilter.Digest, disk: SpecDisk) {
    self.limboLimit = limboLimit
    self.md5 = md5
    self.disk = disk
    machine = SpecDriver.machine(disk.open(), limboLimit, md5)
    machine.enableNetwork()
    drain()
  }

  private static func machine(_ store: LocalStore, _ limboLimit: Int?, _ md5: @escaping BloomFilter.Digest)
    -> ClientMachine
  {
    var configuration = ClientMachine.Configuration(database: SpecJSON.database)
    configuration.tuning.limboLimit = limboLimit
    configuration.digest = md5
    return ClientMachine(configuration, local: store)
  }

  func clear() { (events, acknowledged, rejected, syncEvents, waitEvents) = ([], [], [], 0, 0) }

  private func makeID() -> Int {
    defer { nextID += 1 }
    return nextID
  }

  // MARK: The application

  func listen(_ query: LocalQuery, isCacheOnly: Bool) -> Int32? {
    let listener = makeID()
    queries[listener] = query
    listeners[QueryID(query)] = listener
    machine.core.listen(
      query, options: ListenOptions(includesMetadata: true, isCacheOnly: isCacheOnly), listener: listener)
    let target = machine.core.views.target(of: query)
    drain()
    return target
  }

  func unlisten(_ query: LocalQuery) {
    if let listener = listeners.removeValue(forKey: QueryID(query)) { machine.core.unlisten(listener) }
    drain()
  }

  func write(_ mutations: [Mutation]) {
    let id = makeID()
    callbacks[id] = mutations[0]
    outstanding[user, default: []].append(mutations)
    machine.core.write(mutations, at: Timestamp(seconds: 1), callback: id)
    drain()
  }

  func addSyncListener() {
    syncListeners.append(makeID())
    machine.core.addSyncListener(syncListeners[syncListeners.count - 1])
    drain()
  }

  func removeSyncListener() {
    if let listener = syncListeners.popLast() { machine.core.removeSyncListener(listener) }
    drain()
  }

  func waitForPendingWrites() {
    let id = makeID()
    machine.core.waitForPendingWrites(id)
    drain()
  }

  func loadBundle(_ text: String) {
    _ = machine.core.loadBundle(Array(text.utf8)) { _ in }
    drain()
  }

  func collectGarbage(threshold: Int) { _ = machine.collectGarbage(threshold: threshold, percentile: 100) }

  func setNetwork(_ isEnabled: Bool) {
    isNetworkEnabled = isEnabled
    if isEnabled { machine.enableNetwork() } else { machine.disableNetwork() }
    drain()
  }

  func changeUser(_ user: String) {
    self.user = user
    machine.changeUser(user)
    drain()
  }

  func restart() {
    machine.shutDown()
    drain()
    machine = SpecDriver.machine(disk.open(), limboLimit, md5)
    (activeTargets, sentWrites, timers, listeners, queries) = ([:], [], [], [:], [:])
    if !user.isEmpty { machine.changeUser(user) }
    machine.enableNetwork()
    drain()
  }

  func runTimer(_ name: String) throws {
    let wanted: [TimerName] =
      switch name {
      case "all": TimerName.allCases.filter(timers.contains)
      case "online_state_timeout": [.onlineState]
      default: throw SpecFailure("the timer \(name) is not known")
      }
    for timer in wanted {
      guard timers.remove(timer) != nil else { throw SpecFailure("the timer \(name) is not running") }
      machine.timerFired(timer)
      drain()
    }
  }

  // MARK: The backend

  func receive(_ response: ListenResponse) throws {
    guard let stream = watchStream else { throw SpecFailure("the watch stream is not open") }
    if case .targetChange(let change) = response, change.kind == .remove, change.cause != nil {
      for id in change.targetIDs where activeTargets.removeValue(forKey: id) == nil {
        throw SpecFailure("target \(id) is rejected, and was not asked for")
      }
    }
    machine.watch.received(stream: stream, response)
    drain()
  }

  func closeWatch(_ error: FirestoreServiceError) throws {
    guard let stream = watchStream else { throw SpecFailure("the watch stream is not open") }
    (watchStream, activeTargets) = (nil, [:])
    machine.watch.closed(stream: stream, error: error)
    drain()
  }

  func acknowledgeWrite(version: Timestamp, keepsInQueue: Bool) throws {
    guard let stream = writeStream, let batch = sentWrites.first else { throw SpecFailure("no write was sent") }
    guard outstanding[user]?.first == batch.mutations else { throw SpecFailure("another write was sent") }
    sentWrites.removeFirst()
    if !keepsInQueue { outstanding[user]?.removeFirst() }
    let results = batch.mutations.map { _ in WriteResult(updateTime: version) }
    machine.writes.received(
      stream: stream, WriteResponse(streamToken: [1], writeResults: results, commitTime: version))
    drain()
  }

  func failWrite(_ error: FirestoreServiceError, keepsInQueue: Bool) throws {
    guard let stream = writeStream else { throw SpecFailure("the write stream is not open") }
    if !keepsInQueue, outstanding[user]?.isEmpty == false { outstanding[user]?.removeFirst() }
    (writeStream, sentWrites) = (nil, [])
    machine.writes.closed(stream: stream, error: error)
    drain()
  }

  // MARK: Actions

  func drain() {
    while true {
      let actions = machine.takeActions()
      disk.write(machine.takeRows())
      if actions.isEmpty { return }
      for action in actions { perform(action) }
    }
  }

  private func perform(_ action: ClientAction) {
    switch action {
    case .openWatch(let stream, _):
      (watchStream, activeTargets) = (stream, [:])
      machine.watch.opened(stream: stream)
    case .watch(_, let record), .fetch(_, let record):
      watchRequests += 1
      activeTargets[record.id] = record
    case .unwatch(_, let id): activeTargets[id] = nil
    case .closeWatch: (watchStream, activeTargets) = (nil, [:])
    case .openWrite(let stream, _):
      (writeStream, sentWrites) = (stream, [])
      machine.writes.opened(stream: stream)
    case .shakeHands(let stream):
      writeRequests += 1
      machine.writes.received(stream: stream, WriteResponse(streamID: "s", streamToken: [1]))
    case .write(_, let batch, _):
      writeRequests += 1
      sentWrites.append(batch)
    case .closeWrite(_, let token):
      if token != nil { writeRequests += 1 }
      (writeStream, sentWrites) = (nil, [])
    case .startTimer(let name, _):
      if name == .watchBackoff || name == .writeBackoff { machine.timerFired(name) } else { timers.insert(name) }
    case .cancelTimer(let name): timers.remove(name)
    case .event(.snapshot(let listener, let snapshot)):
      if let query = queries[listener] { events.append(Event(query: query, snapshot: snapshot)) }
    case .event(.failure(let listener, let error)):
      guard let query = queries[listener] else { return }
      listeners[QueryID(query)] = nil
      events.append(Event(query: query, error: error))
    case .event(.inSync): syncEvents += 1
    case .finish(let id, let error): finish(id, error)
    case .makeIndexes(let task): machine.indexesMade(task.run())
    case .keepWrites, .warnUnreachable, .warnMalformed, .warnStalled: break
    }
  }

  private func finish(_ id: CallbackID, _ error: FirestoreServiceError?) {
    guard let mutation = callbacks.removeValue(forKey: id) else {
      waitEvents += 1
      return
    }
    if error == nil {
      acknowledged.append(mutation.path.description)
    } else {
      rejected.append(mutation.path.description)
    }
  }
}
