package import VestaFirestoreBackend
import VestaFirestoreModel

/// The write side of the remote store: a few batches under way, in the order of the queue.
extension ClientMachine {
  func fillPipeline() {
    while isNetworkEnabled, pipeline.count < max(1, tuning.pipelineLimit) {
      guard let batch = local.queue.batch(after: pipeline.last?.id ?? 0) else {
        if pipeline.isEmpty { performWrite(writeStream.markIdle()) }
        break
      }
      pipeline.append(batch)
      if writeStream.isOpen, hasShakenHands { send(batch) }
    }
    if shouldStartWrite { startWrite() }
  }

  private func send(_ batch: MutationBatch) {
    performWrite(writeStream.sending())
    emit(.write(stream: writeStream.connection, batch, token: writeToken))
  }

  private var shouldStartWrite: Bool { isNetworkEnabled && !writeStream.isStarted && !pipeline.isEmpty }

  private func startWrite() {
    hasShakenHands = false
    performWrite(writeStream.start(now: configuration.monotonicTime(), random: configuration.random()))
  }

  /// The write stream has opened.
  package func writeOpened(stream: Int) {
    guard stream == writeStream.connection, writeStream.state == .starting else { return }
    performWrite(writeStream.opened())
    emit(.shakeHands(stream: stream))
  }

  /// The write stream has answered: first the handshake, then each batch.
  package func writeReceived(stream: Int, _ response: WriteResponse) {
    guard stream == writeStream.connection, writeStream.isOpen else { return }
    writeToken = response.streamToken
    guard hasShakenHands else {
      hasShakenHands = true
      local.keepStreamToken(writeToken)
      for batch in pipeline { send(batch) }
      return
    }
    writeStream.resetBackoff()
    outage.end()
    local.keepStreamToken(writeToken)
    guard !pipeline.isEmpty else { return }
    let batch = pipeline.removeFirst()
    if let answer = BatchAcknowledgement(
      batch, commitTime: response.commitTime ?? .zero, results: response.writeResults)
    {
      acknowledge(answer)
    } else {
      let count = response.writeResults.count
      reject(
        batch,
        FirestoreServiceError(.internal, "The backend sent \(count) results for \(batch.mutations.count) writes."))
    }
    fillPipeline()
  }

  /// The write stream has closed.
  package func writeClosed(stream: Int, error: FirestoreServiceError?) {
    guard stream == writeStream.connection, writeStream.isConnected else { return }
    let hadShakenHands = hasShakenHands
    performWrite(writeStream.closed(error))
    hasShakenHands = false
    if let error, !pipeline.isEmpty { handle(error, afterHandshake: hadShakenHands) }
    if shouldStartWrite { startWrite() }
  }

  private func handle(_ error: FirestoreServiceError, afterHandshake: Bool) {
    let isRefusal = afterHandshake && error.code.isRefusal && !isOutageOfEngine(error)
    if !isRefusal { stall(error, afterHandshake: afterHandshake) }
    guard error.code.isPermanent else { return }
    guard afterHandshake else {
      writeToken = []
      return local.keepStreamToken([])
    }
    guard isRefusal else { return }
    let batch = pipeline.removeFirst()
    writeStream.inhibitBackoff()
    reject(batch, error)
    fillPipeline()
  }

  // MARK: Network

  /// Begins what a client does by itself.
  package func start() {
    if case .leastRecentlyUsed(bytes: _?) = local.policy {
      emit(.startTimer(.garbageCollection, seconds: tuning.firstGarbageSeconds))
    }
  }

  /// Begins to use the network.
  package func enableNetwork() {
    guard !isNetworkEnabled else { return }
    isNetworkEnabled = true
    writeToken = local.queue.streamToken
    if !listenTargets.isEmpty, !watchStream.isStarted { startWatch() } else { perform(onlineMachine.update(.unknown)) }
    fillPipeline()
  }

  /// Stops using the network: listeners get snapshots from the cache, and writes wait.
  package func disableNetwork() {
    isNetworkEnabled = false
    if configuration.keepsOnlyPendingWrites { local.noteAllBatches() }
    stopStreams()
    perform(onlineMachine.update(.offline))
  }

  /// Ends everything; rows are made of the writes that are pending.
  package func shutDown() {
    isNetworkEnabled = false
    if configuration.keepsOnlyPendingWrites { local.noteAllBatches() }
    stopStreams()
    perform(onlineMachine.update(.unknown))
  }

  /// The network of the machine is another one: connections may be dead without a sign, and pauses are over.
  package func networkChanged() { restartNetwork() }

  func restartNetwork() {
    guard isNetworkEnabled else { return }
    isNetworkEnabled = false
    stopStreams()
    perform(onlineMachine.update(.unknown))
    watchStream.inhibitBackoff()
    writeStream.inhibitBackoff()
    enableNetwork()
  }

  private func stopStreams() {
    settleTokens()
    progress.end()
    performWatch(watchStream.stop())
    performWrite(writeStream.stop())
    hasShakenHands = false
    aggregator = nil
    pipeline = []
  }

  // MARK: Timers

  /// A timer has fired.
  package func timerFired(_ name: TimerName) {
    switch name {
    case .onlineState: perform(onlineMachine.timerFired())
    case .watchBackoff: performWatch(watchStream.backoffEnded())
    case .writeBackoff: performWrite(writeStream.backoffEnded())
    case .awaited: awaitedTimerFired()
    case .watchFollow: if watchStream.isOpen { followFetched() }
    case .watchIdle: if watchStream.isOpen, listenTargets.isEmpty { performWatch(watchStream.stop()) }
    case .writeIdle:
      if writeStream.isOpen, pipeline.isEmpty {
        performWrite(writeStream.stop())
        hasShakenHands = false
      }
    case .watchHealth: watchStream.becomeHealthy()
    case .writeHealth: writeStream.becomeHealthy()
    case .garbageCollection:
      guard case .leastRecentlyUsed(let bytes?) = local.policy else { return }
      _ = collectGarbage(
        threshold: bytes, percentile: tuning.garbagePercentile, maximum: tuning.garbageMaximum,
        rounds: tuning.garbageRounds)
      emit(.startTimer(.garbageCollection, seconds: tuning.garbageSeconds))
    }
  }

  func performWrite(_ steps: [StreamMachine.Step]) {
    for step in steps {
      switch step {
      case .connect(let refreshes): emit(.openWrite(stream: writeStream.connection, refreshesTokens: refreshes))
      case .disconnect:
        emit(.closeWrite(stream: writeStream.connection, token: hasShakenHands ? writeToken : nil))
      case .startTimer(let name, let seconds): emit(.startTimer(name, seconds: seconds))
      case .cancelTimer(let name): emit(.cancelTimer(name))
      }
    }
  }
}
