import VestaConcurrency

/// A listener, until it is removed.
package final class SyncRegistration: Sendable {
  private let onRemove: Locked<(@Sendable () -> Void)?>

  init(_ onRemove: @escaping @Sendable () -> Void) { self.onRemove = Locked(onRemove) }

  /// Removes the listener: it is not called again, except by a call that is under way.
  ///
  /// Calling it again does nothing.
  package func remove() {
    let action = onRemove.withLock { $0.take() }
    action?()
  }
}

/// What a listener is called with, until it is muted.
final class Receiver<Element: Sendable>: Sendable {
  private let action: Locked<(@Sendable (Element) -> Void)?>

  init(_ action: @escaping @Sendable (Element) -> Void) { self.action = Locked(action) }

  func receive(_ element: Element) {
    let action = action.withLock { $0 }
    action?(element)
  }

  func mute() {
    let action = action.withLock { $0.take() }
    withExtendedLifetime(action) {}
  }
}
