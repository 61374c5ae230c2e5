import Dispatch
import VestaConcurrency

/// Lets one thread at a time create an item, and knows when waiting would never end.
///
/// The lock is held for a few table operations, never during a creation. Each waiting thread sleeps on a semaphore of
/// its own.
final class CreationGate<Item: Hashable & Sendable>: Sendable {
  enum Entry: Equatable {
    /// Create it, then call `leave`.
    case create
    /// Another thread has been creating it and is done: look again.
    case lookAgain
    /// Creating it would need itself.
    case cycle(path: [Item])
    /// The gate is closed for good.
    case closed
  }

  private struct State {
    var ledger = CreationLedger<Item, PlatformThreadID>()
    var sleepers: [Item: [DispatchSemaphore]] = [:]
    var isClosed = false
    var drained: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Asks to create an item; waits for another thread that is creating it.
  func enter(_ item: Item) -> Entry {
    let thread = PlatformThreadID.current
    let (entry, bed): (Entry, DispatchSemaphore?) = state.withLock { state in
      if state.isClosed { return (.closed, nil) }
      switch state.ledger.request(item, by: thread) {
      case .create: return (.create, nil)
      case .cycle(let path): return (.cycle(path: path), nil)
      case .wait:
        let bed = DispatchSemaphore(value: 0)
        state.sleepers[item, default: []].append(bed)
        return (.lookAgain, bed)
      }
    }
    bed?.wait()
    return entry
  }

  /// Says that the item has been created, or that it could not be.
  func leave(_ item: Item) {
    let thread = PlatformThreadID.current
    let (beds, drained) = state.withLock { state in
      state.ledger.finish(item, by: thread)
      var drained: [CheckedContinuation<Void, Never>] = []
      if state.isClosed && state.ledger.isEmpty { swap(&drained, &state.drained) }
      return (state.sleepers.removeValue(forKey: item) ?? [], drained)
    }
    for bed in beds { bed.signal() }
    for continuation in drained { continuation.resume() }
  }

  /// Lets nobody in from here on, and returns when everybody is out.
  func close() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        state.isClosed = true
        if !state.ledger.isEmpty { state.drained.append(continuation) }
        return state.ledger.isEmpty
      }
      if isEmpty { continuation.resume() }
    }
  }
}
