import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaTesting

/// A client of the simulation: a machine, its rows, and streams whose messages wait until the schedule delivers them.
final class SimulatedClient {
  private struct Stream<Request, Response> {
    var number: Int
    var isOpen = false
    var requests: [Request] = []
    var responses: [Response] = []
    var failure: FirestoreServiceError?
  }

  private enum WriteMessage {
    case handshake
    case batch([Mutation])
  }

  let server: SimulatedServer
  private(set) var machine: ClientMachine
  private var rows: [[UInt8]: [UInt8]] = [:]
  private var watch: Stream<(ListenRequest, QueryTarget?), ListenResponse>?
  private var served: SimulatedServer.Watch?
  private var write: Stream<WriteMessage, WriteResponse>?
  private var timers: [TimerName: Double] = [:]
  private var nextID = 1
  private(set) var snapshots: [ListenerID: ViewSnapshot] = [:]
  private(set) var listeners: [ListenerID: LocalQuery] = [:]
  /// Writes of this run that were not answered.
  private(set) var unanswered: Set<CallbackID> = []
  var isNetworkEnabled = true
  private let clock: SimulatedClock
  private let policy: LocalStore.GarbagePolicy

  init(_ server: SimulatedServer, clock: SimulatedClock, policy: LocalStore.GarbagePolicy) {
    self.server = server
    self.clock = clock
    self.policy = policy
    machine = SimulatedClient.machine(LocalStore(database: database, user: "", policy: policy), clock)
    machine.enableNetwork()
    perform()
  }

  private static func machine(_ store: LocalStore, _ clock: SimulatedClock) -> ClientMachine {
    var configuration = ClientMachine.Configuration(database: database)
    configuration.limboLimit = 2
    configuration.monotonicTime = { clock.now }
    configuration.random = { clock.random() }
    return ClientMachine(configuration, local: store)
  }

  // MARK: The application

  func listen(_ query: LocalQuery) {
    listeners[nextID] = query
    machine.listen(query, options: ListenOptions(includesMetadata: true), listener: nextID)
    nextID += 1
    perform()
  }

  func unlisten(_ id: ListenerID) {
    listeners[id] = nil
    snapshots[id] = nil
    machine.unlisten(id)
    perform()
  }

  func send(_ mutations: [Mutation]) {
    unanswered.insert(nextID)
    machine.write(mutations, at: Timestamp(seconds: Int64(clock.now)), callback: nextID)
    nextID += 1
    perform()
  }

  func setNetwork(_ isEnabled: Bool) {
    isNetworkEnabled = isEnabled
    if isEnabled { machine.enableNetwork() } else { machine.disableNetwork() }
    perform()
  }

  /// The process is killed and begins again: what was in its streams and listeners is lost.
  func restart() throws {
    closeWatch()
    write = nil
    (timers, listeners, snapshots, unanswered) = ([:], [:], [:], [])
    var loader = CacheLoader(database: database)
    for (key, value) in rows { loader.add(key: key, value: value) }
    machine = SimulatedClient.machine(loader.makeStore(user: "", policy: policy), clock)
    if isNetworkEnabled { machine.enableNetwork() }
    perform()
  }

  func collectGarbage() {
    _ = machine.collectGarbage(threshold: 0, percentile: 50)
    perform()
  }

  // MARK: The network

  /// Breaks the streams; what is on its way is lost, in both directions.
  func breakStreams() {
    if let number = watch?.number, watch?.isOpen == true {
      closeWatch()
      machine.watchClosed(stream: number, error: FirestoreServiceError(.unavailable, "broken"))
    }
    if let number = write?.number, write?.isOpen == true {
      write = nil
      machine.writeClosed(stream: number, error: FirestoreServiceError(.unavailable, "broken"))
    }
    perform()
  }

  private func closeWatch() {
    if let served { server.close(served) }
    (watch, served) = (nil, nil)
  }

