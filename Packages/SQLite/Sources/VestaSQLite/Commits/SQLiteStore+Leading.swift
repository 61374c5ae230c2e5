import VestaConcurrency
import VestaStoreInterop

/// Group commit: the task that finds the turn free leads, and serves requests that arrive in the meantime within its
/// commit.
///
/// Example: task 1 finds the turn free and runs body A on its own thread. During that tasks 2 and 3 ask; they wait.
/// When A has returned, task 1 takes B and C from the queue and runs them too, each in a savepoint, commits once, sends
/// three versions to the observers, resumes tasks 2 and 3 with their outcomes, and passes the turn on to a task that
/// waits then.
extension SQLiteStore {
  /// Leads if the turn is free, or waits to be served or to lead.
  func submit(_ request: WriteRequest) async -> WriteOutcome {
    switch turns.withLock({ $0.queue.tryToLead() }) {
    case .lead: return await lead(request)
    case .closed: return .failure(StoreError(.closed, operation: "write", path: path))
    case .wait, .cancelled: break
    }
    do {
      let call = try await bodies.whileWaiting("write", path: path) {
        await withCheckedContinuation { continuation in
          enqueue(.init(request: request) { continuation.resume(returning: $0) })
        }
      }
      switch call {
      case .lead: return await lead(request)
      case .done(let outcome): return outcome
      }
    } catch {
      return .failure(error)
    }
  }

  private func enqueue(_ waiter: WriteQueue.Waiter) {
    switch turns.withLock({ $0.queue.enter(waiter) }) {
    case .wait: break
    case .lead: waiter.resume(.lead)
    case .cancelled: waiter.resume(.done(.failure(CancellationError())))
    case .closed: waiter.resume(.done(.failure(StoreError(.closed, operation: "write", path: path))))
    }
  }

  func cancel(_ request: WriteRequest) {
    request.cancel()
    let waiter = turns.withLock { $0.queue.remove(request) }
    waiter?.resume(.done(.failure(CancellationError())))
  }

  /// A member of a commit, with the outcome if the commit succeeds.
  private struct Member {
    let request: WriteRequest
    let resume: (@Sendable (WriteQueue.Call) -> Void)?
    var outcome = WriteOutcome.failure(CancellationError())

    var foundNoRoom: Bool {
      guard case .failure(let error) = outcome else { return false }
      return StoreError.Code.diskFull ~= error
    }
  }

  /// Runs the leader's and the waiting bodies, commits them together, resumes their tasks, and passes the turn on.
  private func lead(_ own: WriteRequest) async -> WriteOutcome {
    if let work = own.maintenance { return await maintain(work) }
    var members = [Member(request: own, resume: nil)]
    var ownOutcome = WriteOutcome.failure(CancellationError())
    // Waiting requests are taken once; later rounds rerun the bodies that lost their commit to another's failure.
    var takesMore = true
    // Members that make room, and found none to do so.
    var short: [Member] = []
    var isFull = false
    func end(_ member: Member) {
      if let resume = member.resume { resume(.done(member.outcome)) } else { ownOutcome = member.outcome }
    }
    while !members.isEmpty {
      var again: [Member] = []
      for member in await commit(members, takesMore: takesMore, again: &again) {
        if member.foundNoRoom { isFull = true }
        if member.foundNoRoom, member.request.freesRoom { short.append(member) } else { end(member) }
      }
      takesMore = false
      members = again
    }
    if isFull { writer.noteFullDisk() }
    // Later commits find room at the beginning of the log, if not behind it.
    if writer.isShortOfRoom {
      await writer.startLogOver(patience: short.isEmpty ? .zero : tuning.logPatience)
    }
    for member in short { await makeRoom(member).forEach(end) }
    await writer.keepLogShort()
    if !isFull { writer.reserve.fill() }
    passOn()
    return ownOutcome
  }

  /// Runs a member that makes room, with the reserve.
  private func makeRoom(_ member: Member) async -> [Member] {
    var again: [Member] = []
    let done = await writer.reserve.lend { await commit([member], takesMore: false, again: &again) }
    await writer.startLogOver(patience: .zero)
    return done + again
  }

  /// Does something with the writer outside of any transaction, and passes the turn on.
  private func maintain(_ work: WriteRequest.Maintenance) async -> WriteOutcome {
    defer { passOn() }
    do {
      try await work(writer)
      return .success(writer.version)
    } catch {
      return .failure(error)
    }
  }

