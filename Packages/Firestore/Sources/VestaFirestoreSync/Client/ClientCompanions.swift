package import VestaConcurrency

/// The registrations of a client: the user of Auth, and the changes of the network.
package final class ClientCompanions: Sendable {
  private struct State {
    var registrations: [ListenerRegistration] = []
    var user: FollowedUser?
  }

  private let state = Locked(State())

  /// Keeps a registration, of a listener that calls the client, until the client ends.
  package func keep(_ registration: ListenerRegistration) { state.withLock { $0.registrations.append(registration) } }

  /// Lets the client ask who the user is before each call that is made for a user.
  package func follow(_ user: FollowedUser) { state.withLock { $0.user = user } }

  /// Lets the client take over the current user.
  ///
  /// - Returns: Whether the client follows a user.
  @discardableResult
  func takeUser(_ client: SyncClient) -> Bool {
    guard let user = state.withLock({ $0.user }) else { return false }
    user.update(client, isNotified: false)
    return true
  }

  /// Ends all.
  func end() {
    let ended = state.withLock { state in
      defer { state = State() }
      return state
    }
    for registration in ended.registrations { registration.cancel() }
  }
}
