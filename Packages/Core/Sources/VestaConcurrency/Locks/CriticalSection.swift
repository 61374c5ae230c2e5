/// A re-entrant lock around a piece of code.
///
/// While one thread is in a section, no other thread is in it. The thread that is in may enter again, as deep as it
/// likes, and cannot deadlock with itself. The section is open again when the closure returns and when it throws.
///
/// Prefer ``Locked``, which ties the lock to the value it guards; a `CriticalSection` is for code that guards
/// something it cannot own, or that has to call itself.
///
/// ```swift
/// let section = CriticalSection()
/// let total = section.execute { ledger.add(entry) }
/// let done = section.executeWithTimeout(1.0) { ledger.flush() }
/// ```
public final class CriticalSection: Sendable {
  @usableFromInline
  let mutex = PlatformRecursiveMutex()

  /// Makes an empty section.
  public init() {}

  deinit { mutex.destroy() }

  /// Runs `body` with exclusive access, waiting for as long as that takes.
  ///
  /// - Parameter body: The code to run; it may use the same section again.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; the section has been left then.
  @inlinable
  public func execute<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    mutex.lock()
    defer { mutex.unlock() }
    return try body()
  }

  /// Runs `body` with exclusive access, unless that cannot be had in time.
  ///
  /// The limit is on the wait alone; `body` may take longer. A zero or negative limit asks once and does not wait. On
  /// Linux the wait may last longer than asked for when the system's clock is set back during it.
  ///
  /// - Parameters:
  ///   - timeout: How long to wait for access.
  ///   - body: The code to run; it may use the same section again.
  /// - Returns: The result of `body`; `nil` on time-out, and then `body` has not run and never will.
  /// - Throws: The error of `body`; the section has been left then.
  @inlinable
  public func execute<Result, Failure: Error>(
    timeout: Duration, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard mutex.lock(within: timeout) else { return nil }
    defer { mutex.unlock() }
    return try body()
  }

  /// Runs `body` with exclusive access, unless that cannot be had within `seconds`.
  ///
  /// - Parameters:
  ///   - seconds: How long to wait for access. Zero, a negative number and NaN ask once and do not wait.
  ///   - body: The code to run; it may use the same section again.
  /// - Returns: Whether `body` has run. If not, it never will.
  /// - Throws: The error of `body`; the section has been left then.
  @inlinable
  public func executeWithTimeout<Failure: Error>(
    _ seconds: Double, _ body: () throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    try execute(timeout: Duration(limitInSeconds: seconds), body) != nil
  }
}

extension Duration {
  /// A time limit from any number: NaN counts as zero, the largest limit is a century.
  @usableFromInline
  init(limitInSeconds seconds: Double) {
    self = seconds > 0 ? .seconds(min(seconds, 3_155_760_000)) : .zero
  }
}