  /// Takes the turn for something that is not a transaction, and waits for it like any writer.
  func withExclusiveTurn(_ operation: String, _ work: @escaping WriteRequest.Maintenance) async throws {
    try Task.checkCancellation()
    try bodies.refuseInside(nil, operation, path: path)
    let request = WriteRequest.maintaining(work)
    let outcome = await withTaskCancellationHandler {
      await submit(request)
    } onCancel: {
      cancel(request)
    }
    _ = try outcome.get()
  }

  /// Runs members and waiting requests in one commit.
  ///
  /// - Parameter again: Gets the members to run again, without the one whose failure took the commit from them.
  /// - Returns: The other members, with their final outcomes.
  private func commit(_ members: [Member], takesMore: Bool, again: inout [Member]) async -> [Member] {
    var group = CommitGroup(writer, bodies: bodies, versions: versions)
    var ready: [Member] = []
    // Bodies that saw, or would see, the cancellation of this task; they wait for another leader.
    var disturbed: [Member] = []
    for var member in members {
      if group.loss == nil, disturbed.isEmpty { member.outcome = await group.run(member.request) }
      if isDisturbed(member) { disturbed.append(member) } else { ready.append(member) }
    }
    while takesMore, group.loss == nil, group.count < tuning.groupLimit, let next = takeNext() {
      var member = Member(request: next.request, resume: next.resume)
      member.outcome = await group.run(next.request)
      if isDisturbed(member) {
        disturbed.append(member)
        break
      }
      ready.append(member)
    }
    for member in disturbed.reversed() { putBack(member) }
    let bodyFailed = group.loss != nil
    let loss = group.commit { try files.checkInPlace(ifNotWithin: tuning.placeCheckInterval, writer) }
    versions.settle()
    guard let loss else {
      floors.withLock { $0.durable = max($0.durable, writer.floor) }
      for version in group.committed { commitNotifications.emit(version) }
      return ready
    }
    return share(loss, among: ready, ranCount: group.count, bodyFailed: bodyFailed, again: &again)
  }

  /// Gives the failure of a group to those it belongs to.
  ///
  /// - Parameters:
  ///   - bodyFailed: Whether a body brought the group down: the last one that ran. Who has succeeded before it, or has
  ///     not run, is innocent and runs again. Otherwise the commit itself failed, which is a failure of all.
  private func share(
    _ loss: StoreError, among ready: [Member], ranCount: Int, bodyFailed: Bool, again: inout [Member]
  ) -> [Member] {
    var done: [Member] = []
    for (index, var member) in ready.enumerated() {
      guard case .success = member.outcome else {
        if index < ranCount { done.append(member) } else { again.append(member) }
        continue
      }
      if bodyFailed {
        again.append(member)
      } else {
        member.outcome = .failure(loss)
        done.append(member)
      }
    }
    return done
  }

  /// The next body to serve.
  ///
  /// None while this task is cancelled, as the body's own calls would notice it, and none inside a transaction of
  /// another store, as the body would seem to be inside it too.
  private func takeNext() -> WriteQueue.Waiter? {
    if Task.isCancelled || StoreBodies.isInsideTransaction { return nil }
    return turns.withLock { $0.queue.takeNextBody() }
  }

  /// Lets one wait again that was disturbed, in front of the others.
  private func putBack(_ member: Member) {
    guard let resume = member.resume else { return }
    let error: (any Error)? = turns.withLock { turns in
      if member.request.hasBeenCancelled { return CancellationError() }
      let waiter = WriteQueue.Waiter(request: member.request, resume: resume)
      return turns.queue.putBack(waiter) ? nil : StoreError(.closed, operation: "write", path: path)
    }
    if let error { resume(.done(.failure(error))) }
  }

  /// Whether a body was cut short by the cancellation of the leader, which is no business of its caller.
  private func isDisturbed(_ member: Member) -> Bool {
    guard member.resume != nil, case .failure(let error) = member.outcome, error is CancellationError else {
      return false
    }
    return Task.isCancelled && !member.request.hasBeenCancelled
  }

  private func passOn() {
    let (next, idle): (WriteQueue.Waiter?, Waiters) = turns.withLock { turns in
      let next = turns.queue.passOn()
      return (next, turns.queue.isIdle ? turns.whenIdle.takeAll() : Waiters())
    }
    next?.resume(.lead)
    idle.resume()
  }
}
