import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

// The removal of expired rows, and the counts.
extension MessagingEngine {
  /// Removes what is over, at most once a minute; also when the clock was set back.
  func startSweeping() {
    let (now, pause) = (options.clock.now(), options.tuning.sweepPause.microseconds)
    let isDue = lastSweep.withLock { last in
      if let last, (0...pause).contains(now - last) { return false }
      last = now
      return true
    }
    if isDue { Task { try? await sweep() } }
  }

  /// Removes the messages whose time is over, and of some registrations the ones whose lifetime is over.
  func sweep() async throws {
    let limit = max(1, options.tuning.sweepBatch)
    while try await write({ try await $0.sweep(limit: limit) }) == limit {}
    try await sweepRegistrations()
  }

  /// Looks at the next registrations: all of them have their turn within some sweeps.
  private func sweepRegistrations() async throws {
    let (store, limit) = (try await store(), max(1, options.tuning.sweepBatch))
    let (start, end) = (lastRegistration.withLock { $0 }, time() - options.registrationLifetime.microseconds)
    let entries = try await store.read { reader in
      try await reader.entries(in: Keys.registrations(after: start), limit: limit)
    }
    lastRegistration.withLock { $0 = entries.count == limit ? entries.last?.key : nil }
    var ended: [RegistrationKey] = []
    for entry in entries {
      guard let record = StoreRow.intact(RegistrationRecord.self, entry.value, entry.key), record.lastSeenTime <= end
      else { continue }
      ended.append(try Keys.registration(ofRow: entry.key))
    }
    guard !ended.isEmpty else { return }
    let keys = ended
    try await write { try await $0.sweep(keys) }
    startDispatching()
  }

  /// Notes down a delivery, which is written to the store within a second.
  func countDelivery() {
    guard deliveries.add(1) else { return }
    _ = options.clock.schedule(after: options.tuning.countDelay) { [weak self] in
      guard let self else { return }
      deliveries.timerHasFired()
      Task { try? await self.countDeliveries() }
    }
  }

  /// Writes down the deliveries since the last time.
  ///
  /// - Returns: All counts.
  @discardableResult
  func countDeliveries() async throws -> DeliveryStatistics {
    let delivered = deliveries.take()
    do {
      return try await write { try await $0.count { $0.delivered += delivered } }
    } catch {
      deliveries.add(delivered)
      throw error
    }
  }
}

// Times of several processes.
extension MessagingEngine {
  /// The time of the service: that of the store where several processes share it, whatever this one's clock says.
  ///
  /// A message has the time at which it was sent, and is over some time later: two processes whose clocks differ by
  /// minutes would have it over at once, or keep it for too long.
  func time() -> Int64 { options.clock.now() + lead.withLock { $0.value } }

  /// Finds out what the store's clock is ahead of this engine's, at the first use of a shared store and then once a
  /// minute.
  func compareClocks(_ store: any OrderedStore) async {
    guard let observable = store as? any CommitObservable, !observable.tellsBeforeAcknowledging else { return }
    let (before, pause) = (options.clock.now(), options.tuning.sweepPause.microseconds)
    let isDue = lead.withLock { lead in
      if let last = lead.time, (0...pause).contains(before - last) { return false }
      lead.time = before
      return true
    }
    guard isDue, let version = try? await store.raiseFloor(to: nil) else { return }
    let after = options.clock.now()
    lead.withLock { $0.value = Lead.between(version.microseconds, before, after) }
  }

  struct Lead: Sendable {
    var value: Int64 = 0
    var time: Int64?

    /// The least lead of a clock that was read between two readings of another one; below two seconds it is none, as
    /// versions of the store may be ahead of its clock by a little.
    static func between(_ version: Int64, _ before: Int64, _ after: Int64) -> Int64 {
      let lead = version > after ? version - after : min(0, version - before)
      return abs(lead) > 2_000_000 ? lead : 0
    }
  }
}

/// The deliveries that are not written down yet.
final class DeliveryCount: Sendable {
  private struct State {
    var count: Int64 = 0
    var hasTimer = false
  }

  private let state = Locked(State())

  /// Adds some; answers whether a timer is needed.
  @discardableResult
  func add(_ count: Int64) -> Bool {
    state.withLock { state in
      state.count += count
      guard count > 0, !state.hasTimer else { return false }
      state.hasTimer = true
      return true
    }
  }

  func timerHasFired() { state.withLock { $0.hasTimer = false } }

  func take() -> Int64 {
    state.withLock { state in
      defer { state.count = 0 }
      return state.count
    }
  }
}
