import VestaConcurrency

/// A list that any thread may append to and a test may wait for.
///
/// ```swift
/// let log = Log<String>()
/// let registration = source.add { log.add($0) }
/// await log.wait { $0.count == 3 }
/// ```
public final class Log<Entry: Sendable>: Sendable {
  private struct State {
    var entries: [Entry] = []
    var waiting: [(isSatisfied: @Sendable ([Entry]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  /// An empty list.
  public init() {}

  /// Everything so far, in order.
  public var entries: [Entry] { state.withLock { $0.entries } }

  /// Appends an entry.
  public func add(_ entry: Entry) {
    let satisfied = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.entries.append(entry)
      let entries = state.entries
      let satisfied = state.waiting.filter { $0.isSatisfied(entries) }.map(\.continuation)
      if !satisfied.isEmpty { state.waiting.removeAll { $0.isSatisfied(entries) } }
      return satisfied
    }
    for continuation in satisfied { continuation.resume() }
  }

  /// Removes and returns everything so far.
  public func drain() -> [Entry] {
    state.withLock { state in
      defer { state.entries = [] }
      return state.entries
    }
  }

  /// Waits for a number of entries.
  ///
  /// - Returns: All entries then.
  @discardableResult
  public func wait(for count: Int) async -> [Entry] {
    await wait { $0.count >= count }
    return entries
  }

  /// Waits until the entries satisfy a condition, without a time limit: the time limit of the test applies.
  ///
  /// - Parameter isSatisfied: The condition; asked after every entry, under a lock, so it must not call the log.
  public func wait(until isSatisfied: @escaping @Sendable ([Entry]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isNow = state.withLock { state in
        if isSatisfied(state.entries) { return true }
        state.waiting.append((isSatisfied, continuation))
        return false
      }
      if isNow { continuation.resume() }
    }
  }
}
