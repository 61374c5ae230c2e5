/// Shares a limited number of places among owners; callers wait without blocking a thread.
///
/// - A place that becomes free is given to the waiting owner that has the fewest; the callers of one owner keep their
///   order.
/// - With ``Bound/soft`` an owner that has less than its share (the limit divided by the owners that are inside or
///   wait) enters beyond the limit. So an owner whose callers keep their places for long does not hold up the others,
///   and at most twice the limit and one for each owner are inside.
/// - A task that is cancelled while it waits leaves at once with `CancellationError`.
///
/// ```swift
/// let places = FairShares<String>(limit: 80, bound: .soft)
/// try await places.enter("resize")
/// defer { places.leave("resize") }
/// ```
///
/// A caller that waits for another one of the same queue returns its place for that time, and returns with
/// ``enter(_:isReturning:)``: it is served before all others then.
public final class FairShares<Owner: Hashable & Sendable>: Sendable {
  /// The meaning of the limit.
  public enum Bound: Sendable, Hashable {
    /// There are never more inside.
    case hard
    /// An owner with less than its share enters all the same.
    case soft
  }

  private struct State {
    var table: ShareTable<Owner, Turn<Void>>
    var closedError: (any Error)?
  }

  private let state: Locked<State>

  /// An empty queue.
  ///
  /// - Parameters:
  ///   - limit: The number of places; at least one.
  ///   - bound: Whether it may be exceeded.
  public init(limit: Int, bound: Bound = .hard) {
    state = Locked(State(table: ShareTable(limit: limit, bound: bound)))
  }

  /// The number of callers inside.
  public var runningCount: Int { state.withLock { $0.table.total } }

  /// The number of callers that wait.
  public var waitingCount: Int { state.withLock { $0.table.waiting { !$0.isOver } } }

  /// Waits for a place; every call that returns needs one ``leave(_:)``.
  ///
  /// - Parameters:
  ///   - owner: The owner that the place counts for.
  ///   - isReturning: Whether the caller had a place, gave it back to wait for another caller, and continues now.
  /// - Throws: `CancellationError`, or the error of ``close(throwing:)``; the caller is not inside then.
  public func enter(_ owner: Owner, isReturning: Bool = false) async throws {
    try Task.checkCancellation()
    if try enterIfFree(owner) { return }
    try await Turn<Void>().wait { turn in
      let outcome = state.withLock { state -> Result<Void, any Error>? in
        if let error = state.closedError { return .failure(error) }
        if state.table.enter(owner) { return .success(()) }
        state.table.wait(turn, owner, isReturning: isReturning)
        return nil
      }
      guard let outcome else { return }
      if let continuation = turn.begin() {
        continuation.resume(with: outcome)
      } else if case .success = outcome {
        leave(owner)
      }
    } onCancel: { [self] _ in
      // Fewer owners may have larger shares.
      serve(
        state.withLock { state in
          state.table.forget { $0.isOver }
          return state.table.next()
        })
    }
  }

  /// Takes a place if one is free for the owner.
  ///
  /// - Returns: Whether the caller is inside, and has to call ``leave(_:)``.
  /// - Throws: The error of ``close(throwing:)``.
  @_specialize(where Owner == String)  // The general code looks its types up at each call: that costs most of it.
  public func enterIfFree(_ owner: Owner) throws -> Bool {
    try state.withLock { state in
      if let error = state.closedError { throw error }
      return state.table.enter(owner)
    }
  }

  /// Gives a place back.
  @_specialize(where Owner == String)
  public func leave(_ owner: Owner) {
    serve(
      state.withLock { state in
        state.table.leave(owner)
        return state.table.next()
      })
  }

  /// Lets those in who can be.
  ///
  /// - Parameter first: The first of them, who has been taken out of the table; `nil` for none.
  @_specialize(where Owner == String)
  private func serve(_ first: (owner: Owner, waiter: Turn<Void>)?) {
    var following = first
    while let (next, turn) = following {
      if let continuation = turn.begin() {
        continuation.resume()
      } else {
        state.withLock { $0.table.leave(next) }
      }
      following = state.withLock { $0.table.next() }
    }
  }

  /// Refuses waiting and later callers; a later call changes nothing.
  ///
  /// - Parameter error: The error for them.
  public func close(throwing error: any Error) {
    let refused = state.withLock { state -> [Turn<Void>] in
      guard state.closedError == nil else { return [] }
      state.closedError = error
      return state.table.takeAll()
    }
    for turn in refused { turn.begin()?.resume(throwing: error) }
  }
}

