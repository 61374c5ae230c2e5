public import VestaAnalyticsInterop
public import VestaConcurrency

/// An `AnalyticsInterop` for tests: it remembers every event.
///
/// ```swift
/// let analytics = FakeAnalytics()
/// analytics.logEvent(withOrigin: "fcm", name: "notification_open", parameters: nil)
/// analytics.events.map(\.name)  // ["notification_open"]
/// ```
public final class FakeAnalytics: AnalyticsInterop {
  private struct State: Sendable {
    var events: [AnalyticsEvent] = []
    var properties: [String: AnalyticsValue] = [:]
  }

  private let source = StateSource<State, AnalyticsEvent>(State())

  /// A fake without events and properties.
  public init() {}

  /// Every event so far, in order.
  public var events: [AnalyticsEvent] { source.read { $0.events } }

  /// How many event listeners there are.
  public var listenerCount: Int { source.listenerCount }

  /// Records an event and notifies the listeners of its origin.
  ///
  /// - Parameters:
  ///   - origin: The product that logs.
  ///   - name: The name of the event; an empty one is dropped.
  ///   - parameters: The parameters of the event.
  public func logEvent(withOrigin origin: String, name: String, parameters: [String: AnalyticsValue]?) {
    guard !name.isEmpty else { return }
    let event = AnalyticsEvent(origin: origin, name: name, parameters: parameters ?? [:])
    source.change { state, announce in
      state.events.append(event)
      announce(event)
    }
  }

  /// Sets or removes a property of the user.
  ///
  /// - Parameters:
  ///   - origin: The product that sets it.
  ///   - name: The name of the property; an empty one is dropped.
  ///   - value: Its new value; `nil` removes the property.
  public func setUserProperty(withOrigin origin: String, name: String, value: AnalyticsValue?) {
    guard !name.isEmpty else { return }
    source.change { state, _ in state.properties[name] = value }
  }

  /// The properties of the user.
  ///
  /// - Parameter includingInternal: Whether to return those whose names start with `_`, too.
  /// - Returns: The properties by name.
  public func getUserProperties(includingInternal: Bool) async -> [String: AnalyticsValue] {
    let all = source.read { $0.properties }
    return includingInternal ? all : all.filter { !$0.key.hasPrefix("_") }
  }

  /// Adds a listener for the events of one origin.
  ///
  /// - Parameters:
  ///   - origin: The origin.
  ///   - listener: Called on a queue of the fake.
  /// - Returns: Removes the listener on `cancel()`.
  public func addEventListener(
    withOrigin origin: String,
    _ listener: @escaping @Sendable (AnalyticsEvent) -> Void
  ) -> ListenerRegistration {
    source.add { event in if event.origin == origin { listener(event) } }
  }
}
