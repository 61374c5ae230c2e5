public import VestaConcurrency

/// Notices that the network of the machine has changed: an interface was added or removed, or has another address.
///
/// A transport provides one; clients on remote backends end their pauses when it calls.
public protocol NetworkMonitor: Sendable {
  /// Calls a listener after each change, and again where others follow it closely.
  ///
  /// - Parameter onChange: Called on any thread.
  /// - Returns: The registration, which stops the calls.
  func addChangeListener(_ onChange: @escaping @Sendable () -> Void) -> ListenerRegistration
}
