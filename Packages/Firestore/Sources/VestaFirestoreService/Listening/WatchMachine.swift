import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Decides what each listen call is sent: events in, actions out, without a store, a task or a clock.
///
/// All targets that are followed are at one version. A turn brings them to the next one: what was changed is matched
/// with the subjects it may concern, and each call that is concerned gets its documents and one global snapshot.
///
/// A target is in one of these states:
/// - *starting*: its start is being worked out (`.start`). `joined` makes it *followed*, `refused` ends it.
/// - *followed*: changes are sent as they happen.
/// - *running again*: a limited query lost a result and only the store knows what takes its place (`.requery`).
///   `answered` makes it *followed* again, `failed` ends it. Until then all responses of its calls are held back, so
///   that no call sees a global snapshot with a target missing; all other calls continue.
///
/// Example: two calls follow a chat, and the second also follows the ten best scores. A commit deletes the best score:
/// `committed` returns `.requery` for the scores, and sends nothing. A message is added: the first call gets it with a
/// snapshot, for the second it is held. After `answered` the second call gets the message, the removed score,
/// the score that is new, and one global snapshot.
struct WatchMachine {
  typealias CallID = WatchCallID
  typealias WatchID = Int
  typealias JobID = Int

  /// Work that reads the store, outside the turns.
  struct Job: Sendable {
    enum Work: Sendable {
      /// Works out a start; the first target that waits for it.
      case start(StartRequest, target: Int32)
      /// Runs a limited query again.
      case requery(WatchID, WatchSubject)
    }

    let id: JobID
    let work: Work
    /// The number of attempts whose result was out of date.
    var attempts = 0
  }

  enum Action: Sendable {
    case send(CallID, [ListenResponse])
    case begin(Job)
    case cancel(JobID)
    /// Ends a call, which the machine has forgotten.
    case end(CallID, FirestoreServiceError)
  }

  private struct Watch {
    var subject: WatchSubject
    /// The targets that follow it, by call.
    var members: [CallID: [Int32]] = [:]
    /// The results; kept where they depend on other documents.
    var view: LimitedView?
    /// The job that runs the query again.
    var requery: JobID?
    /// The number of answers that were out of date.
    var attempts = 0
  }

  private struct Waiter: Sendable {
    var call: CallID
    var target: Int32
    var once: Bool
  }

  private enum TargetState {
    case starting(JobID)
    case following(WatchID)
  }

  private struct CallTarget {
    var state: TargetState
    /// The target as it was sent, where a guard is asked about it.
    var asked: Target?
  }

  private struct Call {
    /// Whether a guard is asked about its targets.
    var isGuarded = false
    var targets: [Int32: CallTarget] = [:]
    /// The watches whose queries run again; while there are any, responses are held.
    var stale: Set<WatchID> = []
    var held: UnreadResponses
    /// The version of its last global snapshot.
    var snapshot: Int64 = 0

    /// Whether responses can be sent without a change.
    func takesAsTheyAre(_ responses: [ListenResponse]) -> Bool {
      stale.isEmpty && !(isGuarded && responses.contains { $0.isFormerResult })
    }
  }

  /// The version that all followed targets are at; `nil` before the first turn.
  private(set) var version: Int64?
  private var watches: [WatchID: Watch] = [:]
  private var numbers: [WatchSubject: WatchID] = [:]
  private var calls: [CallID: Call] = [:]
  private var index = WatchIndex()
  private var lastNumber = 0
  private var starts: [StartRequest: JobID] = [:]
  private var waiters: [JobID: (request: StartRequest, waiters: [Waiter])] = [:]
  private var lastRefresh: Int64 = 0
  private let tokenInterval: Int64
  private let heldBytes: Int

  /// - Parameters:
  ///   - tokenInterval: The microseconds without a response after which a call gets a new token.
  ///   - heldBytes: How many bytes of responses may be held back for a call. Beyond that they are merged, and where
  ///     that is not enough the call ends; its tokens are good, as none covers what was held back.
  init(tokenInterval: Int64, heldBytes: Int = .max) {
    self.tokenInterval = tokenInterval
    self.heldBytes = heldBytes
  }

