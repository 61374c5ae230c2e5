/// The functions of other programs that a project has registered; the engine of Functions provides it.
///
/// Promises of every implementation:
/// - Changes that are committed after ``set(_:)`` has returned are recorded for the function, in their transactions,
///   also after a restart, without a second registration.
/// - Each of them is passed to the ``EventTriggerDelivery`` until that has returned, with growing pauses: at least
///   once, events of one document (object, account, reference) in commit order.
/// - Setting a trigger again replaces it; setting the same one changes nothing.
public protocol EventTriggers: Sendable {
  /// The triggers that are registered, in the order of their keys.
  var triggers: [EventTrigger] { get }

  /// Registers a function.
  ///
  /// - Throws: `EventTriggerError` where nothing of the project has such events, or where the registration cannot be
  ///   kept; nothing has changed then.
  func set(_ trigger: EventTrigger) async throws(EventTriggerError)

  /// Removes a function; events that wait for it stay until it is registered again.
  ///
  /// - Parameter key: The name of the function.
  /// - Returns: Whether there was one.
  /// - Throws: `EventTriggerError` where the change cannot be kept.
  func remove(_ key: String) async throws(EventTriggerError) -> Bool

  /// Registers the functions that were kept by an earlier process.
  ///
  /// A server calls it when it opens the project, before the first request.
  func resume()
}

/// Calls functions of other programs; a server provides it as a component of each project.
public protocol EventTriggerDelivery: Sendable {
  /// Whether registrations are kept for the next process.
  var keepsTriggers: Bool { get }

  /// The triggers that each project has without a registration.
  var standing: [EventTrigger] { get }

  /// Calls a function with an event.
  ///
  /// - Throws: The reason why the function has to be called again, after a pause.
  func deliver(_ event: Event, to trigger: EventTrigger, of project: String) async throws
}
