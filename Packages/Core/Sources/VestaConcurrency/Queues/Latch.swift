/// Something that happens once, and that any number of tasks may wait for.
///
/// ```swift
/// let closed = Latch()
/// // the closing task:        closed.open()
/// // a task that waits:       await closed.wait()   // returns at once after the opening
/// ```
public final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiting = Waiters()
  }

  private let state = Locked(State())

  /// A latch that is closed.
  public init() {}

  /// Whether it has been opened.
  public var isOpen: Bool { state.withLock { $0.isOpen } }

  /// The number of tasks that wait.
  public var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Resumes all tasks that wait, now or later; only the first call has an effect.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      return state.waiting.takeAll()
    }
    waiting.resume()
  }

  /// Waits until it is open; a cancellation does not end the wait.
  public func wait() async { await state.wait(in: \.waiting) { $0.isOpen } }
}
