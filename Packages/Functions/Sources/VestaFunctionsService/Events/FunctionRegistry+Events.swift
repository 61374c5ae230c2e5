import VestaBytes
import VestaEventsInterop

// Functions that are notified of changes. The names follow Firebase's SDK for functions of the second generation.
//
// A handler that throws fails: the event is attempted again, later and later, and becomes a dead letter in the end. The
// events of one document, object, account or reference are delivered one after another, in the order of the commits;
// events of others do not wait for them. Events are recorded from the registration on, so register before the first
// change. Registering a name again replaces the function, also for events that wait.
extension FunctionRegistry {
  // MARK: Users

  /// Registers a function for accounts that are created.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - tenant: The tenant; `nil` for all, "" for the project's own users.
  ///   - options: How it behaves.
  ///   - handler: Gets the account.
  /// - Throws: `EventFunctionError` when the app has no Auth engine.
  public func onUserCreated(
    _ name: String, tenant: String? = nil, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventUser>) async throws -> Void
  ) throws {
    try on(name, .userCreated, tenant, options) { try await handler(CloudEvent($0, data: EventUser(json: $0.data))) }
  }

  /// Registers a function for accounts that are deleted.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - tenant: The tenant; `nil` for all, "" for the project's own users.
  ///   - options: How it behaves.
  ///   - handler: Gets the account as it was.
  /// - Throws: `EventFunctionError` when the app has no Auth engine.
  public func onUserDeleted(
    _ name: String, tenant: String? = nil, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventUser>) async throws -> Void
  ) throws {
    try on(name, .userDeleted, tenant, options) { try await handler(CloudEvent($0, data: EventUser(json: $0.data))) }
  }

  // MARK: Objects

  /// Registers a function for objects that are written, new or in place of older ones.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - bucket: The bucket; `nil` for all.
  ///   - options: How it behaves.
  ///   - handler: Gets the object.
  /// - Throws: `EventFunctionError` when the app has no Storage engine.
  public func onObjectFinalized(
    _ name: String, bucket: String? = nil, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventObject>) async throws -> Void
  ) throws {
    try onObject(name, .objectFinalized, bucket, options, handler)
  }

  /// Registers a function for objects that are deleted.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - bucket: The bucket; `nil` for all.
  ///   - options: How it behaves.
  ///   - handler: Gets the object as it was.
  /// - Throws: `EventFunctionError` when the app has no Storage engine.
  public func onObjectDeleted(
    _ name: String, bucket: String? = nil, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventObject>) async throws -> Void
  ) throws {
    try onObject(name, .objectDeleted, bucket, options, handler)
  }

  /// Registers a function for objects whose metadata is changed.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - bucket: The bucket; `nil` for all.
  ///   - options: How it behaves.
  ///   - handler: Gets the object.
  /// - Throws: `EventFunctionError` when the app has no Storage engine.
  public func onObjectMetadataUpdated(
    _ name: String, bucket: String? = nil, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventObject>) async throws -> Void
  ) throws {
    try onObject(name, .objectMetadataUpdated, bucket, options, handler)
  }

  private func onObject(
    _ name: String, _ type: EventType, _ bucket: String?, _ options: EventOptions,
    _ handler: @escaping @Sendable (CloudEvent<EventObject>) async throws -> Void
  ) throws {
    try on(name, type, bucket, options) { try await handler(CloudEvent($0, data: EventObject(json: $0.data))) }
  }

  // MARK: Remote Config

  /// Registers a function for templates of Remote Config that are published.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - options: How it behaves.
  ///   - handler: Gets the version.
  /// - Throws: `EventFunctionError` when the app has no Remote Config engine.
  public func onConfigUpdated(
    _ name: String, options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventConfig>) async throws -> Void
  ) throws {
    try on(name, .configUpdated, nil, options) { try await handler(CloudEvent($0, data: EventConfig(json: $0.data))) }
  }

  func on(
    _ name: String, _ type: EventType, _ scope: String?, _ options: EventOptions,
    _ run: @escaping @Sendable (Event) async throws -> Void
  ) throws {
    let subscription = EventSubscription(function: name, types: [type], scope: scope)
    try register(EventFunction(subscription: subscription, options: options, run: run))
  }

  /// Registers an event function in place of one of its name, whatever kind that was.
  func register(_ function: EventFunction) throws(EventFunctionError) {
    try events.register(function)
    if !function.subscription.types.contains(.scheduleDue) { schedules?.remove(function.name) }
  }

  // MARK: Removing

  /// Removes an event function or a schedule; running ones continue, and waiting events stay for a function of this
  /// name.
  public func removeEventFunction(_ name: String) {
    schedules?.remove(name)
    events.remove(name)
  }

  // MARK: Dead letters

  /// The events that a function failed on too often, the oldest first.
  ///
  /// - Parameters:
  ///   - function: The name of a registered function.
  ///   - limit: How many at the most.
  public func deadLetters(of function: String, limit: Int = 100) async throws -> [DeadEvent] {
    try await events.source(of: function).deadLetters(of: function, limit: limit).map(DeadEvent.init)
  }

  /// Delivers dead letters again, after the events that wait.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func resend(_ letters: [DeadEvent], to function: String) async throws -> Int {
    try await events.source(of: function).resend(letters.map(\.letter.position), of: function)
  }

  /// Deletes dead letters.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func discard(_ letters: [DeadEvent], of function: String) async throws -> Int {
    try await events.source(of: function).discard(letters.map(\.letter.position), of: function)
  }

  static func pattern(_ text: String) throws(EventFunctionError) -> EventPattern {
    do {
      return try EventPattern(text)
    } catch {
      throw EventFunctionError(error.description)
    }
  }
}
