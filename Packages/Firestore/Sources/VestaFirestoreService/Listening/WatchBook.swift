import VestaFirestoreBackend
import VestaFirestoreModel

/// Which call follows what, and what each is told: used by one task at a time.
///
/// All targets that are followed stand at one version. A turn brings them to the next one: what was changed in between
/// is matched with the subjects it may concern, and each call that is concerned gets its documents and one global
/// snapshot.
///
/// A new target waits for its `WatchStart`, which is made elsewhere and named by a ticket. Then it joins.
struct WatchBook {
  typealias CallID = Int
  typealias Ticket = Int

  /// A start that has to be made.
  struct Job: Sendable {
    var ticket: Ticket
    var order: WatchStart.Order
    /// The first target that waits for it.
    var target: Int32
  }

  private struct Watch {
    var subject: WatchSubject
    /// The targets that follow it, by call.
    var members: [CallID: [Int32]] = [:]
    /// What is in; kept where it depends on other documents.
    var view: LimitedView?
  }

  private struct Waiter: Sendable {
    var call: CallID
    var target: Int32
    var once: Bool
  }

  private enum Standing {
    case waiting(Ticket)
    case following(Int)
  }

  private var watches: [Int: Watch] = [:]
  private var numbers: [WatchSubject: Int] = [:]
  private var targets: [CallID: [Int32: Standing]] = [:]
  private var index = WatchIndex()
  private var lastNumber = 0
  private var version: Int64?

  private var tickets: [WatchStart.Order: Ticket] = [:]
  private var waiters: [Ticket: (order: WatchStart.Order, waiters: [Waiter])] = [:]

  /// What the calls are told, in order.
  typealias Mail = [(call: CallID, responses: [ListenResponse])]

  // MARK: Going on

  /// Brings all targets to a moment.
  ///
  /// - Returns: What each call that is concerned is told, the global snapshot at the end.
  /// - Throws: `UNAVAILABLE` when the log no longer has all that was changed since.
  mutating func advance(to snapshot: Snapshot) async throws -> Mail {
    defer { version = snapshot.version }
    guard let version, version < snapshot.version, !watches.isEmpty else { return [] }
    guard version >= (try await snapshot.horizon()) else {
      throw FirestoreError(.unavailable, "The listeners have fallen too far behind; listen again.")
    }
    var news = WatchNews()
    var views: [Int: LimitedView?] = [:]
    for change in try await WatchChange.all(after: version, .everything, in: snapshot) {
      for number in index.candidates(change.place, change.path, change.states) {
        guard let subject = watches[number]?.subject else { continue }
        let (wasIn, isIn) = change.membership(in: subject)
        guard wasIn || isIn else { continue }
        if subject.isLimited {
          take(change, isIn: isIn, number, &views)
        } else {
          news.add(change.fact(isIn: isIn), for: watches[number]?.members ?? [:])
        }
      }
    }
    var lost: Mail = []
    for (number, view) in views {
      do {
        try await refresh(number, view, in: snapshot, &news)
      } catch let error as FirestoreError {
        // A query that can no longer be answered ends its own targets, and nobody else's.
        lost += drop(number, error)
      }
    }
    let all = news.responses(readTime: snapshot.readTime, last: [WatchBook.globalSnapshot(snapshot)])
    return all.map { ($0.key, $0.value) } + lost
  }

  /// Notes what a change makes of a limited query.
  ///
  /// - Parameter views: The views that change in this turn; `nil` in it for those that have to be asked for.
  private func take(_ change: WatchChange, isIn: Bool, _ number: Int, _ views: inout [Int: LimitedView?]) {
    guard var view = views[number] ?? watches[number]?.view else { return }
    switch view.take(change, isIn: isIn) {
    case .none: return
    case .changed: views[number] = .some(view)
    case .unknown: views[number] = .some(nil)
    }
  }

  /// Tells what is different in a limited query.
  ///
  /// - Parameter known: What is in now; `nil` where it has to be asked for.
  private mutating func refresh(
    _ number: Int, _ known: LimitedView?, in snapshot: Snapshot, _ news: inout WatchNews
  ) async throws {
    guard let watch = watches[number], let before = watch.view else { return }
    let now = if let known { known } else { try await watch.subject.limitedView(in: snapshot) }
    for fact in try await (now?.view ?? [:]).facts(since: before.view, in: snapshot) {
      news.add(fact, for: watch.members)
    }
    watches[number]?.view = now
  }

  // MARK: Adding

