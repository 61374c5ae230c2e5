import Synchronization

/// What a seam hands out when a listener is added; `cancel()` removes the listener.
///
/// Every listener of every seam keeps the same promises (`ListenerContracts` checks them):
/// - Adding a listener never calls it: a caller may hold a lock around the call that its listener takes, too.
/// - A listener hears every change in the order in which they happened, one call at a time.
/// - For one change, listeners are called in the order in which they were added; all of them hear of it before any
///   hears of the next.
/// - A listener may call anything of the seam, and may cancel itself.
/// - After `cancel()` no further call begins, not even for a change that was already on its way. A call that runs on
///   another thread at that moment may still finish.
/// - Dropping the registration keeps the listener: only `cancel()` ends it.
///
/// An implementation wraps whatever its own registry gave it:
///
/// ```swift
/// func addTokenListener(_ listener: @escaping @Sendable (AuthTokenChange) -> Void) -> InteropRegistration {
///   let id = listeners.add(listener)
///   return InteropRegistration { [weak self] in self?.listeners.remove(id) }
/// }
/// ```
public final class InteropRegistration: Sendable {
  private let isCancelled = Atomic(false)
  private let onCancel: @Sendable () -> Void

  /// A registration that runs a closure on the first `cancel()`.
  ///
  /// - Parameter onCancel: Removes the listener. It runs at most once, on the thread that cancels, and is kept for as
  ///   long as the registration, so it should capture its owner weakly.
  public init(onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = onCancel
  }

  /// Removes the listener; the second and every later call does nothing.
  public func cancel() {
    guard !isCancelled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    onCancel()
  }
}
