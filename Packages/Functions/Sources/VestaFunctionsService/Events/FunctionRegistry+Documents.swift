import VestaBytes
import VestaEventsInterop

// Functions that are notified of changes of documents.
extension FunctionRegistry {
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
  ///   - document: The pattern of the path: `{name}` and `*` match one segment, `{name=**}` and `**` several.
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
    try register(
      EventFunction(subscription: subscription, options: options) { event in
        func document(_ name: String) -> EventDocument? {
          event.content.hasObject(name) ? EventDocument(path: event.path, of: event.content, name) : nil
        }
        let change = EventChange(before: document("oldValue"), after: document("value"))
        try await handler(event, change, pattern.match(event.path) ?? [:])
      })
  }
}
