package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The sync core as the watch link sees it: questions about targets, and who takes what the stream brings.
protocol WatchLinkOwner: AnyObject {
  /// The documents of a target that the backend has sent.
  func remoteKeys(of target: Int32) -> Set<DocumentKey>
  /// Whether the backend has sent a document of a target.
  func hasRemoteKey(of target: Int32, _ key: DocumentKey) -> Bool
  /// Takes a snapshot of the backend.
  func apply(_ event: RemoteEvent)
  /// Takes the first results of a target, which were read from the engine in the process.
  func take(_ results: FirstResults)
  /// Takes the refusal of a target, which the link has forgotten.
  func rejectTarget(_ target: Int32, _ error: FirestoreServiceError)
  /// Takes a change of the online state.
  func changeOnlineState(_ state: OnlineState)
  /// The stream has opened.
  func watchHasOpened()
}

/// The watch side of the backend: which targets are asked for, and the stream that follows them.
///
/// A target is *listened to* from `listen` to `unlisten`, whether there is a stream or not. While the stream is open
/// each of them has been asked for, is being read from the engine, or is about to be followed (`FetchedTargets`). The
/// stream runs while the network is enabled and there are targets; its states are `StreamMachine`'s.
///
/// Worked example: target 2 is listened to while the network is disabled: nothing happens. The network is enabled:
/// `.openWatch`, and the online state waits for a first message. `opened`: `.watch(target 2)`. A document, CURRENT and
/// a global snapshot arrive: the owner gets one event with all of them. The stream breaks: the record of target 2 gets
/// the token of the snapshot, the owner is offline or not as `OnlineStateMachine` decides, and the stream begins again
/// after a pause, with `.watch(target 2)` from that token on.
package final class WatchLink {
  let configuration: ClientMachine.Configuration
  let cache: ClientCache
  let actions: ClientActions
  /// Set by the owner, which outlives the link.
  unowned var owner: (any WatchLinkOwner)?

  /// The targets that are listened to, each as far as it has been followed.
  package internal(set) var targets: [Int32: TargetRecord] = [:]
  var places = TargetPlaces()
  var fetched = FetchedTargets()
  private var aggregator: WatchAggregator?
  var progress = TokenProgress()
  private(set) var stream: StreamMachine
  /// Whether the stream has brought anything since it was started.
  private var hasAnswered = false
  private var online = OnlineStateMachine()
  /// Why the last stream has closed.
  private var lastError: FirestoreServiceError?
  /// Whether the network is enabled.
  private(set) var isEnabled = false

  init(_ configuration: ClientMachine.Configuration, _ cache: ClientCache, _ actions: ClientActions) {
    self.configuration = configuration
    self.cache = cache
    self.actions = actions
    let tuning = configuration.tuning
    stream = StreamMachine(.watch, tuning, pauses: configuration.link.pauses(tuning))
  }

  /// Whether the client reaches its backend, as far as it knows.
  package var onlineState: OnlineState { online.state }

  /// Whether targets are followed at this time.
  var isFollowing: Bool { isEnabled && stream.isOpen }

  // MARK: The network

  /// Begins to use the network.
  func enable() {
    isEnabled = true
    if !targets.isEmpty, !stream.isStarted { start() } else { change(online.update(.unknown)) }
  }

  /// Ends the stream; its data is kept in the records.
  func stop() {
    isEnabled = false
    settleTokens()
    progress.end()
    perform(stream.stop())
    aggregator = nil
  }

  /// Sets the online state for a reason outside of the stream.
  func update(_ state: OnlineState) { change(online.update(state)) }

  /// Makes the next start immediate.
  func inhibitBackoff() { stream.inhibitBackoff() }

  // MARK: The stream

  var shouldStart: Bool { isEnabled && !stream.isStarted && !targets.isEmpty }

  func start() {
    hasAnswered = false
    fetched = FetchedTargets()
    aggregator = WatchAggregator(
      database: configuration.database, digest: configuration.digest,
      targets: .init(
        data: { [unowned self] in targets[$0] }, remoteKeys: { [unowned self] in remoteKeys(of: $0) },
        hasRemoteKey: { [unowned self] in owner?.hasRemoteKey(of: $0, $1) ?? false }))
    perform(stream.start(now: configuration.time(), random: configuration.random()))
    change(online.streamStarting())
  }

  func remoteKeys(of id: Int32) -> Set<DocumentKey> { owner?.remoteKeys(of: id) ?? [] }

  /// The stream has opened.
  package func opened(stream number: Int) {
    guard number == stream.connection, stream.state == .starting else { return }
    perform(stream.opened())
    owner?.watchHasOpened()
    for id in targets.keys.sorted() { if let record = targets[id] { request(record) } }
  }

  /// The stream has closed.
  package func closed(stream number: Int, error: FirestoreServiceError?) {
    guard number == stream.connection, stream.isConnected else { return }
    let link = configuration.link
    let wasOpening = link.isOpening(isOpen: stream.isOpen, hasAnswered: hasAnswered)
    settleTokens()
    perform(stream.closed(error))
    aggregator = nil
    progress.end()
    lastError = error
    if let error, wasOpening, link.isOutage(error) { failTargets(error) }
    guard shouldStart else { return change(online.update(.unknown)) }
    change(online.streamFailed())
    start()
  }

  /// A message of the stream has arrived.
  package func received(stream number: Int, _ response: ListenResponse) {
    guard number == stream.connection, stream.isOpen else { return }
    hasAnswered = true
    do {
      try take(response)
    } catch {
      // Nothing of a snapshot that cannot be complete is used: the aggregator ends with its stream.
      actions.emit(.warnMalformed(error))
      actions.emit(.closeWatch(stream: number))
      closed(stream: number, error: error)
    }
  }

  private func take(_ response: ListenResponse) throws(FirestoreServiceError) {
    switch response {
    case .documentChange(let change): try aggregator?.receive(change)
    case .documentDelete(let delete): try aggregator?.receive(delete)
    case .documentRemove(let removal): try aggregator?.receive(removal)
    case .filter(let filter): try aggregator?.receive(filter)
    case .targetChange: break
    }
    stream.resetBackoff()
    change(online.update(.online))
    guard case .targetChange(let change) = response else { return }
    if change.kind == .remove, let cause = change.cause { return rejectTargets(change.targetIDs, cause) }
    aggregator?.receive(change)
    raiseIfConsistent(change)
  }

  private func raiseIfConsistent(_ change: TargetChange) {
    guard change.kind == .noChange, change.targetIDs.isEmpty, let version = change.readTime, version > .zero,
      version >= cache.local.lastRemoteSnapshotVersion, let event = aggregator?.makeEvent(version: version)
    else { return }
    progress.advance(to: event.globalToken, at: version)
    for id in event.followedTargets { progress.follow(id) }
    if progress.isStale(after: configuration.tuning.resumeTokenSeconds) { settleTokens() }
    for (id, change) in event.targetChanges where !change.resumeToken.isEmpty {
      targets[id] = targets[id]?.resuming(at: change.resumeToken, version: version)
    }
    for (id, purpose) in event.targetMismatches.sorted(by: { $0.key < $1.key }) {
      guard let record = targets[id] else { continue }
      progress.forget(id)
      targets[id] = record.resuming(at: [], version: .zero)
      requestRemoval(of: id)
      request(TargetRecord(record.target, id: id, purpose: purpose, sequenceNumber: record.sequenceNumber))
    }
    owner?.apply(event)
  }

  /// A timer of the link has fired.
  func timerFired(_ name: TimerName) {
    switch name {
    case .onlineState: change(online.timerFired())
    case .watchBackoff: perform(stream.backoffEnded())
    case .watchFollow: if stream.isOpen { followFetched() }
    case .watchIdle: if stream.isOpen, targets.isEmpty { perform(stream.stop()) }
    case .watchHealth: stream.becomeHealthy()
    default: break
    }
  }

  // MARK: Tokens

  /// Brings the record of a target up to the last global token.
  func settleToken(of id: Int32) {
    guard let record = targets[id], let settled = progress.settle(id, record) else { return }
    targets[id] = settled
    cache.local.resume(id, at: settled)
  }

  /// Brings the records of all targets up to the last global token.
  private func settleTokens() { for id in progress.takeAll() { settleToken(of: id) } }

  /// Notes that a target does not follow the stream.
  func forgetProgress(of id: Int32) { progress.forget(id) }

  // MARK: Steps

  /// Notes that the stream is used.
  func noteSending(to id: Int32? = nil) {
    if let id { aggregator?.recordRequest(for: id) }
    perform(stream.sending())
  }

  /// Forgets a target in the snapshot that is being collected.
  func forgetChanges(of id: Int32) { aggregator?.removeTarget(id) }

  /// Notes that the last target has left.
  func markIdle() {
    if stream.isOpen {
      perform(stream.markIdle())
    } else if isEnabled {
      change(online.update(.unknown))
    }
  }

  private func perform(_ steps: [StreamMachine.Step]) {
    for step in steps {
      switch step {
      case .connect(let refreshes): actions.emit(.openWatch(stream: stream.connection, refreshesTokens: refreshes))
      case .disconnect: actions.emit(.closeWatch(stream: stream.connection))
      case .startTimer(let name, let seconds): actions.emit(.startTimer(name, seconds: seconds))
      case .cancelTimer(let name): actions.emit(.cancelTimer(name))
      }
    }
  }

  private func change(_ outcome: OnlineStateMachine.Outcome) {
    switch outcome.timer {
    case .start: actions.emit(.startTimer(.onlineState, seconds: configuration.tuning.onlineSeconds))
    case .cancel: actions.emit(.cancelTimer(.onlineState))
    case nil: break
    }
    if outcome.warns { actions.emit(.warnUnreachable(lastError)) }
    if let state = outcome.state { owner?.changeOnlineState(state) }
  }
}
