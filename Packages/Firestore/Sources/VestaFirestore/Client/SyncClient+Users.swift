internal import VestaAuthInterop
internal import VestaBytes
internal import VestaConcurrency
internal import VestaFirestoreBackend
internal import VestaFirestoreSync

/// The client of an app follows the app's users and the network of its machine.
extension SyncClient {
  /// Follows the users of Auth, and the changes of the network, until the client ends.
  func follow(_ auth: (any AuthInterop)?, _ monitor: (any NetworkMonitor)? = nil) {
    if let changes = monitor?.addChangeListener({ [weak self] in self?.networkHasChanged() }) { keep(changes) }
    let last = Locked(auth?.getUserID().map { UTF8String($0) })
    // An engine in the process asks for the token of each call: streams need not begin again for a new token.
    let ignoresTokens = link == .embedded
    let users = auth?.addTokenListener { [weak self] change in
      let user = change.userID.map { UTF8String($0) }
      let isSame = last.withLock { last in
        defer { last = user }
        return last == user
      }
      if isSame, ignoresTokens { return }
      self?.changeUser(change.userID)
    }
    if let users { keep(users) }
  }
}