  /// Adds a target, which waits for its start.
  ///
  /// - Returns: The start that has to be made; `nil` when it is being made already.
  /// - Throws: `INVALID_ARGUMENT` for a target that cannot be followed.
  mutating func add(
    _ target: Target, of call: CallID, in database: DatabaseName
  ) throws -> Job? {
    guard target.id > 0 else { throw FirestoreError.refused("The number of a target must be above zero.") }
    guard targets[call]?[target.id] == nil else {
      throw FirestoreError.refused("The target \(target.id) is listened to already.")
    }
    let order = WatchStart.Order(
      subject: try WatchSubject(target.subject, in: database), resume: target.resume,
      expectedCount: target.expectedCount)
    let waiter = Waiter(call: call, target: target.id, once: target.once)
    if let ticket = tickets[order] {
      waiters[ticket]?.waiters.append(waiter)
      targets[call, default: [:]][target.id] = .waiting(ticket)
      return nil
    }
    lastNumber += 1
    tickets[order] = lastNumber
    waiters[lastNumber] = (order, [waiter])
    targets[call, default: [:]][target.id] = .waiting(lastNumber)
    return Job(ticket: lastNumber, order: order, target: target.id)
  }

  /// Lets the targets join that have waited for a start, at the moment that all others stand at.
  ///
  /// - Returns: What they are told, up to the global snapshot; `nil` when the start is too old by now.
  mutating func join(_ ticket: Ticket, _ start: WatchStart, in snapshot: Snapshot) async throws -> Mail? {
    guard let (order, waiters) = waiters[ticket] else { return [] }
    var start = start
    let view = numbers[order.subject].flatMap { watches[$0]?.view?.view }
    guard try await start.advance(to: snapshot, view: view) else { return nil }
    self.waiters[ticket] = nil
    tickets[order] = nil
    let token = ResumeToken.encode(snapshot.version)
    var made: [Int32: [ListenResponse]] = [:]
    var mail: Mail = []
    for waiter in waiters {
      let id = waiter.target
      var responses = made[id] ?? start.responses(for: id)
      made[id] = responses
      let current = TargetChange(.current, targetIDs: [id], resumeToken: token, readTime: snapshot.readTime)
      responses += [.targetChange(current), WatchBook.globalSnapshot(snapshot)]
      if waiter.once {
        responses.append(.targetChange(TargetChange(.remove, targetIDs: [id])))
        targets[waiter.call]?[id] = nil
      } else {
        follow(waiter, start)
      }
      mail.append((waiter.call, responses))
    }
    return mail
  }

  /// Ends the targets that have waited for a start which failed.
  mutating func refuse(_ ticket: Ticket, _ error: FirestoreError) -> Mail {
    guard let (order, waiters) = waiters.removeValue(forKey: ticket) else { return [] }
    tickets[order] = nil
    return waiters.map { waiter in
      targets[waiter.call]?[waiter.target] = nil
      return (waiter.call, [.targetChange(TargetChange(.remove, targetIDs: [waiter.target], cause: error))])
    }
  }

  private mutating func follow(_ waiter: Waiter, _ start: WatchStart) {
    let number: Int
    let subject = start.order.subject
    if let known = numbers[subject] {
      number = known
    } else {
      lastNumber += 1
      number = lastNumber
      watches[number] = Watch(subject: subject, view: subject.limitedView(start.view))
      numbers[subject] = number
      index.insert(number, subject)
    }
    watches[number]?.members[waiter.call, default: []].append(waiter.target)
    targets[waiter.call, default: [:]][waiter.target] = .following(number)
  }

  // MARK: Removing

  /// Removes a target; nothing happens when it is not there.
  ///
  /// - Returns: The ticket of a start that nobody waits for any more.
  @discardableResult
  mutating func remove(_ id: Int32, of call: CallID) -> Ticket? {
    switch targets[call]?.removeValue(forKey: id) {
    case nil: return nil
    case .waiting(let ticket):
      waiters[ticket]?.waiters.removeAll { $0.call == call && $0.target == id }
      guard let (order, rest) = waiters[ticket], rest.isEmpty else { return nil }
      waiters[ticket] = nil
      tickets[order] = nil
      return ticket
    case .following(let number):
      unfollow(number, id, of: call)
      return nil
    }
  }

  private mutating func unfollow(_ number: Int, _ id: Int32, of call: CallID) {
    watches[number]?.members[call]?.removeAll { $0 == id }
    if watches[number]?.members[call]?.isEmpty == true { watches[number]?.members[call] = nil }
    guard let watch = watches[number], watch.members.isEmpty else { return }
    index.remove(number, watch.subject)
    numbers[watch.subject] = nil
    watches[number] = nil
  }

  /// Ends all targets of a subject.
  private mutating func drop(_ number: Int, _ error: FirestoreError) -> Mail {
    var mail: Mail = []
    for (call, ids) in watches[number]?.members ?? [:] {
      for id in ids { remove(id, of: call) }
      mail.append((call, [.targetChange(TargetChange(.remove, targetIDs: ids, cause: error))]))
    }
    return mail
  }

  /// Forgets a call.
  ///
  /// - Returns: The tickets of starts that nobody waits for any more.
  mutating func end(_ call: CallID) -> [Ticket] {
    defer { targets[call] = nil }
    return (targets[call]?.keys.map(\.self) ?? []).compactMap { remove($0, of: call) }
  }

  private static func globalSnapshot(_ snapshot: Snapshot) -> ListenResponse {
    .targetChange(
      TargetChange(.noChange, resumeToken: ResumeToken.encode(snapshot.version), readTime: snapshot.readTime))
  }
}
