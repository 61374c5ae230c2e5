/// How the embedded functions service behaves.
///
/// An app may bring its own by registering a component that provides them.
public struct FunctionsServiceOptions: Sendable {
  /// How many calls run at once; the others wait in order of arrival.
  public var maximumConcurrentCalls = 80

  /// How many calls may wait; those that come later fail with `resourceExhausted`.
  public var maximumWaitingCalls = 10_000

  /// How long a function may take, unless its own options say otherwise.
  public var timeout: Duration = .seconds(60)

  /// How many events run at once, of all functions.
  public var maximumConcurrentEvents = 80

  /// How long one process has the right to deliver the events of an engine; another one goes on after that when the
  /// process was killed.
  public var eventLease: Duration = .seconds(10)

  /// How often engines are looked at for events that another process has recorded.
  public var eventPollInterval: Duration = .seconds(5)

  /// Verifies App Check tokens, and returns the id of the app; `nil` where no function enforces App Check.
  public var verifyAppCheckToken: (@Sendable (_ token: String) async throws -> String)?

  /// The options with their defaults.
  public init() {}
}

/// How one callable function behaves.
public struct CallableOptions: Sendable {
  /// The region in which it is called.
  public var region = "us-central1"

  /// How long it may take; `nil` for the service's time limit.
  public var timeout: Duration?

  /// Whether it refuses calls without a valid App Check token.
  public var enforcesAppCheck = false

  /// The options with their defaults.
  public init() {}
}
