/// The events that a function wants.
public struct EventSubscription: Sendable, Hashable {
  /// The name of the function.
  public var function: String

  /// The types of events.
  public var types: Set<EventType>

  /// The database, bucket or tenant; `nil` for all.
  public var scope: String?

  /// The paths; `nil` for all.
  public var pattern: EventPattern?

  /// A subscription.
  public init(function: String, types: Set<EventType>, scope: String? = nil, pattern: EventPattern? = nil) {
    self.function = function
    self.types = types
    self.scope = scope
    self.pattern = pattern
  }
}

extension EventSubscription {
  /// Whether an event is one that the function wants.
  ///
  /// A queue may have events of an earlier function of the same name, which wanted others.
  public func wants(_ event: Event) -> Bool {
    guard types.contains(event.type), scope == nil || scope == event.scope else { return false }
    return pattern?.matches(EventPattern.parts(of: event.path)) ?? true
  }
}

/// The subscriptions of a source in the form in which a change reads them: a value, made once for each change of the
/// subscriptions.
public struct EventInterest: Sendable {
  /// The subscriptions.
  public let subscriptions: [EventSubscription]

  private let byType: [EventType: [EventSubscription]]

  /// The interest of some subscriptions.
  public init(_ subscriptions: [EventSubscription]) {
    self.subscriptions = subscriptions
    var byType: [EventType: [EventSubscription]] = [:]
    for subscription in subscriptions {
      for type in subscription.types { byType[type, default: []].append(subscription) }
    }
    self.byType = byType
  }

  /// The names of the functions that want an event, each once.
  ///
  /// - Parameters:
  ///   - type: The type of the event.
  ///   - scope: The database, bucket or tenant.
  ///   - path: The path of what is changed.
  public func functions(for type: EventType, scope: String, path: String) -> [String] {
    guard let candidates = byType[type] else { return [] }
    let parts = EventPattern.parts(of: path)
    var functions: [String] = []
    for candidate in candidates where !functions.contains(candidate.function) {
      if let wanted = candidate.scope, wanted != scope { continue }
      if let pattern = candidate.pattern, !pattern.matches(parts) { continue }
      functions.append(candidate.function)
    }
    return functions
  }

  /// Whether any function wants events of some types in a scope.
  public func wants(_ types: Set<EventType>, scope: String) -> Bool {
    types.contains { type in byType[type]?.contains { $0.scope == nil || $0.scope == scope } ?? false }
  }
}
