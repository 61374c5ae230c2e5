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
