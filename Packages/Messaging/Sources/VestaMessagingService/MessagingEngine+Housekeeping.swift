import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

// The removal of expired rows, and the counts.
extension MessagingEngine {
  /// Removes what is over, at most once a minute; also when the clock was set back.
  func startSweeping() {
    let now = options.clock.now()
    let isDue = lastSweep.withLock { last in
      if let last, (0...60_000_000).contains(now - last) { return false }
      last = now
      return true
    }
    if isDue { Task { try? await sweep() } }
  }

  /// Removes the messages whose time is over, and of some registrations those that have ended.
  func sweep() async throws {
    while try await write({ try await $0.sweep(limit: 256) }) == 256 {}
    try await sweepRegistrations()
  }

  /// Looks at the next registrations: all of them have their turn within some sweeps.
  private func sweepRegistrations() async throws {
    let (start, end) = (
      lastRegistration.withLock { $0 }, options.clock.now() - options.registrationLifetime.microseconds
    )
    let entries = try await store().read { reader in
      try await reader.entries(in: Keys.registrations(after: start), limit: 256)
    }
    lastRegistration.withLock { $0 = entries.count == 256 ? entries.last?.key : nil }
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
    _ = options.clock.schedule(after: .seconds(1)) { [weak self] in
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
