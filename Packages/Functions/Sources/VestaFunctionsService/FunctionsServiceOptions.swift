/// The options of the embedded functions service.
///
/// An app may bring its own by registering a component that provides them.
public struct FunctionsServiceOptions: Sendable {
  /// The number of calls that run at once; the others wait.
  ///
  /// Functions share it: when it is reached, a function with less than its share (the number divided by the functions
  /// that run or wait) runs all the same, so one whose calls take long does not hold up the others. A function that
  /// waits for another one that it has called does not count.
  public var maximumConcurrentCalls = 80

  /// The number of calls that may wait; later ones fail with `resourceExhausted`.
  public var maximumWaitingCalls = 10_000

  /// The time limit of functions, unless their own options say otherwise.
  public var timeout: Duration = .seconds(60)

  /// The number of events of all functions that run at once; functions share it as they share
  /// ``maximumConcurrentCalls``.
  public var maximumConcurrentEvents = 80

  /// The time for which one process may deliver the events of an engine, from 50 ms to a day; another one takes over
  /// after that when the process was killed.
  public var eventLease: Duration = .seconds(10)

  /// The interval between looks at the engines for events that another process has recorded, from 50 ms to a day.
  public var eventPollInterval: Duration = .seconds(5)

  /// The time for which further events of a function are gathered after some were read; a second at the most.
  ///
  /// While writers are busy they are read together then. An event after a pause is delivered at once.
  public var eventGatheringInterval: Duration = .milliseconds(5)

  var tuning = FunctionsTuning()

  /// Verifies App Check tokens, and returns the id of the app; `nil` where no function enforces App Check.
  ///
  /// An error refuses the token. A `FunctionsServiceError` says more: a verification that could not be carried out
  /// throws one with the code `unavailable`, which callers of a function that enforces App Check get.
  public var verifyAppCheckToken: (@Sendable (_ token: String) async throws -> String)?

  /// Consumes an App Check token that ``verifyAppCheckToken`` has verified, and returns whether an earlier call has
  /// consumed the same one.
  ///
  /// A function with ``CallableOptions/consumesAppCheckToken`` needs it where ``verifyAppCheckToken`` is set: every
  /// call of the function fails with `failedPrecondition` without it. An error fails the call.
  public var consumeAppCheckToken: (@Sendable (_ token: String) async throws -> Bool)?

  /// The options with their defaults.
  public init() {}
}

/// The options of one callable function.
public struct CallableOptions: Sendable {
  /// The region in which it is called.
  public var region = "us-central1"

  /// The time limit; `nil` for that of the service.
  public var timeout: Duration?

  /// Whether it refuses calls without a valid App Check token.
  public var enforcesAppCheck = false

  /// Whether each call consumes its App Check token: ``CallableRequest/isAppCheckTokenConsumed`` says then whether an
  /// earlier call has used the same one.
  ///
  /// It costs a write to the store of App Check for each call. Where no verifier keeps a record of tokens, every call
  /// fails with `failedPrecondition`; so does a call whose token was verified before it reached the service, as there
  /// is none to consume.
  public var consumesAppCheckToken = false

  /// The options with their defaults.
  public init() {}
}
