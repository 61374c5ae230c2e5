import Synchronization

/// Notices when two calls run at once: the first one lingers to give another the chance.
final class OverlapProbe: Sendable {
  private let running = Atomic(0)
  private let overlapped = Atomic(false)
  private let hasLingered = Atomic(false)
  private let gate = Gate()

  var hasOverlapped: Bool { overlapped.load(ordering: .acquiring) }

  func call() {
    let others = running.add(1, ordering: .acquiringAndReleasing).oldValue
    if others > 0 {
      overlapped.store(true, ordering: .releasing)
      gate.open()
    } else if !hasLingered.exchange(true, ordering: .acquiringAndReleasing) {
      _ = gate.passes(within: .seconds(2))
    }
    running.subtract(1, ordering: .acquiringAndReleasing)
  }
}

extension ListenerSubject {
  /// Makes many changes, each in a separate task.
  func changeAtOnce(_ numbers: ClosedRange<Int>) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in numbers {
        group.addTask { _ = try await change(number) }
      }
      try await group.waitForAll()
    }
  }
}
