import Foundation
import VestaAuthBackend
import VestaConcurrency
public import VestaCore
import VestaCredentialInterop
import VestaServiceInterop

// The shell around `SessionMachine`: it reads and writes the store, and notifies the listeners.

extension Auth {
  // The default app's session is kept under the name that this app once had.
  private var storeKey: String { "auth-\(appName == VestaApp.defaultName ? "[DEFAULT]" : appName)" }

  // MARK: Reading

  /// The signed-in user, as far as the store can be read.
  @AuthActor
  func currentUserIfReadable() -> User? {
    do {
      try restore()
    } catch {
      report("\(error)")
    }
    return user
  }

  /// Logs a failure of the store once, however often it is asked until it answers or fails in another way.
  @AuthActor
  private func report(_ failure: String) {
    guard reportedFailure != failure else { return }
    reportedFailure = failure
    log.error("I-AUT000001", "The session of the app \"\(appName)\" cannot be read; it will be tried again. \(failure)")
  }

  /// Finds out who is signed in, unless that is known, and writes what the store has not taken yet.
  @AuthActor
  func restore() throws {
    guard !isOver else { return }
    if let pendingWrite = machine.pendingWrite { try? write(pendingWrite) }
    guard !machine.isRead else { return }
    let stored: StoredSession?
    do {
      stored = try readStore()
    } catch {
      throw AuthError(.keychainError, error.message, underlying: error)
    }
    reportedFailure = nil
    let actions = machine.storeWasRead(stored)
    user = stored.map { User(auth: self, record: $0.user, tokens: $0.tokens) }
    perform(actions)
  }

  @AuthActor
  private func readStore() throws(CredentialStoreError) -> StoredSession? {
    do {
      guard let bytes = try store.load(storeKey) else { return nil }
      if let session = StoredSession.decoded(bytes) { return session }
      let place = try store.setAside(storeKey)
      log.error(
        "I-AUT000002", "The session of the app \"\(appName)\" makes no sense. It is kept as \(place). Sign in again.")
    } catch {
      guard error.code == .corrupted else { throw error }
      log.error("I-AUT000003", "The session of the app \"\(appName)\" is lost. \(error)")
    }
    return nil
  }

  // MARK: Changing

  /// Makes a user, or none, the current user.
  @AuthActor
  func setCurrentUser(_ new: User?) throws {
    try checkAppIsThere()
    // Before the machine decides: a session that was never looked at must count as the old one, not as a later one.
    _ = currentUserIfReadable()
    user = new
    perform(machine.sessionChanged(to: new?.session))
  }

  /// A user has other tokens or another profile than before.
  @AuthActor
  func userChanged(_ changed: User) {
    guard changed === user, !isOver else { return }
    perform(machine.sessionChanged(to: changed.session))
  }

  /// Ends the session of a user whose tokens the backend has turned down.
  @AuthActor
  func endSession(of refused: User, after error: any Error) {
    guard let cause = (error as? AuthError)?.underlying as? AuthServiceError, cause.endsSession else { return }
    guard refused === user, !isOver else { return }
    log.notice("I-AUT000004", "The backend does not accept the user any more (\(cause.code)), who is signed out.")
    user = nil
    perform(machine.sessionChanged(to: nil))
  }

  // MARK: Acting

  @AuthActor
  private func writeIfPossible(_ action: SessionMachine.Action) {
    do {
      try write(action)
    } catch {
      log.error("I-AUT000005", "The session could not be kept; it will be tried again. \(error)")
    }
  }

  @AuthActor
  private func perform(_ actions: [SessionMachine.Action]) {
    for action in actions {
      switch action {
      case .save, .erase: writeIfPossible(action)
      case .announceUser: userChanges.emit(user)
      case .announceToken:
        tokenChanges.emit(user)
        postNotification()
      case .watch(let expiration):
        refreshFailures = 0
        scheduleRefresh(expiration: expiration)
      case .stopWatching: stopWatching()
      }
    }
  }

  @AuthActor
  private func write(_ action: SessionMachine.Action) throws(CredentialStoreError) {
    switch action {
    case .save(let session):
      let bytes: [UInt8]
      do {
        bytes = try session.encoded()
      } catch {
        throw CredentialStoreError(.unwritable, "The session cannot be encoded.", underlying: error)
      }
      try store.save(bytes, for: storeKey)
    default: try store.remove(storeKey)
    }
    machine.storeTookTheChange()
  }

  private func postNotification() {
    listenerQueue.async { [weak self] in
      guard let self else { return }
      NotificationCenter.default.post(name: Auth.authStateDidChangeNotification, object: self)
    }
  }

  // MARK: Refreshing ahead of requests

  @AuthActor
  private func scheduleRefresh(expiration: Date) {
    stopWatching()
    let moment = TokenFreshness.nextRefresh(expiration: expiration, failures: refreshFailures, now: clock.date())
    refreshTimer = clock.schedule(at: moment) { [weak self] in
      Task { await self?.refreshBeforeExpiry() }
    }
  }

  @AuthActor
  func stopWatching() {
    refreshTimer?.cancel()
    refreshTimer = nil
  }

  /// Refreshes the token of the current user, and schedules the next refresh.
  ///
  /// A refusal reaches the machine as a change of the session, which stops this. Everything else schedules the next
  /// one: also a success, as a backend may answer with the same token within the same second.
  @AuthActor
  private func refreshBeforeExpiry() async {
    guard let user, !isOver else { return }
    // A caller may have refreshed it between the alarm and this.
    guard TokenFreshness.isDue(expiration: user.tokens.expiration, now: clock.date()) else {
      return scheduleRefresh(expiration: user.tokens.expiration)
    }
    do {
      _ = try await user.currentTokens(forcingRefresh: true)
      guard user === self.user, !isOver else { return }
      // A token that has expired on arrival is no success that could be repeated at once.
      refreshFailures = user.tokens.expiration > clock.date() ? 0 : refreshFailures + 1
      scheduleRefresh(expiration: user.tokens.expiration)
    } catch {
      guard user === self.user, !isOver else { return }
      refreshFailures += 1
      scheduleRefresh(expiration: user.tokens.expiration)
    }
  }
}

extension Auth: ComponentLifecycleMaintainer {
  /// Ends streams and listeners; the session stays in the store.
  public func appWillBeDeleted(_ app: VestaApp) async { await end() }

  @AuthActor
  private func end() {
    guard !isOver else { return }
    if let pendingWrite = machine.pendingWrite { try? write(pendingWrite) }
    isOver = true
    stopWatching()
    user = nil
    userChanges.finish()
    tokenChanges.finish()
  }
}

private let log = Logger(service: "VestaAuth")
