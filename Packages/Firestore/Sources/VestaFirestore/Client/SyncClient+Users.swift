internal import VestaAuthInterop
internal import VestaFirestoreBackend
internal import VestaFirestoreSync

/// The client of an app follows the app's users and the network of its machine.
extension SyncClient {
  /// Follows the users of Auth, and the changes of the network, until the client ends.
  func follow(_ auth: (any AuthInterop)?, _ monitor: (any NetworkMonitor)? = nil) {
    if let monitor { companions.keep(monitor.addChangeListener { [weak self] in self?.networkHasChanged() }) }
    guard let auth else { return }
    // An engine in the process asks for the token of each call: streams need not begin again for a new token.
    let user = FollowedUser(options.user, ignoresTokens: link == .embedded) { auth.getUserID() }
    companions.follow(user)
    companions.keep(
      auth.addTokenListener { [weak self] _ in
        if let self { user.update(self, isNotified: true) }
      })
  }
}
