/// How one event function behaves.
public struct EventOptions: Sendable {
  /// How long it may take; `nil` for the service's time limit.
  ///
  /// After that it is cancelled, which counts as a failure.
  public var timeout: Duration?

  /// How many of its events run at once, each of another document, object, account or reference.
  public var concurrency = 16

  /// How often an event is attempted before it becomes a dead letter; 1 for no retries.
  public var maximumAttempts = 8

  /// How old a change may be to be attempted again after a failure.
  public var maximumAge: Duration = .seconds(86_400)

  /// The delay after the first failure; it doubles with each further one, up to ten minutes.
  public var retryDelay: Duration = .seconds(1)

  /// The options with their defaults.
  public init() {}
}

/// The reason why an event function cannot be registered.
public struct EventFunctionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and what to do.
  public let description: String

  init(_ description: String) { self.description = description }
}