  /// Whether any listener needs changes.
  var isFollowing: Bool { !watches.isEmpty }

  // MARK: Commits

  /// Takes the changes up to a version.
  mutating func committed(_ changes: [WatchChange], at version: Int64) -> [Action] {
    defer { self.version = version }
    guard let before = self.version, before < version else { return [] }
    self.version = version
    var responses = ResponseBuilder()
    var views: [WatchID: LimitedView?] = [:]
    // The calls that get a snapshot though they get no document.
    var touched: Set<CallID> = []
    var actions: [Action] = []
    for change in changes {
      if let failure = change.failure {
        actions += failed(change, failure)
        continue
      }
      if change.hasMore { touched.formUnion(watches.values.lazy.flatMap(\.members.keys)) }
      for number in index.candidates(change.pathKey, change.path, change.states) {
        guard let watch = watches[number], watch.requery == nil else { continue }
        if change.hasMatched(watch.subject) { touched.formUnion(watch.members.keys) }
        let (wasIn, isIn) = change.membership(in: watch.subject)
        guard wasIn || isIn else { continue }
        if watch.subject.isLimited {
          take(change, isIn: isIn, number, &views)
        } else {
          responses.add(change.fact(isIn: isIn), for: watch.members)
        }
      }
    }
    if !views.isEmpty {
      let after = Dictionary(changes.map { ($0.pathKey, $0) }, uniquingKeysWith: { $1 })
      for (number, view) in views { actions += turn(number, to: view, after, &responses) }
    }
    let snapshot = WatchMachine.globalSnapshot(version)
    for (call, responses) in responses.responses(readTime: Timestamp(microseconds: version), last: [snapshot]) {
      deliver(shared: responses, to: call, into: &actions)
      if !touched.isEmpty { touched.remove(call) }
    }
    for call in touched { actions += deliver([], to: call, withSnapshot: true) }
    return actions + refreshTokens()
  }

  /// Notes what a change makes of a limited query.
  ///
  /// - Parameter views: The views that change in this turn; `nil` in it for the ones to request.
  private func take(_ change: WatchChange, isIn: Bool, _ number: WatchID, _ views: inout [WatchID: LimitedView?]) {
    let isChanged = views[number] != nil
    // Taken out while it is changed, so that a view of many results is copied once in a turn and not for each change.
    guard var view = isChanged ? views.removeValue(forKey: number) ?? nil : watches[number]?.view else {
      if isChanged { views[number] = .some(nil) }
      return
    }
    let effect = view.take(change, isIn: isIn)
    if effect == .unknown {
      views[number] = .some(nil)
    } else if isChanged || effect == .changed {
      views[number] = view
    }
  }

  /// Brings a limited query to its new view, or runs it again.
  private mutating func turn(
    _ number: WatchID, to view: LimitedView?, _ changes: [PathKey: WatchChange], _ responses: inout ResponseBuilder
  ) -> [Action] {
    guard let watch = watches[number], let old = watch.view?.view else { return [] }
    guard let view else { return ask(number) }
    let new = view.view
    for (pathKey, document) in new where document.isNewer(than: old[pathKey]) {
      responses.add(
        WatchFact(pathKey: pathKey, name: document.name, document: document, isIn: true), for: watch.members)
    }
    // A document that has left without a change was pushed out by the limit, and is as it was.
    for (pathKey, document) in old where new[pathKey] == nil {
      let now = changes[pathKey].map(\.after) ?? document
      responses.add(WatchFact(pathKey: pathKey, name: document.name, document: now, isIn: false), for: watch.members)
    }
    watches[number]?.view = view
    return []
  }

  private mutating func ask(_ number: WatchID) -> [Action] {
    guard let watch = watches[number] else { return [] }
    lastNumber += 1
    watches[number]?.requery = lastNumber
    for call in watch.members.keys { calls[call]?.stale.insert(number) }
    return [.begin(Job(id: lastNumber, work: .requery(number, watch.subject), attempts: watch.attempts))]
  }

