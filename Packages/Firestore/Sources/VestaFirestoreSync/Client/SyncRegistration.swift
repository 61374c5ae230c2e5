import VestaConcurrency

/// A listener, until it is removed.
package final class SyncRegistration: Sendable {
  private let registration: ListenerRegistration

  init(_ onRemove: @escaping @Sendable () -> Void) { registration = ListenerRegistration(onRemove) }

  /// Removes the listener: it is not called again, except by a call that is under way.
  ///
  /// Calling it again does nothing.
  package func remove() { registration.cancel() }
}

/// The closure of a listener, until it is muted.
final class Receiver<Element: Sendable>: Sendable {
  /// The closure in a structure of its own, as `Locked` asks for.
  private struct Action: Sendable {
    let perform: @Sendable (Element) -> Void
  }

  private let action: Locked<Action?>

  init(_ action: @escaping @Sendable (Element) -> Void) { self.action = Locked(Action(perform: action)) }

  func receive(_ element: Element) {
    let action = action.withLock { $0 }
    action?.perform(element)
  }

  func mute() {
    let action = action.withLock { $0.take() }
    withExtendedLifetime(action) {}
  }
}

/// An event that waits until what it needs of the cache is in memory.
struct WaitingEvent: Sendable {
  let needs: CacheNeeds
  let perform: @Sendable (ClientMachine) -> Void
  /// Called in place of `perform` when the client ends first.
  let drop: (@Sendable () -> Void)?
}