/// Who is inside, who waits, and who is next; pure.
struct ShareTable<Owner: Hashable & Sendable, Waiter> {
  private struct Line {
    var running = 0
    var waiters = Fifo<Waiter>()
    var isUnused: Bool { running == 0 && waiters.isEmpty }
  }

  private let limit: Int
  private let bound: FairShares<Owner>.Bound
  private var lines: [Owner: Line] = [:]
  private var returning = Fifo<(owner: Owner, waiter: Waiter)>()
  /// The owners with waiters, the one that was served last at the end.
  private var order: [Owner] = []
  /// The number of waiters that have left and are still in a line.
  private var forgotten = 0

  /// The number of callers inside.
  private(set) var total = 0

  init(limit: Int, bound: FairShares<Owner>.Bound) {
    self.limit = max(1, limit)
    self.bound = bound
  }

  /// The number of waiters of which something holds.
  func waiting(_ isCounted: (Waiter) -> Bool) -> Int {
    lines.values.reduce(returning.elements.count { isCounted($0.waiter) }) {
      $0 + $1.waiters.elements.count(where: isCounted)
    }
  }

  /// Takes a place, if one is free for the owner.
  mutating func enter(_ owner: Owner) -> Bool {
    if total < limit, order.isEmpty, returning.isEmpty {
      lines[owner, default: Line()].running += 1
      total += 1
      return true
    }
    // No caller overtakes: a waiting one gets a place as soon as there is one.
    guard lines[owner]?.waiters.isEmpty ?? true, isFree(for: owner, isNew: lines[owner] == nil) else { return false }
    lines[owner, default: Line()].running += 1
    total += 1
    return true
  }

  /// Adds a waiter.
  mutating func wait(_ waiter: Waiter, _ owner: Owner, isReturning: Bool) {
    guard !isReturning else { return returning.append((owner, waiter)) }
    if lines[owner]?.waiters.isEmpty ?? true { order.append(owner) }
    lines[owner, default: Line()].waiters.append(waiter)
  }

  mutating func leave(_ owner: Owner) {
    guard let index = lines.index(forKey: owner), lines.values[index].running > 0 else { return }
    lines.values[index].running -= 1
    total -= 1
    if lines.values[index].isUnused { lines.remove(at: index) }
  }

  /// The waiter whose turn it is, inside already; `nil` for none.
  mutating func next() -> (owner: Owner, waiter: Waiter)? {
    if order.isEmpty, returning.isEmpty { return nil }
    if total < limit, let first = returning.popFirst() {
      lines[first.owner, default: Line()].running += 1
      total += 1
      return first
    }
    let least = order.indices.min { running(order[$0]) < running(order[$1]) }
    guard let least, isFree(for: order[least], isNew: false) else { return nil }
    let owner = order.remove(at: least)
    guard let waiter = lines[owner]?.waiters.popFirst() else { return next() }
    lines[owner]?.running += 1
    total += 1
    if lines[owner]?.waiters.isEmpty == false { order.append(owner) }
    return (owner, waiter)
  }

  /// Notes that a waiter has left; takes such waiters out when they are most of the waiting ones.
  mutating func forget(_ isGone: (Waiter) -> Bool) {
    forgotten += 1
    guard forgotten > 32 else { return }
    let count = lines.values.reduce(returning.count) { $0 + $1.waiters.count }
    guard forgotten * 2 > count else { return }
    forgotten = 0
    let kept = returning.takeAll().filter { !isGone($0.waiter) }
    for entry in kept { returning.append(entry) }
    for owner in order {
      let kept = lines[owner]?.waiters.takeAll().filter { !isGone($0) } ?? []
      for waiter in kept { lines[owner]?.waiters.append(waiter) }
      if lines[owner]?.isUnused == true { lines[owner] = nil }
    }
    order.removeAll { lines[$0]?.waiters.isEmpty ?? true }
  }

  /// Empties the lines.
  mutating func takeAll() -> [Waiter] {
    var all = returning.takeAll().map(\.waiter)
    for owner in order {
      all += lines[owner]?.waiters.takeAll() ?? []
      if lines[owner]?.isUnused == true { lines[owner] = nil }
    }
    order = []
    return all
  }

  private func running(_ owner: Owner) -> Int { lines[owner]?.running ?? 0 }

  private func isFree(for owner: Owner, isNew: Bool) -> Bool {
    if total < limit { return returning.isEmpty }
    guard bound == .soft else { return false }
    return running(owner) < max(1, limit / (lines.count + (isNew ? 1 : 0)))
  }
}
