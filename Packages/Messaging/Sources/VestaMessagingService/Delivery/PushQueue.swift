import VestaConcurrency

/// The messages that wait for the transports: messages of a few calls are handed over at a time, and a bounded number
/// waits.
///
/// A transport that is slow, or hangs, must not collect a task for every message. Messages without a place here are not
/// lost: it waits in the store until its registration connects.
final class PushQueue: Sendable {
  private struct State {
    /// The messages of one call are handed over one after another.
    var waiting: [ArraySlice<Int64>] = []
    var count = 0
    var lanes = 0
  }

  private let limit: Int
  private let lanes: Int
  private let state = Locked(State())

  /// A queue.
  ///
  /// - Parameters:
  ///   - limit: How many messages may wait.
  ///   - lanes: The number of calls whose messages are handed over at the same time.
  init(limit: Int = 10_000, lanes: Int = 16) { (self.limit, self.lanes) = (limit, lanes) }

  /// How many messages wait, for tests.
  var waitingCount: Int { state.withLock { $0.count } }

  /// Adds the messages of one call.
  ///
  /// - Parameters:
  ///   - numbers: The messages, in order.
  ///   - push: Hands one over; the same for all.
  /// - Returns: The number of messages that were not added, because the queue is full.
  func add(_ numbers: [Int64], _ push: @escaping @Sendable (Int64) async -> Void) -> Int {
    let (begins, surplus) = state.withLock { state in
      let taken = numbers.prefix(max(0, limit - state.count))
      guard !taken.isEmpty else { return (false, numbers.count) }
      state.waiting.append(taken)
      state.count += taken.count
      let begins = state.lanes < lanes
      if begins { state.lanes += 1 }
      return (begins, numbers.count - taken.count)
    }
    if begins { Task { await self.run(push) } }
    return surplus
  }

  private func run(_ push: @Sendable (Int64) async -> Void) async {
    while let numbers = next() { for number in numbers { await push(number) } }
  }

  private func next() -> ArraySlice<Int64>? {
    state.withLock { state in
      if state.waiting.isEmpty {
        state.lanes -= 1
        return nil
      }
      let next = state.waiting.removeFirst()
      state.count -= next.count
      return next
    }
  }
}
