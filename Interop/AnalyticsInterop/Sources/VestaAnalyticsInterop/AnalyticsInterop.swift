public import VestaConcurrency

/// Analytics as other products use it: they log events and set user properties on behalf of the app.
///
/// Messaging and Remote Config use it when it is there; without it nothing is logged.
///
/// An *origin* names the product that speaks, such as `"fcm"`. A user property whose name starts with `_` is internal:
/// it is meant for products, not for the app.
///
/// Promises of every implementation (`VestaAnalyticsInteropContracts` checks them):
/// - All methods may be called from any thread at any time, also from within a listener, and none of them waits for
///   the network or a disk.
/// - Events keep their order and their parameters; none is lost on the way to a listener.
/// - An event or a property with an empty name is dropped; nothing else happens.
/// - Listeners keep the promises of `ListenerRegistration`; they receive the events of one origin from now on.
public protocol AnalyticsInterop: Sendable {
  /// Logs an event.
  ///
  /// ```swift
  /// analytics.logEvent(withOrigin: "fcm", name: "notification_open", parameters: ["id": 7, "silent": false])
  /// ```
  ///
  /// - Parameters:
  ///   - origin: The product that logs.
  ///   - name: The name of the event.
  ///   - parameters: The parameters of the event; `nil` is the same as none.
  func logEvent(withOrigin origin: String, name: String, parameters: [String: AnalyticsValue]?)

  /// Sets a property of the user.
  ///
  /// - Parameters:
  ///   - origin: The product that sets it.
  ///   - name: The name of the property; all origins share the names.
  ///   - value: Its new value; `nil` removes the property.
  func setUserProperty(withOrigin origin: String, name: String, value: AnalyticsValue?)

  /// The properties of the user.
  ///
  /// - Parameter includingInternal: Whether to return internal ones, too.
  /// - Returns: All properties that were set before this call, by name.
  func getUserProperties(includingInternal: Bool) async -> [String: AnalyticsValue]

  /// Adds a listener that is called with the events of one origin.
  ///
  /// - Parameters:
  ///   - origin: The origin.
  ///   - listener: Called with each event of that origin from now on. Never before this method has returned.
  /// - Returns: Removes the listener on `cancel()`.
  func addEventListener(
    withOrigin origin: String,
    _ listener: @escaping @Sendable (AnalyticsEvent) -> Void
  ) -> ListenerRegistration
}

extension AnalyticsInterop {
  /// Gets the properties of the user and hands them to a closure.
  ///
  /// - Parameters:
  ///   - includingInternal: Whether to return internal ones, too.
  ///   - callback: Called exactly once, on no particular thread.
  public func getUserProperties(
    includingInternal: Bool,
    callback: @escaping @Sendable ([String: AnalyticsValue]) -> Void
  ) {
    Task { callback(await getUserProperties(includingInternal: includingInternal)) }
  }

  /// The events of one origin from now on; none is dropped.
  ///
  /// Cancelling the reading task, leaving a loop over the call of this method, or dropping the stream removes its
  /// listener.
  ///
  /// - Parameter origin: The origin.
  /// - Returns: The events.
  public func events(withOrigin origin: String) -> AsyncStream<AnalyticsEvent> {
    .events { sink in addEventListener(withOrigin: origin) { sink.send($0) } }
  }
}
