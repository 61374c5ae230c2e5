package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The sync core as the write link sees it: who takes the answers to batches.
protocol WriteLinkOwner: AnyObject {
  /// Takes the acknowledgement of the oldest batch that was sent.
  func acknowledge(_ answer: BatchAcknowledgement)
  /// Takes the refusal of the oldest batch that was sent.
  func reject(_ batch: MutationBatch, _ error: FirestoreServiceError)
  /// Fails all callers that wait for pending writes with an error; the writes stay pending.
  func failCallers(_ error: FirestoreServiceError)
}

/// The write side of the backend: a few batches under way, in the order of the queue.
///
/// A batch is *queued* in the cache, then *in the pipeline*, then *sent*: when the stream has shaken hands, and again
/// by each new stream, until it is answered. The stream runs while the network is enabled and the pipeline has batches;
/// its states are `StreamMachine`'s, and `Outage` says why writes wait.
///
/// Worked example: batch 1 is queued. `fill`: `.openWrite`. `opened`: `.shakeHands`. The first answer brings the token:
/// `.write(batch 1)`. The stream breaks: `.warnStalled`, and the stream begins again after a pause, with the handshake
/// and batch 1 under its old identifier. Its answer arrives: the owner takes the acknowledgement, and the pipeline gets
/// the next batch of the queue.
package final class WriteLink {
  private let configuration: ClientMachine.Configuration
  private let cache: ClientCache
  private let actions: ClientActions
  /// Set by the owner, which outlives the link.
  unowned var owner: (any WriteLinkOwner)?

  /// The batches that were sent or are about to be.
  package private(set) var pipeline: [MutationBatch] = []
  private(set) var stream: StreamMachine
  private(set) var hasShakenHands = false
  private var token: [UInt8] = []
  private var outage = Outage()
  private var isEnabled = false

  init(_ configuration: ClientMachine.Configuration, _ cache: ClientCache, _ actions: ClientActions) {
    self.configuration = configuration
    self.cache = cache
    self.actions = actions
    let tuning = configuration.tuning
    stream = StreamMachine(.write, tuning, pauses: configuration.link.pauses(tuning))
  }

  /// Whether the writes of an embedded client have rows, because its engine does not take them.
  var isStalled: Bool { outage.isStalled }

  // MARK: The network

  /// Begins to use the network.
  func enable() {
    isEnabled = true
    token = cache.local.queue.streamToken
    fill()
  }

  /// Ends the stream; unanswered batches are sent again by the next one.
  func stop() {
    isEnabled = false
    perform(stream.stop())
    hasShakenHands = false
    pipeline = []
  }

  /// Makes the next start immediate.
  func inhibitBackoff() { stream.inhibitBackoff() }

  // MARK: Batches

  /// Sends the batches of the queue, as far as the pipeline has room.
  func fill() {
    while isEnabled, pipeline.count < max(1, configuration.tuning.pipelineLimit) {
      guard let batch = cache.local.queue.batch(after: pipeline.last?.id ?? 0) else {
        if pipeline.isEmpty { perform(stream.markIdle()) }
        break
      }
      pipeline.append(batch)
      if stream.isOpen, hasShakenHands { send(batch) }
    }
    if shouldStart { start() }
  }

  private func send(_ batch: MutationBatch) {
    perform(stream.sending())
    actions.emit(.write(stream: stream.connection, batch, token: token))
  }

  /// A caller has arrived while the backend is known to take no writes: an engine in the process is tried at once, and
  /// of another backend the caller gets the error that it had for others.
  func retryAfterOutage() {
    guard let error = outage.reported, isEnabled else { return }
    if configuration.link.triesForCallers { perform(stream.backoffEnded()) } else { failCallers(error) }
  }

  // MARK: The stream

  private var shouldStart: Bool { isEnabled && !stream.isStarted && !pipeline.isEmpty }

  private func start() {
    hasShakenHands = false
    perform(stream.start(now: configuration.time(), random: configuration.random()))
  }

  /// The stream has opened.
  package func opened(stream number: Int) {
    guard number == stream.connection, stream.state == .starting else { return }
    perform(stream.opened())
    actions.emit(.shakeHands(stream: number))
  }

  /// The stream has answered: first the handshake, then each batch.
  package func received(stream number: Int, _ response: WriteResponse) {
    guard number == stream.connection, stream.isOpen else { return }
    token = response.streamToken
    guard hasShakenHands else {
      hasShakenHands = true
      cache.local.shown.writes.keepStreamToken(token)
      for batch in pipeline { send(batch) }
      return
    }
    stream.resetBackoff()
    outage.end()
    cache.local.shown.writes.keepStreamToken(token)
    guard !pipeline.isEmpty else { return }
    take(response, of: pipeline.removeFirst())
    fill()
  }

  private func take(_ response: WriteResponse, of batch: MutationBatch) {
    let results = response.writeResults
    if let answer = BatchAcknowledgement(batch, commitTime: response.commitTime ?? .zero, results: results) {
      owner?.acknowledge(answer)
    } else {
      let message = "The backend sent \(results.count) results for \(batch.mutations.count) writes."
      owner?.reject(batch, FirestoreServiceError(.internal, message))
    }
  }

  /// The stream has closed.
  package func closed(stream number: Int, error: FirestoreServiceError?) {
    guard number == stream.connection, stream.isConnected else { return }
    let hadShakenHands = hasShakenHands
    perform(stream.closed(error))
    hasShakenHands = false
    if let error, !pipeline.isEmpty { handle(error, afterHandshake: hadShakenHands) }
    if shouldStart { start() }
  }

  private func handle(_ error: FirestoreServiceError, afterHandshake: Bool) {
    let isRefusal = afterHandshake && error.code.isRefusal && !configuration.link.isOutageOfEngine(error)
    if !isRefusal { stall(error, afterHandshake: afterHandshake) }
    guard error.code.isPermanent else { return }
    guard afterHandshake else {
      token = []
      return cache.local.shown.writes.keepStreamToken([])
    }
    guard isRefusal else { return }
    let batch = pipeline.removeFirst()
    stream.inhibitBackoff()
    owner?.reject(batch, error)
    fill()
  }

  /// A timer of the link has fired.
  func timerFired(_ name: TimerName) {
    switch name {
    case .writeBackoff: perform(stream.backoffEnded())
    case .writeIdle:
      guard stream.isOpen, pipeline.isEmpty else { return }
      perform(stream.stop())
      hasShakenHands = false
    case .writeHealth: stream.becomeHealthy()
    default: break
    }
  }

  // MARK: Outages

  /// Notes that writes wait after a failure.
  private func stall(_ error: FirestoreServiceError, afterHandshake: Bool) {
    let wasStalled = outage.isStalled
    if outage.stall(error) { actions.emit(.warnStalled(error)) }
    if cache.rows == .pendingWrites, !wasStalled {
      cache.noteAllBatches()
      actions.emit(.keepWrites)
    }
    let isForGood = configuration.link.isOutageOfWrites(
      error, afterHandshake: afterHandshake, hasToken: !token.isEmpty)
    if isForGood { failCallers(error) }
  }

  private func failCallers(_ error: FirestoreServiceError) {
    outage.report(error)
    owner?.failCallers(error)
  }

  // MARK: Steps

  private func perform(_ steps: [StreamMachine.Step]) {
    for step in steps {
      switch step {
      case .connect(let refreshes): actions.emit(.openWrite(stream: stream.connection, refreshesTokens: refreshes))
      case .disconnect: actions.emit(.closeWrite(stream: stream.connection, token: hasShakenHands ? token : nil))
      case .startTimer(let name, let seconds): actions.emit(.startTimer(name, seconds: seconds))
      case .cancelTimer(let name): actions.emit(.cancelTimer(name))
      }
    }
  }
}
