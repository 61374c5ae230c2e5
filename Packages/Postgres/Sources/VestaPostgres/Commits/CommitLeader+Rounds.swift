import VestaConcurrency
import VestaStoreInterop

/// The rounds with the server: one for a unit where nobody else has committed, two otherwise, and a look for a unit
/// whose COMMIT was not answered.
extension CommitLeader {
  /// Commits a unit, and reports the outcome to every caller.
  func commit(_ requests: [CommitRequest]) async {
    // Requests that are cancelled by now are out; from here on a commit is completed.
    let taken = requests.compactMap { request in request.turn.begin().map { (request, $0) } }
    if taken.isEmpty { return }
    var outcomes: [ObjectIdentifier: CommitRequest.Outcome] = [:]
    do {
      let unit = try await settled(taken.map(\.0))
      for request in unit.accepted { outcomes[ObjectIdentifier(request)] = .committed(request.version) }
      for request in unit.refused { outcomes[ObjectIdentifier(request)] = .conflict }
    } catch {
      let failure = StoreError(error, operation: "commit")
      for (request, _) in taken { outcomes[ObjectIdentifier(request)] = .failed(failure) }
    }
    for (request, continuation) in taken {
      continuation.resume(returning: outcomes[ObjectIdentifier(request)] ?? .conflict)
    }
  }

  /// Runs a transaction with the lock held, and commits it.
  func commit(_ lone: LoneTransaction) async {
    guard let continuation = lone.turn.begin() else { return }
    var attempt = CommitAttempt(patience: patience, schema.tuning)
    while true {
      do {
        if attempt.uncertain != nil, let unit = try await resolved(&attempt) {
          return continuation.resume(returning: .committed(unit.version))
        }
        return continuation.resume(returning: try await commitOnce(lone, &attempt))
      } catch {
        // Its next try would hold the others up for as long again.
        if let error = error as? StoreError, error.code == .conflict {
          return continuation.resume(returning: .failed(error))
        }
        guard let refusal = await refusal(error, &attempt) else { continue }
        return continuation.resume(returning: .failed(StoreError(refusal, operation: "commit")))
      }
    }
  }

  private func commitOnce(
    _ lone: LoneTransaction, _ attempt: inout CommitAttempt
  ) async throws -> CommitRequest.Outcome? {
    let (connection, last) = try await lock()
    let request: CommitRequest?
    do {
      request = try await run(lone)
    } catch {
      connection.send(Schema.rollback)
      throw error
    }
    if let request { release(request.version) }
    let unit = CommitUnit(request.map { [$0] } ?? [], last, log: log)
    guard let request, !unit.accepted.isEmpty else {
      connection.send(Schema.rollback)
      return request == nil ? nil : .conflict
    }
    try await write(unit, last, on: connection, &attempt)
    return .committed(request.version)
  }

  /// Runs a body while the lock is held, for less time than the server leaves to a session that holds it and is silent.
  private func run(_ lone: LoneTransaction) async throws -> CommitRequest? {
    let limit = Duration.milliseconds(Schema.lockWait(within: patience)) * schema.tuning.shareOfTheLock
    return try await Turn<CommitRequest?>().wait { turn in
      let body = Locked<Task<Void, Never>?>(nil)
      let timer = Task {
        try await schema.tuning.sleep(limit)
        guard let continuation = turn.begin() else { return }
        body.withLock { $0 }?.cancel()
        continuation.resume(throwing: StoreError.tooSlow(limit))
      }
      let task = Task {
        let request = await lone.run()
        timer.cancel()
        if let continuation = turn.begin() { return continuation.resume(returning: request) }
        // Too late: it is not committed.
        if let request { abandon(request.version) }
      }
      body.withLock { $0 = task }
    }
  }

  /// Commits, again where the server or a connection was away or another commit was in the way.
  private func settled(_ requests: [CommitRequest]) async throws -> CommitUnit {
    var attempt = CommitAttempt(patience: patience, schema.tuning)
    while true {
      do {
        if attempt.uncertain != nil, let unit = try await resolved(&attempt) { return unit }
        return try await commitOnce(requests, &attempt)
      } catch {
        if let refusal = await refusal(error, &attempt) { throw refusal }
      }
    }
  }

