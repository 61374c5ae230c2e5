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
    case batch(MutationBatch)
  }

  /// A target whose first results are being read.
  private struct Fetch {
    let stream: Int
    let record: TargetRecord
    var found: (documents: [CachedDocument], version: Int)?
  }

  /// How a client differs from the others.
  struct Kind {
    var policy = LocalStore.GarbagePolicy.leastRecentlyUsed(bytes: nil)
    /// Whether its backend is an engine in its process.
    var isEmbedded = false
    /// Whether it reads the documents of its cache when an event needs them, and not at its start.
    var isLazy = false
    /// How many seconds pass for it in one second.
    var drift = 1.0
    /// The figures at which it behaves differently.
    var tuning = SyncTuning()
  }

  /// The document in which every write counts itself.
  static let counter = path("counters/all")

  let server: SimulatedServer
  private(set) var machine: ClientMachine
  private var rows: [[UInt8]: [UInt8]] = [:]
  private var watch: Stream<(ListenRequest, QueryTarget?), ListenResponse>?
  private var served: SimulatedServer.Watch?
  private var write: Stream<WriteMessage, WriteResponse>?
  private var fetches: [Fetch] = []
  /// The streams that look open to the client, and through which nothing more arrives.
  private var frozen: (watch: Int?, write: Int?)
  private var isTokenBad = false
  private var timers: [TimerName: Double] = [:]
  private var nextID = 1
  private(set) var snapshots: [ListenerID: ViewSnapshot] = [:]
  private(set) var listeners: [ListenerID: LocalQuery] = [:]
  /// Writes of this run that were not answered.
  private(set) var unanswered: [CallbackID: WriteRequestID] = [:]
  /// How many writes the application has made, in all runs.
  private(set) var sent = 0
  /// The errors found in snapshots and responses.
  private(set) var complaints: [String] = []
  private var seen: [ListenerID: Int] = [:]
  /// The targets that the watch stream follows: a snapshot has arrived since the backend acknowledged them.
  private var followed: Set<Int32> = []
  private var acknowledged: Set<Int32> = []
  /// The versions of the targets whose first results were read, until a snapshot of the watch stream includes them.
  private var readVersions: [Int32: Timestamp] = [:]
  /// The documents that were written, and when; they are shown before the watch stream has brought the other changes.
  private var written: [DocumentKey: Timestamp] = [:]
  var isNetworkEnabled = true
  /// By how many seconds the client's time of day is wrong.
  var wallOffset = 0.0
  private let clock: SimulatedClock
  private let kind: Kind

  init(_ server: SimulatedServer, clock: SimulatedClock, _ kind: Kind) {
    self.server = server
    self.clock = clock
    self.kind = kind
    machine = SimulatedClient.machine(LocalStore(database: database, user: "", policy: kind.policy), clock, kind)
    machine.enableNetwork()
    perform()
  }

  private var monotonic: Double { clock.now * kind.drift }

  private static func machine(_ store: LocalStore, _ clock: SimulatedClock, _ kind: Kind) -> ClientMachine {
    var configuration = ClientMachine.Configuration(database: database)
    configuration.tuning = kind.tuning
    configuration.link = kind.isEmbedded ? .embedded : .remote
    configuration.time = { clock.now * kind.drift }
    configuration.random = { clock.random() }
    return ClientMachine(configuration, local: store)
  }

  // MARK: The application

  func listen(_ query: LocalQuery) {
    read(.query(query))
    listeners[nextID] = query
    machine.core.listen(query, options: ListenOptions(includesMetadata: true), listener: nextID)
    nextID += 1
    perform()
  }

  func unlisten(_ id: ListenerID) {
    listeners[id] = nil
    snapshots[id] = nil
    seen[id] = nil
    machine.core.unlisten(id)
    perform()
  }

  func send(_ mutations: [Mutation]) {
    sent += 1
    read(.documents(mutations.map(\.path)))
    machine.core.write(mutations, at: Timestamp(seconds: Int64(clock.now + wallOffset)), callback: nextID)
    unanswered[nextID] = machine.local.queue.batches.last?.requestID
    nextID += 1
    perform()
  }

  func setNetwork(_ isEnabled: Bool) {
    isNetworkEnabled = isEnabled
    if isEnabled { machine.enableNetwork() } else { machine.disableNetwork() }
    perform()
  }

  /// The process is killed and begins again: what was in its streams and listeners is lost.
  ///
  /// A client with an embedded engine is ended in order: writes that have no rows were not committed locally.
  func restart() throws {
    if kind.isEmbedded {
      machine.shutDown()
      perform()
    }
    closeWatch()
    write = nil
    (timers, listeners, snapshots, seen, unanswered) = ([:], [:], [:], [:], [:])
    machine = SimulatedClient.machine(try makeStore(), clock, kind)
    if isNetworkEnabled { machine.enableNetwork() }
    perform()
  }

  private func makeStore() throws -> LocalStore {
    var loader = CacheLoader(database: database)
    if kind.isLazy {
      for tag in CacheKey.startTags { add([tag], to: &loader) }
      if loader.canWait {
        for key in loader.pendingDocuments { add(CacheKey.document(key).bytes, to: &loader) }
        return loader.makeStore(user: "", policy: kind.policy, isComplete: false)
      }
    }
    loader = CacheLoader(database: database)
    add([], to: &loader)
    return loader.makeStore(user: "", policy: kind.policy)
  }

  private func add(_ start: [UInt8], to loader: inout CacheLoader) {
    for (key, value) in rows where key.starts(with: start) { loader.add(key: key, value: value) }
  }

  /// Reads the rows that an event needs, as the client does before each event.
  private func read(_ needs: CacheNeeds) {
    guard let piece = machine.local.missing([needs]) else { return }
    var loader = CacheLoader(database: database)
    for key in piece.documents { add(CacheKey.document(key).bytes, to: &loader) }
    for path in piece.collections { add(CacheKey.documents(in: path), to: &loader) }
    for id in piece.targets { add(CacheKey.documents(ofTarget: id), to: &loader) }
    if piece.isEverything { for tag: UInt8 in [3, 4, 6] { add([tag], to: &loader) } }
    if !loader.complaints.isEmpty { complaints.append("damaged rows: \(loader.complaints)") }
    machine.addRows(loader, as: piece)
  }

  func collectGarbage() {
    read(.everything)
    _ = machine.collectGarbage(threshold: 0, percentile: 50)
    perform()
  }

  // MARK: The network

  /// Breaks the streams; what is on its way is lost, in both directions.
  func breakStreams(_ code: ServiceCode = .unavailable) {
    let error = FirestoreServiceError(code, "broken")
    if let number = watch?.number, watch?.isOpen == true {
      closeWatch()
      machine.watch.closed(stream: number, error: error)
    }
    if let number = write?.number, write?.isOpen == true {
      write = nil
      machine.writes.closed(stream: number, error: error)
    }
    perform()
  }

  /// From here on nothing arrives through the open streams; what was sent may still arrive.
  func freezeStreams() { frozen = (watch?.number, write?.number) }

  /// The timer that notices that a stream is dead.
  func breakFrozenStreams() {
    let (watching, writing) = (watch?.number, write?.number)
    let isFrozen = frozen.watch.map { $0 == watching } ?? false || frozen.write.map { $0 == writing } ?? false
    if isFrozen { breakStreams() }
    frozen = (nil, nil)
  }

  /// The backend ceases to accept the token of the client.
  func expireToken() {
    isTokenBad = true
    breakStreams(.unauthenticated)
  }

  private func closeWatch() {
    if let served { server.close(served) }
    (watch, served) = (nil, nil)
    (fetches, followed, acknowledged, readVersions) = ([], [], [], [:])
  }

  /// Delivers one message or fires one timer; `false` when nothing is on its way.
  func step(_ random: inout SplitMix) -> Bool {
    var moves: [() -> Void] = []
    if let watch, watch.number != frozen.watch {
      if !watch.isOpen { moves.append { self.openWatch(watch.number) } }
      if watch.isOpen, !watch.requests.isEmpty { moves.append { self.serveWatch() } }
      if let served, !served.outbox.isEmpty { moves.append { self.deliverWatch(watch.number, served) } }
    }
    for index in fetches.indices { moves.append { self.fetch(index) } }
    if let write {
      let isFrozen = write.number == frozen.write
      if !write.isOpen, !isFrozen { moves.append { self.openWrite(write.number) } }
      if write.isOpen, !write.requests.isEmpty { moves.append { self.serveWrite() } }
      if !write.responses.isEmpty, !isFrozen { moves.append { self.deliverWrite(write.number) } }
      if write.failure != nil, write.responses.isEmpty, !isFrozen {
        moves.append { self.failWrite(write.number) }
      }
    }
    guard let move = moves.randomElement(using: &random) else { return false }
    move()
    perform()
    return true
  }

  /// Fires the timers that are due.
  func fireTimers() {
    for (name, due) in timers.sorted(by: { $0.value < $1.value }) where due <= monotonic {
      timers[name] = nil
      machine.timerFired(name)
      perform()
    }
  }

  /// When the next timer that brings the client back, or makes it follow a target, is due.
  var nextReturn: Double? {
    [timers[.watchBackoff], timers[.writeBackoff], timers[.watchFollow]].compactMap { $0 }.min().map { $0 / kind.drift }
  }

  private var unauthenticated: FirestoreServiceError { FirestoreServiceError(.unauthenticated, "The token is bad.") }

  private func openWatch(_ number: Int) {
    if isTokenBad {
      closeWatch()
      return machine.watch.closed(stream: number, error: unauthenticated)
    }
    watch?.isOpen = true
    served = server.open()
    machine.watch.opened(stream: number)
  }

  private func serveWatch() {
    guard let served, let (request, target) = watch?.requests.removeFirst() else { return }
    server.receive(request, served, target)
  }

  private func deliverWatch(_ number: Int, _ served: SimulatedServer.Watch) {
    let response = served.outbox.removeFirst()
    if case .targetChange(let change) = response {
      if change.kind == .add { acknowledged.formUnion(change.targetIDs) }
      if change.kind == .noChange {
        followed.formUnion(acknowledged)
        for id in acknowledged { readVersions[id] = nil }
      }
    }
    read(.responses([response]))
    machine.watch.received(stream: number, response)
  }

  /// Reads the first results of a target, or hands them over.
  private func fetch(_ index: Int) {
    let record = fetches[index].record
    guard let found = fetches[index].found else {
      fetches[index].found = (server.documents(of: record.target), server.version)
      return
    }
    let fetch = fetches.remove(at: index)
    let version = Timestamp(seconds: Int64(found.version))
    let wasFollowed = followed.contains(record.id)
    followed.insert(record.id)
    machine.watch.receivedFirst(stream: fetch.stream, target: record.id, found.documents, version: version)
    let isUsed = machine.watch.targets[record.id]?.snapshotVersion == version
    if isUsed { readVersions[record.id] = version }
    if !isUsed, !wasFollowed { followed.remove(record.id) }
  }

  private func openWrite(_ number: Int) {
    if isTokenBad {
      write = nil
      return machine.writes.closed(stream: number, error: unauthenticated)
    }
    write?.isOpen = true
    machine.writes.opened(stream: number)
  }

  private func serveWrite() {
    guard write?.failure == nil, let request = write?.requests.removeFirst() else { return }
    switch request {
    case .handshake: write?.responses.append(WriteResponse(streamID: "s", streamToken: [1]))
    case .batch(let batch):
      guard let id = batch.requestID else { return complaints.append("a write without an identifier") }
      do { write?.responses.append(try server.serve(batch.mutations, id)) } catch {
        write?.failure = error
        write?.requests = []
      }
    }
  }

  private func deliverWrite(_ number: Int) {
    guard let response = write?.responses.removeFirst() else { return }
    if let time = response.commitTime, let batch = machine.writes.pipeline.first {
      for path in batch.paths { written[path] = max(written[path] ?? .zero, time) }
    }
    machine.writes.received(stream: number, response)
  }

  private func failWrite(_ number: Int) {
    let failure = write?.failure
    write = nil
    machine.writes.closed(stream: number, error: failure)
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
    case .openWatch(let number, let refreshes):
      closeWatch()
      if refreshes { isTokenBad = false }
      watch = Stream(number: number)
    case .watch(_, let record): watch?.requests.append((.addTarget(record.message), record.target))
    case .fetch(let stream, let record): fetches.append(Fetch(stream: stream, record: record))
    case .unwatch(_, let id): watch?.requests.append((.removeTarget(id: id), nil))
    case .closeWatch: closeWatch()
    case .openWrite(let number, let refreshes):
      if refreshes { isTokenBad = false }
      write = Stream(number: number)
    case .shakeHands: write?.requests.append(.handshake)
    case .write(_, let batch, _): write?.requests.append(.batch(batch))
    case .closeWrite: write = nil
    case .startTimer(let name, let seconds): timers[name] = monotonic + seconds
    case .cancelTimer(let name): timers[name] = nil
    case .event(.snapshot(let id, let snapshot)):
      guard listeners[id] != nil else { return }
      snapshots[id] = snapshot
      check(snapshot, id)
    case .event(.failure(let id, _)): listeners[id] = nil
    case .event(.inSync): break
    case .finish(let id, let error): answered(id, error)
    case .makeIndexes(let task): machine.indexesMade(task.run())
    case .keepWrites, .warnUnreachable, .warnMalformed, .warnStalled: break
    }
  }
}

