/// Something that is opened when it is first needed, once for all callers, and closed in the end.
///
/// For a resource that takes an `await` to open, such as a store, in an object that exists at once, such as a
/// component.
///
/// - A caller that asks while it is being opened waits for that opening. A task that is cancelled leaves at once; the
///   opening continues for the others, and for the next caller.
/// - A failure to open is thrown to the waiting callers and not remembered: the next caller tries again.
/// - ``close()`` waits for an opening that is under way and closes its result: when it has returned, nothing is open
///   and nothing opens again.
///
/// ```swift
/// let store = LazyResource(whenClosed: closed) { try await provider.openStore(…) } close: { try await $0.close() }
/// try await store.get().read { … }
/// ```
public final class LazyResource<Resource: Sendable>: Sendable {
  private enum State {
    case shut
    case opening([Turn<Resource>])
    case open(Resource)
    case ended
  }

  private struct Guarded {
    var state = State.shut
    /// Opened when no opening is under way; exists while one is.
    var opening: Latch?
    var isClosing = false
    /// The number of cancelled turns among the waiting ones.
    var cancelled = 0
  }

  private let guarded = Locked(Guarded())
  private let ended = Latch()
  private let open: @Sendable () async throws -> Resource
  private let end: @Sendable (Resource) async throws -> Void
  private let closedError: any Error

  /// Describes a resource; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - closedError: What ``get()`` throws after ``close()``.
  ///   - open: Opens it, in a task that is never cancelled.
  ///   - close: Closes it; called once for what `open` has returned.
  public init(
    whenClosed closedError: any Error,
    open: @escaping @Sendable () async throws -> Resource,
    close: @escaping @Sendable (Resource) async throws -> Void
  ) {
    self.closedError = closedError
    self.open = open
    end = close
  }

  /// The open resource, opened if need be.
  ///
  /// - Returns: The same one for every caller.
  /// - Throws: The error of opening it, the error for closed resources, or `CancellationError`.
  public func get() async throws -> Resource {
    if let resource = try current() { return resource }
    return try await Turn<Resource>().wait { turn in
      let (answer, begins) = guarded.withLock { guarded -> (Result<Resource, any Error>?, Bool) in
        if guarded.isClosing { return (.failure(closedError), false) }
        switch guarded.state {
        case .open(let resource): return (.success(resource), false)
        case .ended: return (.failure(closedError), false)
        case .opening(let turns):
          guarded.state = .opening(turns + [turn])
          return (nil, false)
        case .shut:
          guarded.state = .opening([turn])
          guarded.cancelled = 0
          guarded.opening = Latch()
          return (nil, true)
        }
      }
      if let answer { turn.begin()?.resume(with: answer) }
      if begins { Task(priority: .ofSharedWork) { await self.openNow() } }
    } onCancel: { [self] _ in
      forgetCancelled()
    }
  }

  /// The number of turns that are kept, cancelled ones included, for tests.
  var storedCount: Int {
    guarded.withLock { if case .opening(let turns) = $0.state { turns.count } else { 0 } }
  }

  /// Drops cancelled turns when they are most of the waiting ones: an opening that hangs must not collect them.
  private func forgetCancelled() {
    guarded.withLock { guarded in
      guard case .opening(let turns) = guarded.state else { return }
      guarded.cancelled += 1
      guard guarded.cancelled > 32, guarded.cancelled * 2 > turns.count else { return }
      guarded.state = .opening(turns.filter { !$0.isOver })
      guarded.cancelled = 0
    }
  }

  /// Closes the resource, if it is open, and refuses to open it again; a later call waits for the first.
  ///
  /// - Throws: The error of closing it, to the first caller; it counts as closed all the same.
  public func close() async throws {
    let (isFirst, opening) = guarded.withLock { guarded in
      defer { guarded.isClosing = true }
      return (!guarded.isClosing, guarded.opening)
    }
    guard isFirst else { return await ended.wait() }
    defer { ended.open() }
    await opening?.wait()
    let resource = guarded.withLock { guarded -> Resource? in
      defer { guarded.state = .ended }
      if case .open(let resource) = guarded.state { return resource }
      return nil
    }
    if let resource { try await end(resource) }
  }

  private func current() throws -> Resource? {
    try guarded.withLock { guarded in
      if guarded.isClosing { throw closedError }
      if case .open(let resource) = guarded.state { return resource }
      return nil
    }
  }

  private func openNow() async {
    let result: Result<Resource, any Error>
    do {
      result = .success(try await open())
    } catch {
      result = .failure(error)
    }
    let (turns, opening, isClosing) = guarded.withLock { guarded -> ([Turn<Resource>], Latch?, Bool) in
      var turns: [Turn<Resource>] = []
      if case .opening(let waiting) = guarded.state { turns = waiting }
      if case .success(let resource) = result { guarded.state = .open(resource) } else { guarded.state = .shut }
      return (turns, guarded.opening.take(), guarded.isClosing)
    }
    let answer = isClosing ? .failure(closedError) : result
    for turn in turns { turn.begin()?.resume(with: answer) }
    opening?.open()
  }
}
