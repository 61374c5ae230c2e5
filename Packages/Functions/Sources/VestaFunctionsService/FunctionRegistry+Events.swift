public import Foundation
import VestaBytes
import VestaEventsInterop

// Functions that are notified of changes. The names are those of Firebase's SDK for functions of the second generation.
//
// A handler that throws fails: the event is attempted again, later and later, and becomes a dead letter in the end. The
// events of one document, object, account or reference come one after another, in the order of the commits; those of
// others do not wait for them. Events are recorded from the registration on, so register before the first change.
// Registering a name again replaces the function, also for events that wait.
extension FunctionRegistry {
  // MARK: Documents

  /// Registers a function for documents that are created.
  ///
  /// ```swift
  /// try registry.onDocumentCreated("greet", document: "rooms/{room}/messages/{message}") { event in
  ///   print(event.params["room"] ?? "", event.data.get("text") ?? "")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the function; the queue of its events has it too.
  ///   - document: The pattern of the path: `{name}` and `*` stand for one segment, `{name=**}` and `**` for several.
  ///   - database: The database.
  ///   - options: How it behaves.
  ///   - handler: Gets the document.
  /// - Throws: `EventFunctionError` for a pattern that no document can have, and when the app has no document engine.
  public func onDocumentCreated(
    _ name: String, document: String, database: String = "(default)", options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventDocument>) async throws -> Void
  ) throws {
    try onDocument(name, [.documentCreated], document, database, options) { event, change, params in
      guard let after = change.after else { return }
      try await handler(CloudEvent(event, params: params, data: after))
    }
  }

  /// Registers a function for documents that are changed.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - document: The pattern of the path.
  ///   - database: The database.
  ///   - options: How it behaves.
  ///   - handler: Gets the document before and after the change.
  /// - Throws: `EventFunctionError`; see ``onDocumentCreated(_:document:database:options:_:)``.
  public func onDocumentUpdated(
    _ name: String, document: String, database: String = "(default)", options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventChange<EventDocument>>) async throws -> Void
  ) throws {
    try onDocument(name, [.documentUpdated], document, database, options) { event, change, params in
      try await handler(CloudEvent(event, params: params, data: change))
    }
  }

  /// Registers a function for documents that are deleted.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - document: The pattern of the path.
  ///   - database: The database.
  ///   - options: How it behaves.
  ///   - handler: Gets the document as it was.
  /// - Throws: `EventFunctionError`; see ``onDocumentCreated(_:document:database:options:_:)``.
  public func onDocumentDeleted(
    _ name: String, document: String, database: String = "(default)", options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventDocument>) async throws -> Void
  ) throws {
    try onDocument(name, [.documentDeleted], document, database, options) { event, change, params in
      guard let before = change.before else { return }
      try await handler(CloudEvent(event, params: params, data: before))
    }
  }

  /// Registers a function for documents that are created, changed or deleted.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - document: The pattern of the path.
  ///   - database: The database.
  ///   - options: How it behaves.
  ///   - handler: Gets the document before and after the change; `nil` where it did not exist.
  /// - Throws: `EventFunctionError`; see ``onDocumentCreated(_:document:database:options:_:)``.
  public func onDocumentWritten(
    _ name: String, document: String, database: String = "(default)", options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<EventChange<EventDocument>>) async throws -> Void
  ) throws {
    let types: Set<EventType> = [.documentCreated, .documentUpdated, .documentDeleted]
    try onDocument(name, types, document, database, options) { event, change, params in
      try await handler(CloudEvent(event, params: params, data: change))
    }
  }

  private func onDocument(
    _ name: String, _ types: Set<EventType>, _ document: String, _ database: String, _ options: EventOptions,
    _ handler: @escaping @Sendable (Event, EventChange<EventDocument>, [String: String]) async throws -> Void
  ) throws {
    let pattern = try FunctionRegistry.pattern(document)
    if let length = pattern.length, !length.isMultiple(of: 2) {
      throw EventFunctionError(
        "The pattern \"\(document)\" has \(length) segments, which is a collection. Add a segment, such as {id}.")
    }
    let subscription = EventSubscription(function: name, types: types, scope: database, pattern: pattern)
    try events.register(
      EventFunction(subscription: subscription, options: options) { event in
        func document(_ name: String) -> EventDocument? {
          event.data[name]?.object.map { EventDocument(path: event.path, json: $0) }
        }
        let change = EventChange(before: document("oldValue"), after: document("value"))
        try await handler(event, change, pattern.match(event.path) ?? [:])
      })
  }

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

  private func on(
    _ name: String, _ type: EventType, _ scope: String?, _ options: EventOptions,
    _ run: @escaping @Sendable (Event) async throws -> Void
  ) throws {
    let subscription = EventSubscription(function: name, types: [type], scope: scope)
    try events.register(EventFunction(subscription: subscription, options: options, run: run))
  }

  // MARK: Schedules

  /// Registers a function that runs at certain times.
  ///
  /// ```swift
  /// try registry.onSchedule("report", schedule: "30 2 * * MON-FRI", timeZone: TimeZone(identifier: "Europe/Berlin")) { run in
  ///   print(run.data.scheduleTime)
  /// }
  /// ```
  ///
  /// Runs of one function come one after another. The hour that comes twice when clocks are set back and the one that is
  /// left out are treated as common cron does: fixed times run once, wildcards follow the clock.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - schedule: Five fields of cron, or a form such as `every 5 minutes` and `every monday 09:30`.
  ///   - timeZone: The time zone; `nil` for UTC.
  ///   - missed: What becomes of runs that came due while no process ran.
  ///   - options: How it behaves.
  ///   - handler: Gets the time at which the run was due.
  /// - Throws: `ScheduleError` for a schedule that is wrong or never comes; `EventFunctionError` when the app has no
  ///   store to remember runs in.
  public func onSchedule(
    _ name: String, schedule: String, timeZone: TimeZone? = nil, missed: MissedRuns = .runOnce,
    options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<ScheduledRun>) async throws -> Void
  ) throws {
    let parsed = try ScheduleParser.parse(schedule)
    guard let schedules else {
      throw EventFunctionError(
        """
        A schedule needs a store to remember its runs in. Add SQLiteLibrary of VestaSQLite (Packages/SQLite) or \
        MemoryStoreLibrary of VestaMemoryStore (Packages/MemoryStore; forgets them with the process) to the libraries.
        """)
    }
    try on(name, .scheduleDue, nil, options) { event in
      let time = Date(timeIntervalSince1970: Double(event.data["scheduleTime"]?.integer ?? 0))
      let run = ScheduledRun(scheduleTime: time, schedule: event.data["schedule"]?.string ?? "")
      try await handler(CloudEvent(event, data: run))
    }
    schedules.set(
      ScheduleRunner.Entry(
        function: name, text: schedule, schedule: parsed, timeZone: timeZone ?? TimeZone(secondsFromGMT: 0) ?? .current,
        missed: missed))
  }

  // MARK: Removing

  /// Removes an event function or a schedule; those that run go on, and events that wait stay for a function of this
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

  private static func pattern(_ text: String) throws(EventFunctionError) -> EventPattern {
    do {
      return try EventPattern(text)
    } catch {
      throw EventFunctionError(error.description)
    }
  }
}