  // MARK: Queries that run again

  /// The results that the callers of a query have, and the number of runs in vain; `nil` when no caller waits for this
  /// answer.
  func known(_ number: WatchID, for job: JobID) -> (subject: WatchSubject, view: WatchView, attempts: Int)? {
    guard let watch = watches[number], watch.requery == job, let view = watch.view?.view else { return nil }
    return (watch.subject, view, watch.attempts)
  }

  /// The answer was out of date, and the changes since do not determine the results: runs the query once more.
  mutating func missed(_ number: WatchID) -> [Action] {
    watches[number]?.attempts += 1
    return ask(number)
  }

  /// Takes the results of a limited query at the version of this turn.
  ///
  /// - Parameter facts: The differences from the results that the callers have.
  mutating func answered(_ number: WatchID, _ view: LimitedView?, _ facts: [WatchFact]) -> [Action] {
    guard let watch = watches[number] else { return [] }
    watches[number]?.view = view
    watches[number]?.requery = nil
    watches[number]?.attempts = 0
    var builder = ResponseBuilder()
    for fact in facts { builder.add(fact, for: watch.members) }
    let responses = builder.responses(readTime: Timestamp(microseconds: version ?? 0))
    var actions: [Action] = []
    for call in watch.members.keys {
      actions += hold(responses[call] ?? [], for: call)
      calls[call]?.stale.remove(number)
      actions += release(call)
    }
    return actions
  }

  /// Ends the targets of a limited query that can no longer be answered, and no others.
  mutating func failed(_ number: WatchID, _ error: FirestoreServiceError) -> [Action] {
    var actions: [Action] = []
    for (call, ids) in watches[number]?.members ?? [:] {
      for id in ids { actions += unfollow(number, id, of: call) }
      for id in ids { calls[call]?.targets[id] = nil }
      let end = ListenResponse.targetChange(TargetChange(.remove, targetIDs: ids, cause: error))
      actions += deliver([end], to: call, withSnapshot: false)
    }
    return actions
  }

  /// Ends the targets that may have a document that cannot be read, and no others.
  private mutating func failed(_ change: WatchChange, _ error: FirestoreServiceError) -> [Action] {
    watches.filter { $0.value.subject.covers(change.pathKey, change.path) }.keys.flatMap { failed($0, error) }
  }

  // MARK: Targets

