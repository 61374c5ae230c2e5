import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The questions to a guard about targets; all are asked in the turn of a hub, at its version.
///
/// | when | about | asked |
/// |---|---|---|
/// | a target is added | a query | before anything is read for it |
/// | the start of a target is ready | documents by name | with the state that is sent |
/// | a commit | documents by name that it changed | with the state that would be sent |
/// | a commit | queries for which the guard looked up a document that it changed | before changes are sent |
/// | the rules change | every target | with the state of this turn, before changes are sent |
///
/// A denied target ends with the cause; the other targets of its call continue.
extension WatchHub {
  /// The refusal of a new target of a query; documents are asked about when their state is known.
  ///
  /// - Parameter lookedUp: Notes the documents that the guard looks up.
  func denial(
    of target: Target, _ guarded: GuardedCaller, _ snapshot: Snapshot, _ lookedUp: LookedUp
  ) async -> FirestoreServiceError? {
    guard case .query(_, let query) = target.subject,
      // An invalid query is refused for that reason.
      case .query(let normal)? = try? WatchSubject(target.subject, in: name)
    else { return nil }
    let state = SnapshotState(snapshot: snapshot, lookedUp: lookedUp)
    return await denial { try await guarded.list(normal.parent, query, state) }
  }

  /// Asks about documents whose start is ready, for each target that waits for it.
  ///
  /// - Throws: `FirestoreServiceError` for a document that cannot be read.
  func ask(
    about start: WatchStart, of job: WatchMachine.JobID, _ machine: inout WatchMachine, _ jobs: inout JobQueue,
    _ snapshot: Snapshot
  ) async throws {
    guard case .documents(let pathKeys) = start.request.subject else { return }
    for (call, id) in machine.waiting(for: job) {
      guard let guarded = guarded(call) else { continue }
      let denial = await denial { try await self.ask(guarded, about: pathKeys, of: start, snapshot) }
      if let denial { perform(machine.deny(id, of: call, denial), &jobs) }
    }
  }

  /// Asks about changed documents, for each target that follows them by name, and about queries that are allowed
  /// because of them.
  func ask(
    about changes: [WatchChange], _ machine: inout WatchMachine, _ jobs: inout JobQueue, _ snapshot: Snapshot
  ) async {
    for change in changes where change.failure == nil {
      let followers = machine.followers(ofDocument: change)
      // There may be thousands of them, and most are answered without a wait.
      let calls = followers.isEmpty ? [:] : openCalls
      for (call, id) in followers {
        guard let guarded = calls[call]?.guarded else { continue }
        let isAllowed = guarded.mayGetAtOnce(change.name, change.after)
        if isAllowed == true { continue }
        let denial = await denial {
          guard isAllowed == nil else { throw FirestoreServiceError.denied }
          try await guarded.getLater(change.name, change.after, SnapshotState(snapshot: snapshot))
        }
        if let denial { perform(machine.deny(id, of: call, denial), &jobs) }
      }
    }
    // A document that cannot be read counts too: the guard fails at it, and the target ends.
    for (call, target) in machine.dependants(on: changes) {
      await askAgain(target, of: call, &machine, &jobs, snapshot)
    }
  }

  /// Asks about all targets, after a change of the rules.
  func askAgain(_ machine: inout WatchMachine, _ jobs: inout JobQueue, _ snapshot: Snapshot) async {
    for (call, target) in machine.guardedTargets { await askAgain(target, of: call, &machine, &jobs, snapshot) }
  }

  private func askAgain(
    _ target: Target, of call: WatchMachine.CallID, _ machine: inout WatchMachine, _ jobs: inout JobQueue,
    _ snapshot: Snapshot
  ) async {
    guard let guarded = guarded(call) else { return }
    let lookedUp = LookedUp()
    var denial = await denial(of: target, guarded, snapshot, lookedUp)
    if case .documents(let pathKeys)? = try? WatchSubject(target.subject, in: name) {
      denial = await self.denial { try await self.ask(guarded, about: pathKeys, of: nil, snapshot) }
    }
    if let denial { return perform(machine.deny(target.id, of: call, denial), &jobs) }
    machine.allow(target.id, of: call, because: lookedUp.pathKeys)
  }

  /// Asks about documents by name.
  ///
  /// - Parameter start: The start that sends them: documents in it are not read again.
  private func ask(
    _ guarded: GuardedCaller, about pathKeys: Set<PathKey>, of start: WatchStart?, _ snapshot: Snapshot
  ) async throws {
    let state = SnapshotState(snapshot: snapshot)
    var unread: [PathKey] = []
    for pathKey in pathKeys {
      guard let fact = start?.fact(at: pathKey) else {
        unread.append(pathKey)
        continue
      }
      try await guarded.get(fact.name, fact.document, state)
    }
    if unread.isEmpty { return }
    for (pathKey, stored) in zip(unread, try await snapshot.documents(at: unread)) {
      let document = stored?.document(in: name)
      // The name of a document that exists is known: its path key is not decoded again.
      let name = try document?.name ?? ResourceName(database: name, path: pathKey.path()).description
      try await guarded.get(name, document, state)
    }
  }

  /// The refusal of a question, whatever it throws.
  private func denial(_ question: () async throws -> Void) async -> FirestoreServiceError? {
    do {
      try await question()
      return nil
    } catch {
      return failure(error)
    }
  }
}
