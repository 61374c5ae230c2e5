import VestaBytes
import VestaEventsInterop

// Functions that are notified of changes of the Realtime Database.
extension FunctionRegistry {
  /// Registers a function for values of the Realtime Database that appear.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - ref: The pattern of the path; `{name}` and `*` match one key. A change anywhere below or above counts.
  ///   - instance: The namespace of the database; `nil` for all.
  ///   - options: How it behaves.
  ///   - handler: Gets the value.
  /// - Throws: `EventFunctionError` for a pattern without a fixed depth, and when the app has no engine for the tree.
  public func onValueCreated(
    _ name: String, ref: String, instance: String? = nil, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventValue>) async throws -> Void
  ) throws {
    try onValue(name, [.valueCreated], ref, instance, options) { event, change, params in
      guard let after = change.after else { return }
      try await handler(CloudEvent(event, params: params, data: after))
    }
  }

  /// Registers a function for values of the Realtime Database that are changed.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - ref: The pattern of the path.
  ///   - instance: The namespace of the database; `nil` for all.
  ///   - options: How it behaves.
  ///   - handler: Gets the value before and after the change.
  /// - Throws: `EventFunctionError`; see ``onValueCreated(_:ref:instance:options:_:)``.
  public func onValueUpdated(
    _ name: String, ref: String, instance: String? = nil, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventChange<EventValue>>) async throws -> Void
  ) throws {
    try onValue(name, [.valueUpdated], ref, instance, options) { event, change, params in
      try await handler(CloudEvent(event, params: params, data: change))
    }
  }

  /// Registers a function for values of the Realtime Database that are deleted.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - ref: The pattern of the path.
  ///   - instance: The namespace of the database; `nil` for all.
  ///   - options: How it behaves.
  ///   - handler: Gets the value as it was.
  /// - Throws: `EventFunctionError`; see ``onValueCreated(_:ref:instance:options:_:)``.
  public func onValueDeleted(
    _ name: String, ref: String, instance: String? = nil, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventValue>) async throws -> Void
  ) throws {
    try onValue(name, [.valueDeleted], ref, instance, options) { event, change, params in
      guard let before = change.before else { return }
      try await handler(CloudEvent(event, params: params, data: before))
    }
  }

  /// Registers a function for values of the Realtime Database that appear, are changed or are deleted.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - ref: The pattern of the path.
  ///   - instance: The namespace of the database; `nil` for all.
  ///   - options: How it behaves.
  ///   - handler: Gets the value before and after the change; `nil` where there was none.
  /// - Throws: `EventFunctionError`; see ``onValueCreated(_:ref:instance:options:_:)``.
  public func onValueWritten(
    _ name: String, ref: String, instance: String? = nil, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventChange<EventValue>>) async throws -> Void
  ) throws {
    let types: Set<EventType> = [.valueCreated, .valueUpdated, .valueDeleted]
    try onValue(name, types, ref, instance, options) { event, change, params in
      try await handler(CloudEvent(event, params: params, data: change))
    }
  }

  private func onValue(
    _ name: String, _ types: Set<EventType>, _ ref: String, _ instance: String?, _ options: EventOptions,
    _ handler: @escaping @Sendable (Event, EventChange<EventValue>, [String: String]) async throws -> Void
  ) throws {
    let pattern = try FunctionRegistry.pattern(ref)
    guard pattern.length != nil else {
      throw EventFunctionError("The pattern \"\(ref)\" has no fixed depth. Use {name} or * for each key.")
    }
    let subscription = EventSubscription(function: name, types: types, scope: instance, pattern: pattern)
    try register(
      EventFunction(subscription: subscription, options: options) { event in
        let key = event.path.parts(at: "/", omittingEmpty: true).last.map(String.init)
        let change = EventChange(
          before: event.data["before"].map { EventValue(key: key, json: $0) },
          after: event.data["after"].map { EventValue(key: key, json: $0) })
        try await handler(event, change, pattern.match(event.path) ?? [:])
      })
  }
}