  /// Takes a request for a target: acknowledges it, and asks for its start unless others wait for the same one.
  ///
  /// - Parameter isGuarded: Whether a guard is asked about the target.
  mutating func add(
    _ target: Target, of call: CallID, in database: DatabaseName, isGuarded: Bool = false
  ) -> [Action] {
    do {
      return try start(target, of: call, in: database, isGuarded)
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

  private mutating func start(
    _ target: Target, of call: CallID, in database: DatabaseName, _ isGuarded: Bool
  ) throws(FirestoreServiceError) -> [Action] {
    guard target.id > 0 else { throw FirestoreServiceError.refused("The number of a target must be above zero.") }
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
    calls[call]?.targets[target.id] = CallTarget(
      state: .starting(job ?? lastNumber), asked: isGuarded ? target : nil)
    let acknowledged = ListenResponse.targetChange(TargetChange(.add, targetIDs: [target.id]))
    return deliver([acknowledged], to: call, withSnapshot: false) + actions
  }

  /// Takes a request to remove a target.
  mutating func remove(_ id: Int32, of call: CallID) -> [Action] {
    let end = ListenResponse.targetChange(TargetChange(.remove, targetIDs: [id]))
    // The responses that are held back are from before the removal of the target.
    return deliver([end], to: call, withSnapshot: false) + forget(id, of: call)
  }

  /// The subject of a start that a target waits for, and its results where others follow it.
  ///
  /// While its query runs again, no target can join: a new one would have other results than the existing ones.
  func pending(_ job: JobID) -> (request: StartRequest, view: WatchView?, isBlocked: Bool)? {
    guard let (request, _) = waiters[job] else { return nil }
    let watch = numbers[request.subject].flatMap { watches[$0] }
    return (request, watch?.view?.view, watch?.requery != nil)
  }

  /// Lets the targets join that have waited for a start, which is at the version of this turn.
  mutating func joined(_ job: JobID, _ start: WatchStart) -> [Action] {
    guard let (request, waiters) = waiters.removeValue(forKey: job), let version else { return [] }
    starts[request] = nil
    var made: [Int32: [ListenResponse]] = [:]
    var actions: [Action] = []
    for waiter in waiters {
      let id = waiter.target
      var responses = made[id] ?? start.responses(for: id)
      made[id] = responses
      let current = TargetChange(
        .current, targetIDs: [id], resumeToken: ResumeToken.encode(version), readTime: Timestamp(microseconds: version))
      responses.append(.targetChange(current))
      actions += deliver(responses, to: waiter.call, withSnapshot: true)
      if waiter.once {
        let end = ListenResponse.targetChange(TargetChange(.remove, targetIDs: [id]))
        actions += deliver([end], to: waiter.call, withSnapshot: false)
        calls[waiter.call]?.targets[id] = nil
      } else if calls[waiter.call] != nil {
        follow(waiter, start)
      }
    }
    return actions
  }

  /// Ends the targets that have waited for a start which failed.
  mutating func refused(_ job: JobID, _ error: FirestoreServiceError) -> [Action] {
    guard let (request, waiters) = waiters.removeValue(forKey: job) else { return [] }
    starts[request] = nil
    return waiters.flatMap { waiter in
      calls[waiter.call]?.targets[waiter.target] = nil
      let end = TargetChange(.remove, targetIDs: [waiter.target], cause: error)
      return deliver([.targetChange(end)], to: waiter.call, withSnapshot: false)
    }
  }

  private mutating func follow(_ waiter: Waiter, _ start: WatchStart) {
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
    watches[number]?.members[waiter.call, default: []].append(waiter.target)
    calls[waiter.call]?.targets[waiter.target]?.state = .following(number)
  }

  /// Forgets a target; nothing happens when it is not there.
  private mutating func forget(_ id: Int32, of call: CallID) -> [Action] {
    switch calls[call]?.targets.removeValue(forKey: id)?.state {
    case nil: return []
    case .starting(let job):
      waiters[job]?.waiters.removeAll { $0.call == call && $0.target == id }
      guard let (request, rest) = waiters[job], rest.isEmpty else { return [] }
      waiters[job] = nil
      starts[request] = nil
      return [.cancel(job)]
    case .following(let number): return unfollow(number, id, of: call)
    }
  }

  private mutating func unfollow(_ number: WatchID, _ id: Int32, of call: CallID) -> [Action] {
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

  /// The targets that follow a changed document by its name.
  func followers(ofDocument change: WatchChange) -> [(call: CallID, target: Int32)] {
    index.candidates(change.pathKey, change.path, change.states).flatMap { number in
      guard let watch = watches[number], watch.subject.isDocuments else { return [] as [(CallID, Int32)] }
      return watch.members.flatMap { call, ids in ids.map { (call, $0) } }
    }
  }

  /// Ends a target that its caller may not have, and no other.
  mutating func deny(_ id: Int32, of call: CallID, _ error: FirestoreServiceError) -> [Action] {
    guard calls[call]?.targets[id] != nil else { return [] }
    let end = ListenResponse.targetChange(TargetChange(.remove, targetIDs: [id], cause: error))
    return forget(id, of: call) + deliver([end], to: call, withSnapshot: false)
  }

  // MARK: Sending

  /// Sends responses, or holds them back while a query of the call runs again.
  private mutating func deliver(_ responses: [ListenResponse], to call: CallID, withSnapshot: Bool) -> [Action] {
    if calls[call]?.stale.isEmpty == false {
      return hold(responses, for: call)
    }
    // The query that a guard has allowed says nothing of a document that is no result any longer.
    let hasLeft = calls[call]?.isGuarded == true && responses.contains { $0.isFormerResult }
    let responses = hasLeft ? responses.map(\.withoutFormerResult) : responses
    guard withSnapshot, let version else { return [.send(call, responses)] }
    calls[call]?.snapshot = version
    return [.send(call, responses + [WatchMachine.globalSnapshot(version)])]
  }

  /// Sends responses that many calls share, and that end with the snapshot of the turn.
  private mutating func deliver(shared responses: [ListenResponse], to call: CallID, into actions: inout [Action]) {
    guard let version, calls[call]?.takesAsTheyAre(responses) == true else {
      return actions += deliver(Array(responses.dropLast()), to: call, withSnapshot: true)
    }
    calls[call]?.snapshot = version
    actions.append(.send(call, responses))
  }

  /// Holds responses back, or ends the call when they are too many.
  private mutating func hold(_ responses: [ListenResponse], for call: CallID) -> [Action] {
    guard !responses.isEmpty, calls[call]?.held.add(responses) == .tooMany else { return [] }
    return ended(call) + [.end(call, .tooMuchUnread)]
  }

  /// Sends the responses that were held back, once no query of the call runs again.
  private mutating func release(_ call: CallID) -> [Action] {
    guard calls[call]?.stale.isEmpty == true, let held = calls[call]?.held.take() else { return [] }
    return deliver(held, to: call, withSnapshot: true)
  }

  /// Sends a new token to calls without a response for long, so that they resume at little cost.
  private mutating func refreshTokens() -> [Action] {
    guard let version, version - lastRefresh >= tokenInterval / 4 else { return [] }
    lastRefresh = version
    var actions: [Action] = []
    for (call, state) in calls where version - state.snapshot >= tokenInterval && state.stale.isEmpty {
      let isFollowing = state.targets.values.contains { if case .following = $0.state { true } else { false } }
      if isFollowing { actions += deliver([], to: call, withSnapshot: true) }
    }
    return actions
  }

  private static func globalSnapshot(_ version: Int64) -> ListenResponse {
    .targetChange(
      TargetChange(
        .noChange, resumeToken: ResumeToken.encode(version), readTime: Timestamp(microseconds: version)))
  }
}

extension WatchMachine.Action {
  /// Actions with the responses together that one call is sent in a row: each sending may wake a thread.
  static func joined(_ actions: [Self]) -> [Self] {
    if actions.count < 2 { return actions }
    var joined: [Self] = []
    // Apart from the list, so that responses are appended in place: a call may have many targets that join together.
    var call: WatchCallID?
    var responses: [ListenResponse] = []
    for action in actions {
      if case .send(let next, let more) = action, next == call {
        responses += more
        continue
      }
      if let call { joined.append(.send(call, responses)) }
      if case .send(let next, let first) = action {
        (call, responses) = (next, first)
      } else {
        (call, responses) = (nil, [])
        joined.append(action)
      }
    }
    if let call { joined.append(.send(call, responses)) }
    return joined
  }
}

extension ListenResponse {
  /// Whether it is about a document that has left its targets and is in no other.
  fileprivate var isFormerResult: Bool {
    if case .documentChange(let change) = self { change.targetIDs.isEmpty } else { false }
  }

  /// The response; of a document that has left its targets and is in no other, the name alone.
  fileprivate var withoutFormerResult: ListenResponse {
    guard case .documentChange(let change) = self, change.targetIDs.isEmpty else { return self }
    return .documentRemove(
      DocumentRemove(
        document: change.document.name, removedTargetIDs: change.removedTargetIDs,
        readTime: change.document.updateTime))
  }
}

extension Document {
  /// Whether the document is another one than a known state of it.
  func isNewer(than known: Document?) -> Bool {
    known?.updateTime != updateTime || known?.createTime != createTime
  }
}
