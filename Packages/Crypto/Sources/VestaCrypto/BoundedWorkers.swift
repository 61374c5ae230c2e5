import Dispatch
import VestaConcurrency

/// Runs slow, blocking work on threads outside the cooperative pool, a few pieces at a time, first come first served.
///
/// A task that is cancelled while it waits for its turn leaves the queue at once with `CancellationError`; work that
/// has begun runs to its end.
final class BoundedWorkers: Sendable {
  private typealias Turn = CheckedContinuation<Void, any Error>

  private let slots: Locked<WorkSlots<Turn>>
  private let queue = DispatchQueue(label: "vesta.crypto.slow", qos: .userInitiated, attributes: .concurrent)

  init(limit: Int) { slots = Locked(WorkSlots(limit: max(1, limit))) }

  func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await waitForTurn()
    defer { slots.withLock { $0.leave() }?.resume() }
    try Task.checkCancellation()
    return try await withCheckedThrowingContinuation { done in
      queue.async { done.resume(with: Result { try work() }) }
    }
  }

  /// How many wait for their turn; for tests.
  var waitingCount: Int { slots.withLock { $0.waitingCount } }

  private func waitForTurn() async throws {
    let ticket = slots.withLock { $0.takeTicket() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (turn: Turn) in
        slots.withLock { $0.enter(ticket, turn) }?.resume()
        // Cancelled before the ticket was in the queue: the handler below found nothing, so look again.
        if Task.isCancelled { giveUp(ticket) }
      }
    } onCancel: {
      giveUp(ticket)
    }
  }

  private func giveUp(_ ticket: Int) {
    slots.withLock { $0.giveUp(ticket) }?.resume(throwing: CancellationError())
  }
}

/// Who may work and who waits: the decisions of `BoundedWorkers`.
///
/// What a method returns is to be resumed by the caller, with the lock open.
struct WorkSlots<Waiter> {
  private let limit: Int
  private var running = 0
  private var lastTicket = 0
  private var waiting: [(ticket: Int, waiter: Waiter)] = []

  init(limit: Int) { self.limit = limit }

  var waitingCount: Int { waiting.count }

  mutating func takeTicket() -> Int {
    lastTicket += 1
    return lastTicket
  }

  /// Begins or waits; the waiter comes back when it may begin at once.
  mutating func enter(_ ticket: Int, _ waiter: Waiter) -> Waiter? {
    guard running >= limit else {
      running += 1
      return waiter
    }
    waiting.append((ticket, waiter))
    return nil
  }

  /// Leaves the queue; the waiter comes back when it was still in it.
  mutating func giveUp(_ ticket: Int) -> Waiter? {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
    return waiting.remove(at: index).waiter
  }

  /// Ends a piece of work; whoever waits longest takes its place.
  mutating func leave() -> Waiter? {
    guard waiting.isEmpty else { return waiting.removeFirst().waiter }
    running -= 1
    return nil
  }
}
