import VestaConcurrency
public import VestaRemoteConfigInterop
public import VestaTesting

/// An implementation of `RemoteConfigInterop` and how a check drives it; no rollout is active at first.
public struct RemoteConfigInteropSubject: Sendable {
  /// The implementation.
  public let remoteConfig: any RemoteConfigInterop

  /// Activates a value of the rollout `r`, for the parameter `key` in the namespace `firebase`; none for `nil`.
  public let activate: @Sendable (String?) async throws -> Void

  /// The longest time a check waits for an event.
  public let patience: Duration

  /// An implementation and how to drive it.
  public init(
    _ remoteConfig: any RemoteConfigInterop, patience: Duration = .seconds(30),
    activate: @escaping @Sendable (String?) async throws -> Void
  ) {
    self.remoteConfig = remoteConfig
    self.patience = patience
    self.activate = activate
  }

  fileprivate func subscribe() -> StateLog {
    let log = StateLog(patience)
    remoteConfig.registerRolloutsStateSubscriber(log, for: "firebase")
    return log
  }
}

/// The promises of `RemoteConfigInterop` as checks.
public enum RemoteConfigInteropContracts {
  /// All promises.
  public static let all: [Contract<RemoteConfigInteropSubject>] = [
    Contract("a new subscriber hears of the current state") { subject in
      try await subject.subscribe().wait(for: [[]])
      try await subject.activate("a")
      try await subject.subscribe().wait(for: [["r key a"]])
    },
    Contract("subscribers hear of each state that is activated, in order") { subject in
      let (one, two) = (subject.subscribe(), subject.subscribe())
      for value in ["a", "b", nil, "c"] { try await subject.activate(value) }
      for log in [one, two] { try await log.wait(for: [[], ["r key a"], ["r key b"], [], ["r key c"]]) }
    },
    Contract("a state that is activated again is not announced again") { subject in
      let log = subject.subscribe()
      for value in ["a", "a", "b"] { try await subject.activate(value) }
      try await log.wait(for: [[], ["r key a"], ["r key b"]])
    },
  ]
}

/// The states that a subscriber was called with, as strings.
private final class StateLog: RolloutsStateSubscriber {
  private let log: EventLog<[String]>

  init(_ patience: Duration) { log = EventLog(patience: patience) }

  func rolloutsStateDidChange(_ rolloutsState: RolloutsState) {
    log.record(rolloutsState.assignments.map { "\($0.rolloutId) \($0.parameterKey) \($0.parameterValue)" }.sorted())
  }

  func wait(for states: [[String]]) async throws { try await log.wait(for: "the states \(states)") { $0 == states } }
}