  /// Delivers one message or fires one timer; `false` when nothing is on its way.
  func step(_ random: inout SplitMix) -> Bool {
    var moves: [() -> Void] = []
    if let watch {
      if !watch.isOpen { moves.append { self.openWatch(watch.number) } }
      if watch.isOpen, !watch.requests.isEmpty { moves.append { self.serveWatch() } }
      if let served, !served.outbox.isEmpty { moves.append { self.deliverWatch(watch.number, served) } }
    }
    if let write {
      if !write.isOpen { moves.append { self.openWrite(write.number) } }
      if write.isOpen, !write.requests.isEmpty { moves.append { self.serveWrite() } }
      if !write.responses.isEmpty { moves.append { self.deliverWrite(write.number) } }
      if write.failure != nil, write.responses.isEmpty { moves.append { self.failWrite(write.number) } }
    }
    guard let move = moves.randomElement(using: &random) else { return false }
    move()
    perform()
    return true
  }

  /// Fires the timers that are due.
  func fireTimers() {
    for (name, due) in timers.sorted(by: { $0.value < $1.value }) where due <= clock.now {
      timers[name] = nil
      machine.timerFired(name)
      perform()
    }
  }

  /// When the next timer that brings the client back is due.
  var nextReturn: Double? { [timers[.watchBackoff], timers[.writeBackoff]].compactMap { $0 }.min() }

  private func openWatch(_ number: Int) {
    watch?.isOpen = true
    served = server.open()
    machine.watchOpened(stream: number)
  }

  private func serveWatch() {
    guard let served, let (request, target) = watch?.requests.removeFirst() else { return }
    server.receive(request, served, target)
  }

  private func deliverWatch(_ number: Int, _ served: SimulatedServer.Watch) {
    machine.watchReceived(stream: number, served.outbox.removeFirst())
  }

  private func openWrite(_ number: Int) {
    write?.isOpen = true
    machine.writeOpened(stream: number)
  }

  private func serveWrite() {
    guard write?.failure == nil, let request = write?.requests.removeFirst() else { return }
    switch request {
    case .handshake: write?.responses.append(WriteResponse(streamID: "s", streamToken: [1]))
    case .batch(let mutations):
      do { write?.responses.append(try server.commit(mutations)) } catch {
        write?.failure = error
        write?.requests = []
      }
    }
  }

  private func deliverWrite(_ number: Int) {
    guard let response = write?.responses.removeFirst() else { return }
    machine.writeReceived(stream: number, response)
  }

  private func failWrite(_ number: Int) {
    let failure = write?.failure
    write = nil
    machine.writeClosed(stream: number, error: failure)
  }

  // MARK: Actions

  private func perform() {
    while true {
      let actions = machine.takeActions()
      for row in machine.takeRows() { rows[row.key] = row.value }
      if actions.isEmpty { return }
      for action in actions { perform(action) }
    }
  }

  private func perform(_ action: ClientAction) {
    switch action {
    case .openWatch(let number, _):
      closeWatch()
      watch = Stream(number: number)
    case .watch(_, let record), .fetch(_, let record):
      watch?.requests.append((.addTarget(record.message), record.target))
    case .unwatch(_, let id): watch?.requests.append((.removeTarget(id: id), nil))
    case .closeWatch: closeWatch()
    case .openWrite(let number, _): write = Stream(number: number)
    case .shakeHands: write?.requests.append(.handshake)
    case .write(_, let batch, _): write?.requests.append(.batch(batch.mutations))
    case .closeWrite: write = nil
    case .startTimer(let name, let seconds): timers[name] = clock.now + seconds
    case .cancelTimer(let name): timers[name] = nil
    case .event(.snapshot(let id, let snapshot)): if listeners[id] != nil { snapshots[id] = snapshot }
    case .event(.failure(let id, _)): listeners[id] = nil
    case .event(.inSync): break
    case .finish(let id, _): unanswered.remove(id)
    case .warnUnreachable: break
    }
  }
}