// MARK: - What must always hold

extension SimulatedClient {
  /// Checks that the outcome of a write that the application received is the server's.
  private func answered(_ id: CallbackID, _ error: FirestoreServiceError?) {
    guard let request = unanswered.removeValue(forKey: id) else { return }
    let isRight = error == nil ? server.applied.contains(request) : server.refused.contains(request)
    if !isRight { complaints.append("write \(request.number) was told \(error.map { "\($0)" } ?? "success")") }
  }

  /// A snapshot that is not from the cache is a state that the server had, no earlier than the one before; documents
  /// with writes of the client's own are left aside.
  ///
  /// After a stream has broken, a view continues to show its documents, and the changes of them that other targets
  /// bring, until its own target is followed again. So it is in the Firebase SDK: the loss of the stream changes no
  /// view as long as the client is not offline, and a snapshot of the new stream concerns the acknowledged targets
  /// alone.
  private func check(_ snapshot: ViewSnapshot, _ id: ListenerID) {
    guard !snapshot.isFromCache, let query = listeners[id] else { return }
    guard let target = machine.core.views.target(of: query), followed.contains(target) else { return }
    let lastBrought = machine.local.lastRemoteSnapshotVersion
    // A target that was read continues from its own version: a write of the client's own may be shown before the
    // changes of others in between.
    let brought = readVersions[target].map { min($0, lastBrought) } ?? lastBrought
    let unseen = written.filter { $0.value > brought }.keys
    let own = Set(machine.local.queue.batches.flatMap(\.paths)).union(snapshot.mutatedKeys).union(unseen)
      .union(snapshot.documents.filter { $0.pending != .none }.map(\.path))
    // Own writes can push other documents over a limit.
    if query.limit != nil, !own.isEmpty { return }
    let others = snapshot.documents.filter { !own.contains($0.path) }
    let shown = others.map { Shown($0.path, $0.version, $0.fields) }
    let newest = others.map(\.version.seconds).max() ?? 0
    var version = max(seen[id] ?? 1, Int(newest))
    while version <= server.version {
      if results(query, of: version, without: own) == shown {
        seen[id] = version
        return
      }
      version += 1
    }
    complaints.append(
      "listener \(id) shows \(shown) of \(query.canonicalID), which was no state from version \(seen[id] ?? 1) on")
  }

  /// A document as its listeners see it.
  ///
  /// One that has changed and changed back stays in a view as it was, with the version that was shown first; so it is
  /// in the Firebase SDK.
  private struct Shown: Equatable, CustomStringConvertible {
    let path: ResourcePath
    let time: Timestamp
    let fields: MapValue?

    init(_ path: ResourcePath, _ time: Timestamp, _ fields: MapValue?) {
      (self.path, self.time, self.fields) = (path, time, fields)
    }

    static func == (left: Shown, right: Shown) -> Bool { left.path == right.path && left.fields == right.fields }

    var description: String { "\(path)@\(time.seconds)" }
  }

  private func results(
    _ query: LocalQuery, of version: Int, without own: Set<DocumentKey>
  ) -> [Shown]? {
    guard let results = server.results(query.target, of: version) else { return nil }
    return (query.limitType == .last ? results.reversed() : results).compactMap { document in
      let path = server.path(document)
      return own.contains(path) ? nil : Shown(path, document.updateTime ?? .zero, document.fields)
    }
  }
}
