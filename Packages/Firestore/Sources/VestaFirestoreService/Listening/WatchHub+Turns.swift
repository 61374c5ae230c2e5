import VestaCore
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// A turn: brings all targets to one version of the store, then serves the events in order.
extension WatchHub {
  /// - Returns: Whether the listeners can still be served.
  func takeTurn(_ events: [Event], _ resting: inout Serving?, _ run: Int) async -> Bool {
    guard var serving = resting.take() else { return false }
    defer { resting = serving }
    serving.jobs.beginTurn()
    do {
      if events.contains(where: \.isTick) { serving.floor = try await store.raiseFloor(to: nil).microseconds }
      let floor = serving.floor
      try await read { try await self.advanceAndServe(events, &serving.machine, &serving.jobs, $0.later(floor)) }
      return true
    } catch {
      if isServing(run) { close(failure(error)) }
      return false
    }
  }

  private func advanceAndServe(
    _ events: [Event], _ machine: inout WatchMachine, _ jobs: inout JobQueue, _ snapshot: Snapshot
  ) async throws {
    // Nothing is read for callers that have left.
    for event in events where event.isEnd { try await serve(event, &machine, &jobs, snapshot) }
    // Before the changes: documents that the rules deny now are not sent.
    if events.contains(where: \.isRulesChange) { await askAgain(&machine, &jobs, snapshot) }
    try await advance(&machine, &jobs, to: snapshot)
    for event in events where !event.isEnd { try await serve(event, &machine, &jobs, snapshot) }
    beginPostponed(&jobs)
  }

  private func advance(_ machine: inout WatchMachine, _ jobs: inout JobQueue, to snapshot: Snapshot) async throws {
    var changes: [WatchChange] = []
    if let version = machine.version, version < snapshot.version, machine.isFollowing {
      guard version >= (try await snapshot.prunedHorizon()) else {
        throw FirestoreServiceError(.unavailable, "The listeners have too many commits to catch up with; listen again.")
      }
      changes = try await WatchChange.all(
        after: version, .everything, in: snapshot, between: options.tuning.listening.betweenBytes)
    }
    for case let (name, failure?) in changes.map({ ($0.name, $0.failure) }) {
      log.error("I-FSS000008", "The listeners of \(name) have been ended: \(failure)")
    }
    if gatekeeper != nil { await ask(about: changes, &machine, &jobs, snapshot) }
    perform(machine.committed(changes, at: snapshot.version), &jobs)
  }

  private func serve(
    _ event: Event, _ machine: inout WatchMachine, _ jobs: inout JobQueue, _ snapshot: Snapshot
  ) async throws {
    switch event {
    case .tick, .rulesChanged: return
    case .hasRead(let call): jobs.noteReading(of: call)
    case .end(let call): perform(machine.ended(call), &jobs)
    case .request(.removeTarget(let id), let call): perform(machine.remove(id, of: call), &jobs)
    case .request(.addTarget(let target), let call):
      guard let open = openCall(call) else { return }
      let lookedUp = LookedUp()
      if let guarded = open.guarded, let denial = await denial(of: target, guarded, snapshot, lookedUp) {
        return perform(machine.refuse(target, of: call, denial), &jobs)
      }
      let actions = machine.add(
        target, of: call, in: name, isGuarded: open.guarded != nil, lookedUp: lookedUp.pathKeys)
      await perform(actions, of: call, &machine, &jobs, snapshot)
    case .started(let job, .failure(let error)):
      perform(machine.refused(job, error), &jobs)
      jobs.end(job)
    case .started(let job, .success(var start)):
      postpone(job, &machine, &jobs)
      if let (_, view, isBlocked) = machine.pending(job) {
        if isBlocked { return jobs.again(job) }
        do {
          guard try await start.advance(to: snapshot, view: view, asking: false) else { return jobs.again(job) }
          if gatekeeper != nil { try await ask(about: start, of: job, &machine, &jobs, snapshot) }
          perform(machine.joined(job, start), &jobs)
        } catch let error as FirestoreServiceError {
          // A document of this target that cannot be read stops no other.
          perform(machine.refused(job, error), &jobs)
        }
      }
      jobs.end(job)
    case .answered(let job, let watch, let result):
      jobs.end(job)
      try await takeAnswer(result, of: job, watch, &machine, &jobs, snapshot)
    }
  }

  /// Brings the answer of a limited query to the version of the turn.
  ///
  /// An answer that is out of date is requested once more outside the turns, in which all calls of the database would
  /// wait.
  private func takeAnswer(
    _ result: Result<LimitedAnswer, FirestoreServiceError>, of job: WatchMachine.JobID, _ watch: WatchMachine.WatchID,
    _ machine: inout WatchMachine, _ jobs: inout JobQueue, _ snapshot: Snapshot
  ) async throws {
    guard let (subject, known, attempts) = machine.known(watch, for: job) else { return }
    do {
      var answer = try result.get()
      if try await !answer.advance(to: snapshot, subject) {
        guard attempts >= options.tuning.listening.requeries, answer.limited?.hasSpare == false else {
          return perform(machine.missed(watch), &jobs)
        }
        answer.limited = try await subject.limitedView(in: snapshot)
      }
      let facts = try await (answer.limited?.view ?? [:]).facts(since: known, in: snapshot)
      perform(machine.answered(watch, answer.limited, facts), &jobs)
    } catch let error as FirestoreServiceError {
      perform(machine.failed(watch, error), &jobs)
    }
  }
}
