import VestaAppCheckInterop
import VestaAuthInterop
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop

extension Repo {
  // MARK: Connecting

  /// Takes a reason away for not connecting.
  func resume(_ reason: Interruption) {
    interruptions.remove(reason)
    guard interruptions.isEmpty, phase == .disconnected else { return }
    delay.reset()
    scheduleConnect()
  }

  /// Adds a reason for not connecting, and disconnects.
  func interrupt(_ reason: Interruption) {
    interruptions.insert(reason)
    delay.reset()
    disconnect(reason: reason)
  }

  private func scheduleConnect() {
    guard interruptions.isEmpty, phase == .disconnected else { return }
    let wait = delay.next(using: &random)
    phase = .waiting
    if wait == .zero { return connect() }
    timer = environment.clock.schedule(after: wait) { [weak self] in
      self?.enqueue { repo in if repo.phase == .waiting { repo.connect() } }
    }
  }

  private func connect() {
    isHurried = false
    generation += 1
    let attempt = generation
    guard environment.auth != nil || environment.appCheck != nil else { return open(attempt) }
    phase = .gettingToken
    hasTokenNews = false
    let (auth, appCheck, forces) = (environment.auth, environment.appCheck, forcesTokenRefresh)
    forcesTokenRefresh = false
    Task {
      do {
        async let proof = appCheck?.getToken(forcingRefresh: forces)
        let token = try await auth?.getToken(forcingRefresh: forces)
        let appCheckToken = await proof?.token
        enqueue { repo in repo.gotTokens(token, appCheckToken, attempt) }
      } catch {
        log.warning("I-RDB000001", "The token cannot be had, the connection is tried again: \(error)")
        enqueue { repo in
          guard repo.generation == attempt, repo.phase == .gettingToken else { return }
          repo.phase = .disconnected
          repo.scheduleConnect()
        }
      }
    }
  }

  private func gotTokens(_ token: String?, _ appCheckToken: String?, _ attempt: Int) {
    guard generation == attempt, phase == .gettingToken else { return }
    // A sign-in or sign-out in the meantime decides, and not the token that was requested before it.
    if !hasTokenNews { self.token = token }
    self.appCheckToken = appCheckToken
    open(attempt)
  }

  private func open(_ attempt: Int) {
    phase = .connecting
    let request = DatabaseConnectRequest(
      namespace: url.namespace, origin: url.root, lastSession: lastSession, userAgent: environment.userAgent)
    connection = environment.backend.connect(request) { [weak self] message in
      self?.enqueue { repo in
        guard repo.generation == attempt else { return }
        repo.receive(message)
        repo.flush()
      }
    }
    timer = environment.clock.schedule(after: environment.tuning.openingTime) { [weak self] in
      self?.enqueue { repo in
        guard repo.generation == attempt, repo.phase == .connecting else { return }
        repo.connection?.close()
        repo.lost("The connection did not open in time.")
      }
    }
  }

  // MARK: Messages

  private func receive(_ message: DatabaseServerMessage) {
    switch message {
    case .hello(let hello): opened(hello)
    case .reply(let id, let reply): pending.removeValue(forKey: id)?(self, reply)
    case .data(let path, let node, let tag): raiseAndRerun(tree.receivedOverwrite(path, node, tag: tag), at: path)
    case .merge(let path, let values, let tag):
      var trie = WriteTrie.empty
      for value in values { trie.add(value.node, at: value.path) }
      raiseAndRerun(tree.receivedMerge(path, trie, tag: tag), at: path)
    case .rangeMerge(let path, let merges, let tag):
      raiseAndRerun(tree.serverRangeMerge(path, merges, tag: tag), at: path)
    case .listenRevoked(let path, let spec):
      cancelListen(path, spec, status: .permissionDenied, message: "Permission Denied")
    case .authRevoked(let status, let reason): authFailed(status, reason)
    case .appCheckRevoked: appCheckToken = nil
    case .debug(let text): log.debug("I-RDB000002", text)
    case .shutdown(let reason):
      log.error("I-RDB000003", "The service does not want this client to come back: \(reason)")
      interrupt(.killed)
    case .failed(let reason): fail(reason)
    case .closed(let reason): lost(reason)
    }
  }

