/// The registration of a listener; `cancel()` removes the listener.
///
/// Every method that adds a listener returns one. Releasing a registration does not remove its listener.
///
/// ```swift
/// let registration = registry.add { event in print(event) }
/// registration.cancel()
/// ```
public final class ListenerRegistration: Sendable {
  /// The closure in a separate structure, as ``Locked`` requires.
  private struct Removal: Sendable {
    let perform: @Sendable () -> Void
  }

  private let removal: Locked<Removal?>

  /// Makes the registration of a listener.
  ///
  /// - Parameter removal: Removes the listener. It is called once at most, and released then, with no lock held.
  public init(_ removal: @escaping @Sendable () -> Void) {
    self.removal = Locked(Removal(perform: removal))
  }

  /// Removes the listener.
  ///
  /// Only the first call does something.
  public func cancel() {
    let removal = removal.withLock { $0.take() }
    removal?.perform()
  }

  /// Removes the listener: the name that Firebase's API gives to ``cancel()``.
  public func remove() { cancel() }
}
