/// A value that can be reached only while its lock is held.
///
/// The shape is that of the standard library's `Mutex`, on a heap-allocated platform mutex: here that is two to three
/// times faster than `Mutex`, and Thread Sanitizer understands it. Copies share one lock and one value.
///
/// The lock is not re-entrant. Keep the closure short, and let nothing in it call out: no callbacks, no `await`, no
/// other lock. Take values out and act on them after `withLock` has returned.
///
/// ```swift
/// final class Counter: Sendable {
///   private let count = Locked(0)
///   func increment() -> Int { count.withLock { $0 += 1; return $0 } }
/// }
/// ```
@frozen
public struct Locked<State>: Sendable {
  @usableFromInline
  let cell: LockedCell<State>

  /// Puts `initial` behind a new lock.
  ///
  /// - Parameter initial: The first value; the lock is its only owner from here on.
  @inlinable
  public init(_ initial: sending State) {
    cell = LockedCell(initial)
  }

  /// Runs `body` with exclusive access to the value.
  ///
  /// The lock is released when `body` returns and when it throws; changes made before a throw stay.
  ///
  /// - Parameter body: What to do with the value. It must not call back into this lock.
  /// - Returns: What `body` returned.
  @inlinable
  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    cell.mutex.lock()
    defer { cell.mutex.unlock() }
    return try body(&cell.state)
  }

  /// Runs `body` with exclusive access to the value, unless the lock is taken right now.
  ///
  /// - Parameter body: What to do with the value.
  /// - Returns: What `body` returned; `nil` when somebody else held the lock, and `body` has not run.
  @inlinable
  public func withLockIfAvailable<Result, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard cell.mutex.tryLock() else { return nil }
    defer { cell.mutex.unlock() }
    return try body(&cell.state)
  }
}

/// The heap cell behind a `Locked`: the platform's mutex beside the value it guards.
// Sound as @unchecked Sendable: `state` is touched only between `mutex.lock()` and `mutex.unlock()` in `Locked`.
@usableFromInline
final class LockedCell<State>: @unchecked Sendable {
  @usableFromInline
  let mutex: PlatformMutex

  @usableFromInline
  var state: State

  @inlinable
  init(_ initial: sending State) {
    mutex = PlatformMutex(recursive: false)
    state = initial
  }

  deinit { mutex.destroy() }
}
