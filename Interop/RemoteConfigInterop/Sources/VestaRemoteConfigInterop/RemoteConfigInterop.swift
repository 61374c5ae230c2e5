/// The interface of Remote Config for other products: the rollouts that the active values of an app are set by.
///
/// A product that reports crashes or events adds them to its reports.
///
/// Promises of every implementation (`VestaRemoteConfigInteropContracts` checks them):
/// - A new subscriber is called with the current state soon, and never before the method has returned.
/// - After each activation that changes the state every subscriber is called with the new one, in order and one call at
///   a time.
/// - The method may be called from any thread at any time, also from within a subscriber.
public protocol RemoteConfigInterop: Sendable {
  /// Adds a subscriber for the life of the app.
  ///
  /// - Parameters:
  ///   - subscriber: Called on a queue of the implementation.
  ///   - namespace: The namespace of the parameters, such as `firebase`.
  func registerRolloutsStateSubscriber(_ subscriber: any RolloutsStateSubscriber, for namespace: String)
}

/// A subscriber to the rollouts that the active values are set by.
public protocol RolloutsStateSubscriber: Sendable {
  /// Other rollouts, or other values of them, are active.
  ///
  /// - Parameter rolloutsState: All rollouts that are active now.
  func rolloutsStateDidChange(_ rolloutsState: RolloutsState)
}
