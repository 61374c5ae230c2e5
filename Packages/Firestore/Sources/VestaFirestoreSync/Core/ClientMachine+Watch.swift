package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The watch side of the remote store: targets, and the stream that follows them.
extension ClientMachine {
  // MARK: Targets

  func listenRemotely(_ record: TargetRecord) {
    guard listenTargets[record.id] == nil else { return }
    listenTargets[record.id] = record
    targetPlaces.insert(record.target)
    if shouldStartWatch { startWatch() } else if watchStream.isOpen { request(record) }
  }

  func unlistenRemotely(_ id: Int32) {
    settleToken(of: id)
    guard let record = listenTargets.removeValue(forKey: id) else { return }
    // Only this record has the version of results that were read. If listeners of the cache keep the view, the next
    // remote listener continues from that version: without it the stream would not report deleted documents.
    if record.resumeToken.isEmpty, record.snapshotVersion > .zero { local.resume(id, at: record) }
    progress.forget(id)
    targetPlaces.remove(record.target)
    let wasAsked = !fetched.remove(id)
    if watchStream.isOpen, wasAsked { requestRemoval(of: id) }
    guard listenTargets.isEmpty else { return }
    if watchStream.isOpen {
      performWatch(watchStream.markIdle())
    } else if isNetworkEnabled {
      perform(onlineMachine.update(.unknown))
    }
  }

  private func request(_ record: TargetRecord) {
    guard isFetched(record) else { return ask(record) }
    fetched.begin(record.id)
    performWatch(watchStream.sending())
    emit(.fetch(stream: watchStream.connection, record))
  }

  /// Asks the stream for a target, and first for the ones that it is to follow from an earlier version on.
  private func ask(_ record: TargetRecord) {
    followFetched()
    var record = record
    if !record.resumeToken.isEmpty || record.snapshotVersion > .zero {
      record.expectedCount = Int32(clamping: remoteKeys(of: record.id).count)
    }
    send(record)
  }

  private func send(_ record: TargetRecord) {
    progress.forget(record.id)
    aggregator?.recordRequest(for: record.id)
    performWatch(watchStream.sending())
    emit(.watch(stream: watchStream.connection, record))
  }

  /// Asks the stream to follow the targets whose first results were read, each from its version on.
  func followFetched() {
    for id in fetched.takeDue() { if let record = listenTargets[id] { send(record) } }
  }

  /// Whether the first results of a target are read from the engine in the process.
  ///
  /// They are of a separate version, so no other target may show any of the same documents: it would show them
  /// next to documents of an earlier version.
  private func isFetched(_ record: TargetRecord) -> Bool {
    configuration.fetchesTargets && record.purpose == .listen && record.resumeToken.isEmpty
      && record.snapshotVersion == .zero && targetPlaces.isAlone(record.target) && remoteKeys(of: record.id).isEmpty
  }

  /// The first results of a target have been read.
  ///
  /// When the client uses the results, it asks the stream two milliseconds later for the changes since their version.
  /// A listener that is removed before that costs the engine nothing more. When the client does not use the results,
  /// it asks the stream for the whole target at once.
  ///
  /// - Parameter documents: The documents that match, all of one version; of a document's target, also its absence.
  ///   `nil` when they could not be read: the stream has the error.
  package func watchFetched(stream: Int, target: Int32, _ documents: [CachedDocument]?, version: Timestamp) {
    guard stream == watchStream.connection, watchStream.isOpen, fetched.isReading(target),
      let record = listenTargets[target]
    else { return }
    // A read from before the stream may lack documents that the stream has brought already.
    guard let documents, version >= local.lastRemoteSnapshotVersion, isFetched(record) else {
      fetched.remove(target)
      return ask(record)
    }
    if fetched.end(target) { emit(.startTimer(.watchFollow, seconds: tuning.followSeconds)) }
    listenTargets[target] = record.resuming(at: [], version: version)
    perform(onlineMachine.update(.online))
    let results = FirstResults(documents, of: target, version: version)
    if !showDeferred(results) { apply(results.event) }
  }

  private func requestRemoval(of id: Int32) {
    aggregator?.recordRequest(for: id)
    performWatch(watchStream.sending())
    emit(.unwatch(stream: watchStream.connection, id))
  }

  // MARK: The stream

  private var shouldStartWatch: Bool { isNetworkEnabled && !watchStream.isStarted && !listenTargets.isEmpty }

  func startWatch() {
    hasWatchAnswered = false
    fetched = FetchedTargets()
    aggregator = WatchAggregator(
      database: database, digest: configuration.digest,
      targets: .init(
        data: { [unowned self] in listenTargets[$0] }, remoteKeys: { [unowned self] in remoteKeys(of: $0) },
        hasRemoteKey: { [unowned self] in hasRemoteKey(of: $0, $1) }))
    performWatch(watchStream.start(now: configuration.monotonicTime(), random: configuration.random()))
    perform(onlineMachine.streamStarting())
  }

