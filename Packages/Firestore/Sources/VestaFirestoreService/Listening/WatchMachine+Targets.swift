import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The targets of calls: requested, started, followed, refused, forgotten.
extension WatchMachine {
  /// Takes a request for a target: acknowledges it, and asks for its start unless others wait for the same one.
  ///
  /// - Parameters:
  ///   - isGuarded: Whether a guard is asked about the target.
  ///   - lookedUp: The documents that the guard looked up to allow it.
  mutating func add(
    _ target: Target, of call: CallID, in database: DatabaseName, isGuarded: Bool = false,
    lookedUp: Set<PathKey> = []
  ) -> [Action] {
    do {
      return try start(target, of: call, in: database, isGuarded, lookedUp)
    } catch {
      return refuse(target, of: call, error)
    }
  }

  /// Refuses a request for a target.
  mutating func refuse(_ target: Target, of call: CallID, _ error: FirestoreServiceError) -> [Action] {
    // The caller assumes that the id is free, so a target that had it before must not continue either.
    let end = TargetChange(.remove, targetIDs: [target.id], cause: error)
    return forget(target.id, of: call) + deliver([.targetChange(end)], to: call, withSnapshot: false)
  }

  mutating func start(
    _ target: Target, of call: CallID, in database: DatabaseName, _ isGuarded: Bool, _ lookedUp: Set<PathKey>
  ) throws(FirestoreServiceError) -> [Action] {
    let hasNoNumber = target.id == 0
    let target = try numbered(target, of: call)
    guard calls[call]?.targets[target.id] == nil else {
      throw FirestoreServiceError.refused("The target \(target.id) is listened to already.")
    }
    let request = StartRequest(
      subject: try WatchSubject(target.subject, in: database), resume: target.resume,
      expectedCount: target.expectedCount)
    let waiter = Waiter(call: call, target: target.id, once: target.once)
    var actions: [Action] = []
    var job = starts[request]
    if let job {
      waiters[job]?.waiters.append(waiter)
    } else {
      lastNumber += 1
      job = lastNumber
      starts[request] = lastNumber
      waiters[lastNumber] = (request, [waiter])
      actions.append(.begin(Job(id: lastNumber, work: .start(request, target: target.id))))
    }
    if calls[call] == nil { calls[call] = Call(held: UnreadResponses(limit: heldBytes, areHeld: true)) }
    calls[call]?.isGuarded = isGuarded
    if hasNoNumber { calls[call]?.lastAssigned = target.id }
    calls[call]?.targets[target.id] = CallTarget(
      state: .starting(job ?? lastNumber), asked: isGuarded ? target : nil)
    calls[call]?.starting.insert(target.id)
    allow(target.id, of: call, because: lookedUp)
    let acknowledged = ListenResponse.targetChange(TargetChange(.add, targetIDs: [target.id]))
    return deliver([acknowledged], to: call, withSnapshot: false) + actions
  }

  /// The target with a number: a caller may leave the choice to the machine, and then does so for all later targets.
  private func numbered(_ target: Target, of call: CallID) throws(FirestoreServiceError) -> Target {
    let last = calls[call]?.lastAssigned ?? 0
    if target.id > 0, last == 0 { return target }
    guard target.id == 0 else {
      throw FirestoreServiceError.refused(
        target.id < 0
          ? "The number of a target must be above zero."
          : "The target \(target.id) has a number, and one before it had none: the service chooses the numbers.")
    }
    var target = target
    target.id = last
    repeat {
      target.id = target.id == .max ? 1 : target.id + 1
    } while calls[call]?.targets[target.id] != nil
    return target
  }

  /// Takes a request to remove a target.
  mutating func remove(_ id: Int32, of call: CallID) -> [Action] {
    let end = ListenResponse.targetChange(TargetChange(.remove, targetIDs: [id]))
    // The responses that are held back are from before the removal of the target.
    return deliver([end], to: call, withSnapshot: false) + forget(id, of: call)
  }

