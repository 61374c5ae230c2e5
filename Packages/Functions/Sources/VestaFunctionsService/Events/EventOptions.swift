/// The options of one event function.
public struct EventOptions: Sendable {
  /// The time limit; `nil` for that of the service.
  ///
  /// After that it is cancelled, which counts as a failure.
  public var timeout: Duration?

  /// The number of its events that run at once, each of another document, object, account or reference.
  public var concurrency = 16

  /// The number of attempts before an event becomes a dead letter; 1 for no retries.
  public var maximumAttempts = 8

  /// The age of a change from which on it is not attempted again after a failure.
  public var maximumAge: Duration = .seconds(86_400)

  /// The delay after the first failure; it doubles with each further one, up to ten minutes.
  public var retryDelay: Duration = .seconds(1)

  /// The options with their defaults.
  public init() {}
}

/// The reason why an event function cannot be registered.
public struct EventFunctionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The mistake and the remedy.
  public let description: String

  init(_ description: String) { self.description = description }
}
