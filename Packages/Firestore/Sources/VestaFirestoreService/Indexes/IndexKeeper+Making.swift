import VestaConcurrency
import VestaCore
import VestaFirestoreIndexes
import VestaServiceInterop
import VestaStoreInterop

/// Jobs in the background: indexes are made, and the entries of dropped ones deleted; one engine at a time does each.
extension IndexKeeper {
  /// Makes indexes in the background; nothing happens to one that is being made.
  func build(_ shapes: [IndexShape]) {
    let now = options.now()
    state.withLock { state in
      let shapes = shapes.filter { shape in
        if let other = state.elsewhere[.build(shape)], abs(now - other.since) < other.remaining { return false }
        return state.building[shape] == nil
      }
      guard !state.isClosed, !shapes.isEmpty else { return }
      // Detached: a build may be asked for from within a transaction, and is no part of it.
      let task = Task.detached {
        for shape in shapes {
          await self.make(shape)
          self.state.withLock { $0.building[shape] = nil }
        }
      }
      for shape in shapes { state.building[shape] = task }
    }
  }

  /// Makes one index.
  ///
  /// A failure leaves it unfinished; a later query that needs it continues.
  func make(_ shape: IndexShape) async {
    do {
      try await run(shape)
      state.withLock { $0.asked[shape] = nil }
    } catch let failure as UnfitIndex {
      log.warning("I-FSS000003", "The index \(shape.properties) of \(shape.collectionID) is given up: \(failure)")
      let (rows, lease) = (rows, StoreLease(key: keys.lease(.building(failure.id)), owner: owner))
      _ = try? await store.write { transaction in
        try await rows.giveUp([failure.id], in: transaction)
        try await lease.release(in: transaction)
      }
      sweep()
    } catch let lost as StoreLeaseLost {
      leave(.build(shape), to: lost.holder)
    } catch {
      log.warning("I-FSS000004", "The index \(shape.properties) of \(shape.collectionID) is not ready: \(error)")
      state.withLock { state in
        if state.failed.count > options.tuning.indexes.failures { state.failed = [:] }
        state.failed[shape] = options.now()
      }
    }
  }

  func run(_ shape: IndexShape) async throws {
    let (rows, keys, owner, used) = (rows, keys, owner, state.withLock { $0.used })
    let number = try await store.write { transaction -> Int64? in
      guard let number = try await rows.register([shape], used: used, in: transaction)[0] else { return nil }
      if try await rows.isUnfinished(number, in: transaction) {
        try await StoreLease(key: keys.lease(.building(number)), owner: owner).keep(in: transaction)
      }
      return number
    }.value
    sweep()
    // No number: the collection has its maximum of indexes already, all of them in use.
    guard let number else { return state.withLock { $0.asked[shape] = 0 } }
    let lease = StoreLease(key: keys.lease(.building(number)), owner: owner)
    let build = IndexBuild(
      of: number, keys: keys, name: name, retention: options.retention.microseconds, tuning: options.tuning)
    var pace = WorkPace(options.tuning.indexes)
    let clock = options.clock
    while var run = try await store.read({ try await build.next(in: $0) }) {
      while run.isReading {
        if await isOver(lease) { return }
        let before = run
        run = try await store.read { try await build.read(before, in: $0) }
        // Other tasks of the process are not to wait for more than a page.
        await Task.yield()
      }
      while run.isOpen {
        if await isOver(lease) { return }
        // The body may run again, and begins with the same run then.
        let (before, part) = (run, pace.part)
        let commit = try await store.write { transaction in
          let start = clock.now()
          let run = try await build.write(before, part: part, in: transaction)
          if run.isLast {
            try await lease.release(in: transaction)
          } else {
            try await lease.keep(in: transaction)
          }
          return (run, start)
        }
        run = commit.value.0
        let duration = Duration.microseconds(clock.now() - commit.value.1)
        let pause = pace.note(duration, from: run.version, to: commit.version.microseconds)
        if pause > .zero { try await clock.sleep(for: pause) }
      }
      if run.isLast { return }
    }
  }

  /// Whether the engine has been shut down; then another one can continue at once.
  func isOver(_ lease: StoreLease) async -> Bool {
    guard state.withLock({ $0.isClosed }) else { return false }
    _ = try? await store.write { try await lease.release(in: $0) }
    return true
  }

  /// Leaves a job to another engine, and looks again when that one's lease has ended if it is not renewed.
  func leave(_ job: Job, to holder: StoreLease.Holder) {
    let now = options.now()
    let again = options.clock.schedule(after: .microseconds(holder.remaining + 20_000)) { [weak self] in
      self?.lookAgain(at: job)
    }
    let old = state.withLock { state -> ListenerRegistration? in
      if state.isClosed { return again }
      defer { state.elsewhere[job] = Elsewhere(since: now, remaining: holder.remaining, again: again) }
      return state.elsewhere[job]?.again
    }
    old?.cancel()
  }

  func lookAgain(at job: Job) {
    state.withLock { $0.elsewhere[job] = nil }
    switch job {
    case .build(let shape): build([shape])
    case .sweep: sweep()
    }
  }

  /// Deletes the entries of dropped indexes, in small steps between commits.
  func sweep() {
    let now = options.now()
    state.withLock { state in
      guard state.sweeping == nil, !state.isClosed else { return }
      if let other = state.elsewhere[.sweep], abs(now - other.since) < other.remaining { return }
      state.sweeping = Task.detached {
        do {
          try await self.sweepAll()
        } catch let lost as StoreLeaseLost {
          self.leave(.sweep, to: lost.holder)
        } catch {
          log.warning("I-FSS000005", "The entries of an index that has gone could not be deleted: \(error)")
        }
        self.state.withLock { $0.sweeping = nil }
      }
    }
  }

  func sweepAll() async throws {
    let (rows, lease) = (rows, StoreLease(key: keys.lease(.sweeping), owner: owner))
    var isHeld = false
    while !state.withLock({ $0.isClosed }), let step = try await store.read({ try await rows.step(in: $0) }) {
      try await store.write { transaction in
        transaction.freesRoom()
        try await rows.take(step, in: transaction)
        try await lease.keep(in: transaction)
      }
      isHeld = true
    }
    if isHeld { try await store.write { try await lease.release(in: $0) } }
  }
}
