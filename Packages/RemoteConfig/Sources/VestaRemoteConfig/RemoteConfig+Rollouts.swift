import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigInterop

extension ActiveConfig {
  /// The rollouts of the values.
  var rolloutsState: RolloutsState {
    let assignments = rollouts.flatMap { rollout in
      rollout.affectedParameterKeys.compactMap { key in
        entries[key].map { value in
          RolloutAssignment(
            rolloutId: rollout.rolloutID, variantId: rollout.variantID, templateVersion: templateVersion,
            parameterKey: key, parameterValue: value)
        }
      }
    }
    return RolloutsState(assignmentList: assignments)
  }
}

extension RemoteConfig {
  /// Notifies the subscribers of the rollouts that are active now, if they are others.
  func announceRollouts() {
    rollouts.change { current, announce in
      // Read here, so that of two activations at the same time the later one is announced last.
      let next = state.withLock { $0.contents.active.rolloutsState }
      guard next != current else { return }
      current = next
      announce(next)
    }
  }
}

extension RemoteConfigProvider: RemoteConfigInterop {
  func registerRolloutsStateSubscriber(_ subscriber: any RolloutsStateSubscriber, for namespace: String) {
    do {
      _ = try remoteConfig(namespace: namespace).rollouts.add { subscriber.rolloutsStateDidChange($0) }
    } catch {
      log.error("I-RCN000006", "Nobody can hear of rollouts in the namespace \(namespace): \(error)")
    }
  }
}

private let log = Logger(service: "VestaRemoteConfig")
