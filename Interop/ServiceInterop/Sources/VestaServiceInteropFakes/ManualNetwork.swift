public import VestaConcurrency
public import VestaServiceInterop

/// A network that changes when a test says so.
public final class ManualNetwork: NetworkMonitor {
  private let listeners = ListenerRegistry<Void>()

  /// A network that has not changed yet.
  public init() {}

  /// The number of listeners.
  public var listenerCount: Int { listeners.count }

  /// Notifies the listeners of a change.
  public func change() { listeners.emit(()) }

  /// Calls a listener after each change.
  public func addChangeListener(_ onChange: @escaping @Sendable () -> Void) -> ListenerRegistration {
    listeners.add { onChange() }
  }
}