  private func opened(_ hello: DatabaseHello) {
    timer?.cancel()
    timer = nil
    if failure != nil { log.notice("I-RDB000020", "The database can be used again.") }
    (failure, lastLoss) = (nil, nil)
    connectedAt = now
    lastSession = hello.session
    serverTimeOffset = hello.timestamp - now
    if let appCheckToken { request(.appCheck(token: appCheckToken)) { _, _ in } }
    setInfo("serverTimeOffset", DatabaseNode(.int(serverTimeOffset)))
    sentToken = nil
    phase = .authenticating
    authenticate()
  }

  /// Sends the service the current user, until it knows the current state; then restores everything else.
  private func authenticate() {
    guard token != sentToken else { return restore() }
    sentToken = token
    guard let token else {
      request(.unauthenticate) { _, _ in }
      return restore()
    }
    request(.authenticate(token: token)) { repo, reply in
      if reply.status == .ok { repo.authenticate() } else { repo.authFailed(reply.status.rawValue, reply.message) }
    }
  }

  /// Sends what the service has to know of this client, in the order that it must have.
  private func restore() {
    phase = .connected
    setInfo("connected", DatabaseNode(.bool(true)))
    _ = tree.takeListenActions()
    for listen in tree.listens { sendListen(listen.path, listen.spec, listen.tag) }
    nextPutToSend = puts.keys.min() ?? nextPutID
    sendPuts()
    for id in gets.keys.sorted() { sendGet(id) }
    let operations = onDisconnectQueue
    onDisconnectQueue = []
    for operation in operations { sendOnDisconnect(operation.request, operation.completion) }
  }

  func authFailed(_ status: String, _ reason: String) {
    log.warning("I-RDB000004", "The service does not accept the token: \(status) \(reason)")
    token = nil
    // A token that could not be verified right now is as good as before.
    forcesTokenRefresh = status != DatabaseStatus.unavailable.rawValue
    connection?.close()
    lost("The token was not accepted.")
  }

  // MARK: Failing

  /// Ends what waits for a service that cannot serve the database, and says why; attempts to connect continue.
  ///
  /// Writes that the device keeps stay: they are sent when the service can be used again.
  private func fail(_ reason: String) {
    if failure != reason { log.error("I-RDB000019", reason) }
    failure = reason
    let kept = keptSynced
    while let listen = tree.listens.first {
      cancelListen(listen.path, listen.spec, status: .unavailable, message: reason)
    }
    _ = tree.takeListenActions()
    for id in gets.keys.sorted() { endGet(id, .failure(reason)) }
    let reply = DatabaseReply(.unavailable, message: reason)
    for (id, put) in puts.sorted(by: { $0.key < $1.key }) where !put.isStored && !put.isTransaction {
      puts[id] = nil
      put.onReply(self, reply)
    }
    let error = DatabaseError(status: .unavailable, message: reason)
    for transaction in transactions { end(transaction.id, error, isCommitted: false, node: nil, isRevert: true) }
    for (id, put) in puts where put.isTransaction { puts[id] = nil }
    let operations = onDisconnectQueue
    onDisconnectQueue = []
    for operation in operations { complete { operation.completion(error) } }
    for (query, id) in kept.sorted(by: { $0.value < $1.value }) { keepSynced(query, true, id: id) }
  }

  /// Something is wanted of a database that could not be opened: it is tried again soon.
  func retrySoon() {
    guard failure != nil, phase == .waiting, !isHurried else { return }
    isHurried = true
    timer?.cancel()
    timer = environment.clock.schedule(after: environment.tuning.reopeningTime) { [weak self] in
      self?.enqueue { repo in if repo.phase == .waiting { repo.connect() } }
    }
  }

  // MARK: Disconnecting

  /// Closes the connection on this client's own account.
  func disconnect(reason: Interruption) {
    timer?.cancel()
    timer = nil
    connection?.close()
    lost("The client has gone offline.", isWanted: true)
  }

