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

  struct Watch {
    var subject: WatchSubject
    /// The targets that follow it, by call.
    var members: [CallID: [Int32]] = [:]
    /// The results; kept where they depend on other documents.
    var view: LimitedView?
    /// The job that runs the query again.
    var requery: JobID?
    /// The number of answers that were out of date.
    var attempts = 0

    mutating func add(_ target: Int32, of call: CallID) {
      if members[call] == nil, let targets = members.first?.value, targets == [target] {
        // Most calls have one target with the same number: one array for all of them is compared in no time.
        members[call] = targets
      } else {
        members[call, default: []].append(target)
      }
    }
  }

  struct Waiter: Sendable {
    var call: CallID
    var target: Int32
    var once: Bool
  }

  enum TargetState {
    case starting(JobID)
    case following(WatchID)
  }

  struct CallTarget {
    var state: TargetState
    /// The target as it was sent, where a guard is asked about it.
    var asked: Target?
  }

  struct Call {
    /// Whether a guard is asked about its targets.
    var isGuarded = false
    var targets: [Int32: CallTarget] = [:]
    /// The targets that have not been sent their first results: no token may cover them.
    var starting: Set<Int32> = []
    /// The last number that the machine has given a target which came without one; 0 before the first.
    var lastAssigned: Int32 = 0
    /// The watches whose queries run again; while there are any, responses are held.
    var stale: Set<WatchID> = []
    var held: UnreadResponses
    /// The version of its last global snapshot.
    var snapshot: Int64 = 0

    /// Notes a global snapshot, if the responses that end with it can be sent without a change.
    mutating func takesAsTheyAre(_ responses: [ListenResponse], at version: Int64) -> Bool {
      guard stale.isEmpty, starting.isEmpty else { return false }
      if isGuarded, responses.contains(where: { $0.isFormerResult }) { return false }
      snapshot = version
      return true
    }
  }

  /// The version that all followed targets are at; `nil` before the first turn.
  var version: Int64?
  var watches: [WatchID: Watch] = [:]
  var numbers: [WatchSubject: WatchID] = [:]
  var calls: [CallID: Call] = [:]
  var index = WatchIndex()
  /// The targets whose permission depends on other documents.
  var lookups = LookupIndex()
  var lastNumber = 0
  var starts: [StartRequest: JobID] = [:]
  var waiters: [JobID: (request: StartRequest, waiters: [Waiter])] = [:]
  var lastRefresh: Int64 = 0
  let tokenInterval: Int64
  let heldBytes: Int

  /// - Parameters:
  ///   - tokenInterval: The microseconds without a response after which a call gets a new token.
  ///   - heldBytes: How many bytes of responses may be held back for a call. Beyond that they are merged, and where
  ///     that is not enough the call ends; its tokens are good, as none covers what was held back.
  init(tokenInterval: Int64, heldBytes: Int = .max) {
    self.tokenInterval = tokenInterval
    self.heldBytes = heldBytes
  }

  /// Whether any listener needs changes, or its permission does.
  var isFollowing: Bool { !watches.isEmpty || !lookups.isEmpty }

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
          note(change, isIn: isIn, number, &views)
        } else {
          responses.add(change.fact(isIn: isIn), for: watch.members)
        }
      }
    }
    if !views.isEmpty {
      let after = Dictionary(changes.map { ($0.pathKey, $0) }, uniquingKeysWith: { $1 })
      for (number, view) in views { actions += changeView(of: number, to: view, after, &responses) }
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
  private func note(_ change: WatchChange, isIn: Bool, _ number: WatchID, _ views: inout [WatchID: LimitedView?]) {
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
  private mutating func changeView(
    of number: WatchID, to view: LimitedView?, _ changes: [PathKey: WatchChange], _ responses: inout ResponseBuilder
  ) -> [Action] {
    guard let watch = watches[number], let old = watch.view?.view else { return [] }
    guard let view else { return runAgain(number) }
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

  /// Asks for the results of a limited query; until the answer all responses of its calls are held.
  mutating func runAgain(_ number: WatchID) -> [Action] {
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
    return runAgain(number)
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
    let responses = Dictionary(
      builder.responses(readTime: Timestamp(microseconds: version ?? 0)).lazy.map { ($0.call, $0.responses) },
      uniquingKeysWith: { $1 })
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
      for id in ids { drop(id, of: call) }
      let end = ListenResponse.targetChange(TargetChange(.remove, targetIDs: ids, cause: error))
      actions += deliver([end], to: call, withSnapshot: false)
    }
    return actions
  }

  /// Ends the targets that may have a document that cannot be read, and no others.
  mutating func failed(_ change: WatchChange, _ error: FirestoreServiceError) -> [Action] {
    watches.filter { $0.value.subject.covers(change.pathKey, change.path) }.keys.flatMap { failed($0, error) }
  }
}

extension Document {
  /// Whether the document is another one than a known state of it.
  func isNewer(than known: Document?) -> Bool {
    known?.updateTime != updateTime || known?.createTime != createTime
  }
}