  /// The watch stream has opened.
  package func watchOpened(stream: Int) {
    guard stream == watchStream.connection, watchStream.state == .starting else { return }
    performWatch(watchStream.opened())
    startAwaiting()
    for id in listenTargets.keys.sorted() { if let record = listenTargets[id] { request(record) } }
  }

  /// The watch stream has closed.
  package func watchClosed(stream: Int, error: FirestoreServiceError?) {
    guard stream == watchStream.connection, watchStream.isConnected else { return }
    // A stream over a network counts as open before the service has seen it: its refusal comes as the first answer.
    let wasOpening = !watchStream.isOpen || !configuration.fetchesTargets && !hasWatchAnswered
    settleTokens()
    performWatch(watchStream.closed(error))
    aggregator = nil
    progress.end()
    outage.watchError = error
    if let error, wasOpening, isOutage(error) { failListeners(error) }
    guard shouldStartWatch else { return perform(onlineMachine.update(.unknown)) }
    perform(onlineMachine.streamFailed())
    startWatch()
  }

  /// A message of the watch stream has arrived.
  package func watchReceived(stream: Int, _ response: ListenResponse) {
    guard stream == watchStream.connection, watchStream.isOpen else { return }
    hasWatchAnswered = true
    do {
      try take(response)
    } catch {
      // Nothing of a snapshot that cannot be complete is used: the aggregator ends with its stream.
      emit(.warnMalformed(error))
      emit(.closeWatch(stream: stream))
      watchClosed(stream: stream, error: error)
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
    watchStream.resetBackoff()
    perform(onlineMachine.update(.online))
    guard case .targetChange(let change) = response else { return }
    if change.kind == .remove, let cause = change.cause { return rejectTargets(change.targetIDs, cause) }
    aggregator?.receive(change)
    raiseIfConsistent(change)
  }

  private func rejectTargets(_ ids: [Int32], _ cause: FirestoreServiceError) {
    for id in ids {
      guard let record = listenTargets.removeValue(forKey: id) else { continue }
      targetPlaces.remove(record.target)
      progress.forget(id)
      aggregator?.removeTarget(id)
      rejectTarget(id, cause)
    }
  }

  private func raiseIfConsistent(_ change: TargetChange) {
    guard change.kind == .noChange, change.targetIDs.isEmpty, let version = change.readTime, version > .zero,
      version >= local.lastRemoteSnapshotVersion, let event = aggregator?.makeEvent(version: version)
    else { return }
    progress.advance(to: event.globalToken, at: version)
    for id in event.followedTargets { progress.follow(id) }
    if progress.isStale(after: tuning.resumeTokenSeconds) { settleTokens() }
    for (id, change) in event.targetChanges where !change.resumeToken.isEmpty {
      listenTargets[id] = listenTargets[id]?.resuming(at: change.resumeToken, version: version)
    }
    for (id, purpose) in event.targetMismatches.sorted(by: { $0.key < $1.key }) {
      guard let record = listenTargets[id] else { continue }
      progress.forget(id)
      listenTargets[id] = record.resuming(at: [], version: .zero)
      requestRemoval(of: id)
      request(TargetRecord(record.target, id: id, purpose: purpose, sequenceNumber: record.sequenceNumber))
    }
    apply(event)
  }

  // MARK: Tokens

  /// Brings the record of a target up to the last global token.
  func settleToken(of id: Int32) {
    guard let record = listenTargets[id], let settled = progress.settle(id, record) else { return }
    listenTargets[id] = settled
    local.resume(id, at: settled)
  }

  /// Brings the records of all targets up to the last global token.
  func settleTokens() { for id in progress.takeAll() { settleToken(of: id) } }

  func performWatch(_ steps: [StreamMachine.Step]) {
    for step in steps {
      switch step {
      case .connect(let refreshes): emit(.openWatch(stream: watchStream.connection, refreshesTokens: refreshes))
      case .disconnect: emit(.closeWatch(stream: watchStream.connection))
      case .startTimer(let name, let seconds): emit(.startTimer(name, seconds: seconds))
      case .cancelTimer(let name): emit(.cancelTimer(name))
      }
    }
  }

  func perform(_ outcome: OnlineStateMachine.Outcome) {
    switch outcome.timer {
    case .start: emit(.startTimer(.onlineState, seconds: tuning.onlineSeconds))
    case .cancel: emit(.cancelTimer(.onlineState))
    case nil: break
    }
    if outcome.warns { emit(.warnUnreachable(outage.watchError)) }
    if let state = outcome.state { changeOnlineState(state) }
  }
}
