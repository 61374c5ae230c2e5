import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaServiceInterop
import VestaStoreInterop

/// The company of other engines on the same store.
extension Room {
  /// Takes a lease, and is notified of others' commits from now on.
  ///
  /// - Returns: The time of the store.
  func join(_ store: any OrderedStore, _ lease: Duration) async throws -> StoreVersion {
    let version = try await store.read { $0.version }
    state.withLock { $0.order.begin(after: version) }
    let context = context
    let now = try await change { try await SessionLease.renew(lease, in: $0, context) }.version
    guard state.withLock({ $0.timer == nil }) else { return now }
    if let store = store as? any CommitObservable {
      let registration = store.observeCommits { [weak self] version in
        self?.state.withLock { $0.order.report(version) }
        self?.submit(.perform { [weak self] in await self?.reported(version) })
      }
      state.withLock { $0.observation = registration }
    }
    schedule(\.timer, after: lease / 2) { await $0.tick() }
    return now
  }

  /// Submits a job after a time.
  func schedule(
    _ timer: any WritableKeyPath<State, ListenerRegistration?> & Sendable, after delay: Duration,
    _ job: @escaping @Sendable (Room) async -> Void
  ) {
    let registration = options.clock.schedule(after: delay) { [weak self] in
      self?.submit(.perform { [weak self] in if let self { await job(self) } })
    }
    state.withLock { state in
      if state.isOver { registration.cancel() } else { state[keyPath: timer] = registration }
    }
  }

  /// Renews the lease, ends the sessions of engines that have stopped, and drops old rows of the log.
  ///
  /// An engine whose lease another has found to be over has lost its sessions: its connections end, and the clients
  /// reconnect with their requests for the end.
  private func tick() async {
    guard let lease = context.sharing.lease, !state.withLock({ $0.isOver }) else { return }
    do {
      let context = context
      let renewal = try await change { try await SessionLease.renew(lease, in: $0, context) }
      if !renewal.value { dropConnections() }
      try await SessionEnds(self).finish()
      try await SessionEnds(self).finishForeign(at: renewal.version)
      await catchUp()
      let (keys, published) = (context.keys, state.withLock { $0.order.published })
      let kept = StoreVersion(microseconds: published.microseconds - options.tuning.logTime.microseconds)
      _ = try await openStore().write { try await CommitLog.drop(upTo: kept, in: $0, keys) }
    } catch {
      log.warning("I-RDS000002", "Sessions of other engines cannot be looked at; the next tick tries again. \(error)")
      return schedule(\.timer, after: lease / 8) { await $0.tick() }
    }
    schedule(\.timer, after: lease / 2) { await $0.tick() }
  }

  /// Ends all connections, whose clients reconnect with their state and their listens.
  private func dropConnections() {
    let connections = state.withLock { state in
      defer { state.connections = [:] }
      state.sessions.ended(state.connections.keys)
      return Array(state.connections.values)
    }
    for connection in connections {
      hub.removeAll(of: connection)
      connection.post([.closed(reason: "The service has ended the session.")])
    }
  }

  /// Gives the lease back.
  func leave() async {
    guard context.isShared, state.withLock({ $0.isPrepared && $0.sessions.isSettled }) else { return }
    let keys = context.keys, owner = context.owner
    // A lease that cannot be given back ends by itself.
    _ = try? await openStore().write { try await $0.delete(keys.owner(owner)) }
  }

  /// Runs a transaction of this engine; in company it remembers which commit was its own.
  func change<Result: Sendable>(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    guard context.isShared else { return try await openStore().write(body) }
    let commit = try await openStore().write { transaction in
      let result = try await body(transaction)
      // A transaction that changes nothing has the version of another commit.
      return (result, try await transaction.commitVersion())
    }
    if commit.value.1 == commit.version { state.withLock { $0.order.noteOwn(commit.version) } }
    return StoreCommit(value: commit.value.0, version: commit.version)
  }

  /// Reads what others have written up to a commit that the store has reported.
  private func reported(_ version: StoreVersion) async {
    guard let lease = context.sharing.lease else { return }
    let isMissing = state.withLock { state in
      guard version > state.order.published else { return false }
      // The writes of this engine were sent by the job that made them.
      guard state.order.isNext(version, within: lease) else { return true }
      state.order.publish(version)
      return false
    }
    if isMissing { await catchUp() }
  }

  /// Sends the listens the commits that they have not seen yet, in the order of versions.
  ///
  /// One round trip: only an engine that has not looked for long asks whether rows of the log were dropped since.
  func catchUp() async {
    do {
      let (context, last) = (context, state.withLock { $0.order.published })
      let (sure, range) = (options.tuning.logTime.microseconds / 2, context.keys.log(after: last))
      let (commits, isWhole, version) = try await openStore().read(
        expecting: .scan(range, order: .ascending, limit: nil)
      ) { reader -> ([CommitLog.Commit], Bool, StoreVersion) in
        guard let commits = try await CommitLog.readable(after: last, reader, context.keys) else {
          return ([], false, reader.version)
        }
        let version = reader.version
        guard version.microseconds - last.microseconds >= sure else { return (commits, true, version) }
        let start = try await reader.get(context.keys.logStart()).map { SessionLease($0).until } ?? 0
        return (commits, start <= last.microseconds, version)
      }
      if !isWhole {
        log.warning("I-RDS000006", "This engine has missed commits: its connections begin anew.")
        dropConnections()
        try await SessionEnds(self).finish()
      }
      for commit in commits { await sendToListens(commit.writes, commit.version) }
      state.withLock { $0.order.noteRead(version) }
    } catch {
      log.warning("I-RDS000003", "Listens have not received all commits; the next one tries again. \(error)")
    }
  }
}

private let log = Logger(service: "VestaDatabaseService")
