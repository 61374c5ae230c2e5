import VestaBytes
import VestaConcurrency

/// The user for whom a client works, who is the user of Auth.
///
/// Auth notifies its listeners shortly after a change of the user, and a write in between belongs to the new user. So
/// the client does not only wait for notifications, but also asks before each write, read and stream.
package final class FollowedUser: Sendable {
  private struct State {
    var user: UTF8String?
    /// Counts the changes, so that an answer from before a change is not taken for one from after it.
    var changes = 0
    /// Whether the client has taken over a user of whom the notification is still to come.
    var isAhead = false
  }

  private let state: Locked<State>
  private let ignoresTokens: Bool
  private let userID: @Sendable () -> String?

  /// The user of a client.
  ///
  /// - Parameters:
  ///   - user: The user for whom the client begins to work; `nil` for none.
  ///   - ignoresTokens: Whether a new token of the same user changes nothing.
  ///   - userID: The user of Auth; called without a lock.
  package init(_ user: String?, ignoresTokens: Bool, userID: @escaping @Sendable () -> String?) {
    state = Locked(State(user: user.map { UTF8String($0) }))
    self.ignoresTokens = ignoresTokens
    self.userID = userID
  }

  /// Lets the client take over the user of Auth.
  ///
  /// Where two calls find another user, both return after the change: what either does next is the new user's.
  ///
  /// - Parameters:
  ///   - client: The client.
  ///   - isNotified: Whether Auth has notified of a change of the user or of the token.
  package func update(_ client: SyncClient, isNotified: Bool) {
    while true {
      let changes = state.withLock { $0.changes }
      let id = userID()
      let user = id.map { UTF8String($0) }
      let isTaken = state.withLock { state -> Bool? in
        guard state.changes == changes else { return nil }
        let isSame = state.user == user
        let isKnown = isSame && (ignoresTokens || !isNotified || state.isAhead)
        if isNotified { state.isAhead = false }
        if isKnown { return false }
        if !isSame { (state.user, state.changes, state.isAhead) = (user, changes + 1, !isNotified) }
        // This takes the event only: listeners are called by `performActions`.
        client.takeOrKeepUser(id)
        return true
      }
      guard let isTaken else { continue }
      if isTaken { client.performActions() }
      return
    }
  }
}