  /// The subject of a start that a target waits for, and its results where others follow it.
  ///
  /// While its query runs again, no target can join: a new one would have other results than the existing ones. Nor
  /// where much is held back for a call: the first results would be held as well.
  func pending(_ job: JobID) -> (request: StartRequest, view: WatchView?, isBlocked: Bool)? {
    guard let (request, _) = waiters[job] else { return nil }
    let watch = numbers[request.subject].flatMap { watches[$0] }
    let isHeld = waiting(for: job).contains { calls[$0.call]?.held.hasRoom == false }
    return (request, watch?.view?.view, watch?.requery != nil || isHeld)
  }

  /// Moves the targets of some calls from a shared start to new ones, one for each call.
  mutating func postpone(_ job: JobID, of postponed: Set<CallID>) -> [(CallID, Job)] {
    guard !postponed.isEmpty, let (request, all) = waiters[job] else { return [] }
    let rest = all.filter { !postponed.contains($0.call) }
    waiters[job] = rest.isEmpty ? nil : (request, rest)
    if rest.isEmpty { endSharing(job, request) }
    return Dictionary(grouping: all.filter { postponed.contains($0.call) }, by: \.call).sorted { $0.key < $1.key }.map {
      lastNumber += 1
      for waiter in $1 { calls[$0]?.targets[waiter.target]?.state = .starting(lastNumber) }
      waiters[lastNumber] = (request, $1)
      return ($0, Job(id: lastNumber, work: .start(request, target: $1[0].target)))
    }
  }

  /// Lets later targets with the same request wait for a start of their own.
  private mutating func endSharing(_ job: JobID, _ request: StartRequest) {
    if starts[request] == job { starts[request] = nil }
  }

  /// Lets the targets join that have waited for a start, which is at the version of this turn.
  mutating func joined(_ job: JobID, _ start: WatchStart) -> [Action] {
    guard let (request, waiters) = waiters.removeValue(forKey: job), let version else { return [] }
    endSharing(job, request)
    var made: [Int32: [ListenResponse]] = [:]
    var actions: [Action] = []
    for waiter in waiters {
      let id = waiter.target
      var responses = made[id] ?? start.responses(for: id)
      made[id] = responses
      let current = TargetChange(
        .current, targetIDs: [id], resumeToken: ResumeToken.encode(version), readTime: Timestamp(microseconds: version))
      responses.append(.targetChange(current))
      calls[waiter.call]?.starting.remove(id)
      actions += deliver(responses, to: waiter.call, withSnapshot: true)
      if waiter.once {
        let end = ListenResponse.targetChange(TargetChange(.remove, targetIDs: [id]))
        actions += deliver([end], to: waiter.call, withSnapshot: false)
        drop(id, of: waiter.call)
      } else if calls[waiter.call] != nil {
        follow(waiter, start)
      }
    }
    return actions
  }

  /// Ends the targets that have waited for a start which failed.
  mutating func refused(_ job: JobID, _ error: FirestoreServiceError) -> [Action] {
    guard let (request, waiters) = waiters.removeValue(forKey: job) else { return [] }
    endSharing(job, request)
    return waiters.flatMap { waiter in
      drop(waiter.target, of: waiter.call)
      let end = TargetChange(.remove, targetIDs: [waiter.target], cause: error)
      return deliver([.targetChange(end)], to: waiter.call, withSnapshot: false)
    }
  }

  mutating func follow(_ waiter: Waiter, _ start: WatchStart) {
    let number: WatchID
    let subject = start.request.subject
    if let known = numbers[subject] {
      number = known
    } else {
      lastNumber += 1
      number = lastNumber
      watches[number] = Watch(subject: subject, view: start.limited)
      numbers[subject] = number
      index.insert(number, subject)
    }
    watches[number]?.add(waiter.target, of: waiter.call)
    calls[waiter.call]?.targets[waiter.target]?.state = .following(number)
  }

