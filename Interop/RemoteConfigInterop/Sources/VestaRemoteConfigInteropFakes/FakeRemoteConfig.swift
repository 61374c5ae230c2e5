import VestaConcurrency
public import VestaRemoteConfigInterop

/// The rollouts of an app as a test sets them.
///
/// ```swift
/// let remoteConfig = FakeRemoteConfig()
/// remoteConfig.activate([assignment])
/// ```
public final class FakeRemoteConfig: RemoteConfigInterop {
  private typealias Source = StateSource<RolloutsState, RolloutsState>

  private let sources = Locked<[String: Source]>([:])

  /// An app whose values no rollout sets.
  public init() {}

  /// Adds a subscriber, which gets the current state soon.
  public func registerRolloutsStateSubscriber(_ subscriber: any RolloutsStateSubscriber, for namespace: String) {
    _ = source(namespace).add { subscriber.rolloutsStateDidChange($0) }
  }

  /// Replaces the rollouts of a namespace; subscribers are called if that is a change.
  public func activate(_ assignments: [RolloutAssignment], for namespace: String = "firebase") {
    let next = RolloutsState(assignmentList: assignments)
    source(namespace).change { state, announce in
      guard state != next else { return }
      state = next
      announce(next)
    }
  }

  private func source(_ namespace: String) -> Source {
    sources.withLock { sources in
      if let source = sources[namespace] { return source }
      let source = Source(RolloutsState(assignmentList: []), greeting: { $0 })
      sources[namespace] = source
      return source
    }
  }
}
