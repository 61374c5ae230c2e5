import VestaFirestoreBackend

/// Starts that are made in the turn of their request, because they take less time than a task for them.
///
/// Worked example: a call adds a target of one document. The machine acknowledges it and asks for its start; the turn
/// reads the document, and the call is sent one batch: the acknowledgement, the document, and a snapshot. For a target
/// of a query the call is sent the acknowledgement, and a job finds the results.
extension WatchHub {
  /// Performs the actions for a new target, and its start if that is short.
  func perform(
    _ actions: [WatchMachine.Action], of call: WatchMachine.CallID, _ machine: inout WatchMachine,
    _ jobs: inout JobQueue, _ snapshot: Snapshot
  ) async {
    guard case .begin(let job)? = actions.last, case .start(let request, _) = job.work,
      request.isShort(at: snapshot.version, documents: options.tuning.listening.documentsInTurn),
      openCall(call)?.mailbox.hasRoom() == true, jobs.takesStart(upTo: options.tuning.listening.startsInTurn)
    else { return perform(actions, &jobs) }
    var ready = Array(actions.dropLast())
    do {
      let start = try await WatchStart(request, in: snapshot, digest: options.md5, now: options.now())
      if gatekeeper != nil {
        // A refusal follows the acknowledgement.
        perform(ready, &jobs)
        ready = []
        try await ask(about: start, of: job.id, &machine, &jobs, snapshot)
      }
      ready += machine.joined(job.id, start)
    } catch {
      ready += machine.refused(job.id, failure(error))
    }
    perform(ready, &jobs)
  }

  /// Postpones a start for the calls that have not read what was sent before: the results are dropped, and found again
  /// when there is room.
  ///
  /// So one first result at most waits for a client that does not read.
  func postpone(_ job: WatchMachine.JobID, _ machine: inout WatchMachine, _ jobs: inout JobQueue) {
    let calls = openCalls
    let full = Set(machine.waiting(for: job).lazy.map(\.call).filter { calls[$0]?.mailbox.hasRoom() == false })
    for (call, job) in machine.postpone(job, of: full) { jobs.postpone(job, for: call) }
  }

  /// Begins starts that were postponed, for the calls that have room now.
  func beginPostponed(_ jobs: inout JobQueue) {
    for call in jobs.takePostponedCalls() {
      let hasRoom = openCall(call)?.mailbox.hasRoom { [weak self] in self?.noteReading(of: call) }
      if hasRoom == true { jobs.beginPostponed(for: call) }
    }
  }
}
