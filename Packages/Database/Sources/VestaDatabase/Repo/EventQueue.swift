import Dispatch
import VestaConcurrency

/// The queue on which observers and completions are called, in order.
final class EventQueue: Sendable {
  private let queue: Locked<DispatchQueue>

  init(_ target: DispatchQueue) { queue = Locked(DispatchQueue(label: "vesta.database.events", target: target)) }

  func setTarget(_ target: DispatchQueue) {
    let new = DispatchQueue(label: "vesta.database.events", target: target)
    queue.withLock { $0 = new }
  }

  /// Returns when everything that was posted has been called.
  func drain() { queue.withLock { $0 }.sync {} }

  func post(_ calls: [@Sendable () -> Void]) {
    if calls.isEmpty { return }
    queue.withLock { $0 }.async { for call in calls { call() } }
  }
}

/// The system's random number generator, or one with a seed.
struct RepoRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64?
  private var system = SystemRandomNumberGenerator()

  init(seed: UInt64?) { state = seed }

  mutating func next() -> UInt64 {
    guard let value = state else { return system.next() }
    // A linear congruential step is enough: it only spreads reconnections.
    let next = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    state = next
    return next
  }
}
