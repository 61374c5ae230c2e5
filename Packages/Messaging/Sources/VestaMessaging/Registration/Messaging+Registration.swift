import VestaConcurrency
import VestaCore
import VestaServiceInterop

/// Registrations that no caller waits for: at the start, in place of a token that is old, and of one that was refused.
///
/// Nothing else asks for them again, and without a token nothing arrives. While the service cannot be reached they are
/// tried again, after pauses that grow and on a change of the network.
extension Messaging {
  /// Asks for the token until the service has answered.
  func registerInBackground() {
    state.withLock { $0.wantsRegistration = true }
    Task {
      do {
        _ = try await renewToken()
      } catch let error as MessagingError where [.network, .timeout].contains(error.code) {
        return registerLater()
      } catch {
        log.notice("I-MSG000004", "The app is not registered for messages. \(error)")
      }
      state.withLock { ($0.wantsRegistration, $0.failedRegistrations) = (false, 0) }
    }
  }

  /// Tries a registration again that waits for the service; there is none after the deletion of the token.
  func registerAgain() {
    guard state.withLock({ $0.wantsRegistration && !$0.isOver }) else { return }
    guard fcmTokenIfKnown == nil ? isAutoInitEnabled : isTokenStale else { return }
    registerInBackground()
  }

  /// Sets the timer of the next attempt: one, however many have failed.
  private func registerLater() {
    let pause = state.withLock { state -> Duration? in
      guard state.wantsRegistration, !state.hasRegistrationTimer, !state.isOver else { return nil }
      state.hasRegistrationTimer = true
      state.failedRegistrations += 1
      return tuning.retry.pause(after: state.failedRegistrations)
    }
    guard let pause else { return }
    _ = clock.schedule(after: pause) { [weak self] in
      self?.state.withLock { $0.hasRegistrationTimer = false }
      self?.registerAgain()
    }
  }

  /// Registers again when the service no longer knows the token.
  ///
  /// At most once an hour: of two programs with one installation each would make the other's token invalid.
  ///
  /// - Returns: Whether that is being done, or another token is there.
  @discardableResult
  func tokenWasRefused(_ token: String) -> Bool {
    let now = clock.now()
    let isWorthTrying = state.withLock { state in
      if let last = state.lastRefusal, (0..<tuning.refusalPause.microseconds).contains(now - last) { return false }
      state.lastRefusal = now
      return true
    }
    guard fcmTokenIfKnown == token else { return true }
    guard isWorthTrying else { return false }
    change { $0.tokenTime = 0 }
    registerInBackground()
    return true
  }
}

private let log = Logger(service: "VestaMessaging")