  /// Pauses after a failure, if the next try may do better.
  ///
  /// - Returns: The outcome for the caller; `nil` when there is to be another try.
  private func refusal(_ error: any Error, _ attempt: inout CommitAttempt) async -> (any Error)? {
    dropConnection()
    let failure = error as? PostgresFailure
    // While the outcome of a COMMIT is unknown, another refusal does not decide it.
    guard attempt.uncertain != nil || failure?.isConflict == true || failure?.isPassing == true else { return error }
    guard await attempt.pauseBeforeNextTry() else {
      return attempt.uncertain == nil ? error : StoreError.unknownOutcome
    }
    if failure?.isLockTimeout == true { await endSilentHolder() }
    return nil
  }

  /// Ends the session of a process that has the lock and has fallen silent.
  private func endSilentHolder() async {
    let silence = Schema.lockWait(within: patience)
    _ = try? await connection().run(schema.endSilentHolder(after: silence))
  }

  /// Commits in one round trip if no other process has committed since; in two otherwise.
  private func commitOnce(_ requests: [CommitRequest], _ attempt: inout CommitAttempt) async throws -> CommitUnit {
    let (expected, isAlone) = seen
    guard isAlone else {
      let (connection, last) = try await lock()
      return try await commit(requests, last, on: connection, &attempt)
    }
    let guess = CommitUnit(requests, expected, log: log)
    // Whatever others have committed, these requests have read values that have changed.
    if guess.accepted.isEmpty { return guess }
    let connection = try await connection()
    let (known, before) = (self.known, self.now)
    let beginning = schema.lock(after: known) + schema.expect(expected)
    attempt.begin(guess)
    let statements = guess.statements(
      in: schema, unit: attempt.number, expected, forgettingBefore: horizon())
    let answer = await connection.answer(to: beginning + statements, then: guess.isEmpty ? [] : [schema.notify])
    guard let failure = answer.failure else {
      try absorb(answer.rows, known, before)
      return finish(guess)
    }
    attempt.note(failure)
    // The state is another one, and the lock is there.
    guard attempt.uncertain == nil, answer.rows.count == beginning.count - 1 else { throw failure }
    let last = try absorb(answer.rows, known, before)
    connection.send(Schema.forgetGuess)
    return try await commit(requests, last, on: connection, &attempt)
  }

  /// Commits what can be committed; the lock is held.
  private func commit(
    _ requests: [CommitRequest], _ last: CommitState, on connection: PostgresConnection, _ attempt: inout CommitAttempt
  ) async throws -> CommitUnit {
    let unit = CommitUnit(requests, last, log: log)
    if unit.accepted.isEmpty {
      connection.send(Schema.rollback)
      return unit
    }
    try await write(unit, last, on: connection, &attempt)
    return unit
  }

  /// Writes a unit and ends the transaction; the lock is held.
  private func write(
    _ unit: CommitUnit, _ last: CommitState, on connection: PostgresConnection, _ attempt: inout CommitAttempt
  ) async throws {
    attempt.begin(unit)
    let statements = unit.statements(in: schema, unit: attempt.number, last, forgettingBefore: horizon())
    let answer = await connection.answer(to: statements, then: unit.isEmpty ? [] : [schema.notify])
    if let failure = answer.failure {
      attempt.note(failure)
      throw failure
    }
    finish(unit)
  }

  /// Looks for the unit whose COMMIT was not answered: under the lock, when its transaction cannot be under way.
  ///
  /// Where it is not there, the floor is raised above it: should it still be on its way to the server, it finds another
  /// state than it expects, and has no effect.
  ///
  /// - Returns: The unit, if it was committed.
  private func resolved(_ attempt: inout CommitAttempt) async throws -> CommitUnit? {
    guard let unit = attempt.uncertain, let version = unit.commits.last?.version else { return nil }
    let (connection, last) = try await lock()
    let rows = try await connection.run(schema.unit(of: version))
    if rows.first?.bytes(0, 0) == attempt.number {
      connection.send(Schema.rollback)
      return finish(unit)
    }
    let barred = CommitState(version: last.version, floor: max(last.floor, version), hasLong: last.hasLong)
    try await connection.run(schema.set(barred), Schema.commit)
    note(barred: barred)
    attempt.uncertain = nil
    return nil
  }
}