  /// Clears up after a connection, and tries the next one unless there is a reason against it.
  private func lost(_ reason: String, isWanted: Bool = false) {
    // Each reason once: attempts to connect repeat it.
    if !isWanted, lastLoss != reason, failure == nil { log.notice("I-RDB000021", "There is no connection: \(reason)") }
    lastLoss = reason
    generation += 1
    timer?.cancel()
    timer = nil
    connection = nil
    pending = [:]
    listensInFlight = 0
    currentListens = [:]
    let wasOpen = phase == .connected || phase == .authenticating
    phase = .disconnected
    if wasOpen, now - connectedAt > environment.tuning.goodConnection.microseconds / 1000 { delay.reset() }
    releaseAcknowledgements()
    failOnDisconnectsInFlight()
    for id in gets.keys.sorted() where gets[id]?.timer == nil { limitGet(id) }
    if infoValues["connected"]?.leaf == .bool(true) { setInfo("connected", DatabaseNode(.bool(false))) }
    applyOnDisconnect()
    failSentTransactions()
    scheduleConnect()
  }

  /// A transaction of which the outcome is not known ends.
  private func failSentTransactions() {
    let lost = puts.filter { $0.value.isTransaction && $0.value.isSent }.sorted { $0.key < $1.key }
    for id in puts.keys { puts[id]?.isSent = false }
    for (id, _) in lost { puts[id] = nil }
    for (_, put) in lost {
      put.onReply(
        self, DatabaseReply(.disconnect, message: "Client was disconnected while running a transaction"))
    }
  }

  // MARK: Requests

  /// Sends a request; its reply is lost with the connection.
  func request(
    _ request: DatabaseRequest, _ onReply: @escaping @Sendable (isolated Repo, DatabaseReply) -> Void
  ) {
    let id = nextRequestID
    nextRequestID += 1
    pending[id] = onReply
    connection?.send(request, id: id)
  }

  /// Sends a write as soon as there is a connection, and again after a connection that was lost.
  ///
  /// - Parameter stored: The write as the device has to keep it before it is sent; `nil` for one that is not kept.
  func put(_ put: OutstandingPut, keeping stored: StoredWrite? = nil) {
    if let stored, isShutDown { persistence?.save(stored) {} }
    if isShutDown { return put.onEnd(self, Self.deleted) }
    let id = nextPutID
    nextPutID += 1
    puts[id] = put
    retrySoon()
    if let persistence, let stored {
      puts[id]?.isStored = true
      puts[id]?.isKept = false
      persistence.save(stored) { [weak self] in self?.enqueue { repo in repo.putIsKept(id) } }
    }
    sendPuts()
  }

  private func putIsKept(_ id: Int) {
    puts[id]?.isKept = true
    sendPuts()
  }

  /// Sends the writes that can be sent, in their order: one that the device does not keep yet holds up what follows.
  private func sendPuts() {
    while phase == .connected, nextPutToSend < nextPutID {
      if let put = puts[nextPutToSend] {
        guard put.isKept else { return }
        sendPut(nextPutToSend)
      }
      nextPutToSend += 1
    }
  }

  private func sendPut(_ id: Int) {
    guard let put = puts[id] else { return }
    puts[id]?.isSent = true
    // Listens that began before the write must reach the service before it too.
    performListenActions()
    request(put.request) { repo, reply in
      repo.acknowledgeInOrder { repo in
        guard let put = repo.puts.removeValue(forKey: id) else { return }
        put.onReply(repo, reply)
      }
    }
  }

  /// Acknowledgements wait, in order, while data of a listen is on its way.
  private func acknowledgeInOrder(_ body: @escaping @Sendable (isolated Repo) -> Void) {
    if listensInFlight > 0 || !heldAcknowledgements.isEmpty {
      heldAcknowledgements.append(body)
    } else {
      body(self)
    }
  }

  func releaseAcknowledgements() {
    let held = heldAcknowledgements
    heldAcknowledgements = []
    for body in held { body(self) }
  }
}

private let log = Logger(service: "VestaDatabase")