  /// Forgets a target; nothing happens when it is not there.
  mutating func forget(_ id: Int32, of call: CallID) -> [Action] {
    switch drop(id, of: call)?.state {
    case nil: return []
    case .starting(let job):
      waiters[job]?.waiters.removeAll { $0.call == call && $0.target == id }
      guard let (request, rest) = waiters[job], rest.isEmpty else { return [] }
      waiters[job] = nil
      endSharing(job, request)
      return [.cancel(job)]
    case .following(let number): return unfollow(number, id, of: call)
    }
  }

  /// Takes a target out of its call.
  @discardableResult
  mutating func drop(_ id: Int32, of call: CallID) -> CallTarget? {
    lookups.remove(LookupIndex.Place(call: call, target: id))
    calls[call]?.starting.remove(id)
    return calls[call]?.targets.removeValue(forKey: id)
  }

  mutating func unfollow(_ number: WatchID, _ id: Int32, of call: CallID) -> [Action] {
    watches[number]?.members[call]?.removeAll { $0 == id }
    var actions: [Action] = []
    if watches[number]?.members[call]?.isEmpty == true {
      watches[number]?.members[call] = nil
      if calls[call]?.stale.remove(number) != nil { actions += release(call) }
    }
    guard let watch = watches[number], watch.members.isEmpty else { return actions }
    if let requery = watch.requery { actions.append(.cancel(requery)) }
    index.remove(number, watch.subject)
    numbers[watch.subject] = nil
    watches[number] = nil
    return actions
  }

  /// Forgets a call.
  mutating func ended(_ call: CallID) -> [Action] {
    calls[call]?.stale = []
    _ = calls[call]?.held.take()
    let actions = (calls[call]?.targets.keys.map(\.self) ?? []).flatMap { forget($0, of: call) }
    calls[call] = nil
    return actions
  }

  // MARK: Targets that a guard is asked about

  /// The targets that a guard is asked about.
  var guardedTargets: [(call: CallID, target: Target)] {
    calls.flatMap { call, state in state.targets.values.compactMap { $0.asked.map { (call, $0) } } }
  }

  /// The targets that wait for a start.
  func waiting(for job: JobID) -> [(call: CallID, target: Int32)] {
    waiters[job]?.waiters.map { ($0.call, $0.target) } ?? []
  }

  /// The targets that follow a changed document by its name, in the order of their calls.
  func followers(ofDocument change: WatchChange) -> [(call: CallID, target: Int32)] {
    index.candidates(change.pathKey, change.path, change.states).flatMap { number in
      guard let watch = watches[number], watch.subject.isDocuments else { return [] as [(CallID, Int32)] }
      return watch.members.sorted { $0.key < $1.key }.flatMap { call, ids in ids.map { (call, $0) } }
    }
  }

  /// The targets of queries for which the guard looked up a document that has changed.
  func dependants(on changes: [WatchChange]) -> [(call: CallID, target: Target)] {
    lookups.places(of: changes.lazy.map(\.pathKey)).compactMap { place in
      calls[place.call]?.targets[place.target]?.asked.map { (place.call, $0) }
    }
  }

  /// Notes the documents that a guard looked up to allow a target.
  mutating func allow(_ id: Int32, of call: CallID, because lookedUp: Set<PathKey>) {
    guard calls[call]?.targets[id] != nil else { return }
    lookups.set(lookedUp, for: LookupIndex.Place(call: call, target: id))
  }

  /// Ends a target that its caller may not have, and no other.
  mutating func deny(_ id: Int32, of call: CallID, _ error: FirestoreServiceError) -> [Action] {
    guard calls[call]?.targets[id] != nil else { return [] }
    let end = ListenResponse.targetChange(TargetChange(.remove, targetIDs: [id], cause: error))
    return forget(id, of: call) + deliver([end], to: call, withSnapshot: false)
  }
}
