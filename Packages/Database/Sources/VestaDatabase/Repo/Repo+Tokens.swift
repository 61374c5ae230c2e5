import VestaAppCheckInterop
import VestaAuthInterop
import VestaDatabaseBackend

/// Follows the tokens of Auth and App Check.
extension Repo {
  /// Follows sign-ins and sign-outs.
  func listenForTokens() {
    if let auth = environment.auth {
      tokenListeners.append(
        auth.addTokenListener { [weak self] change in
          self?.enqueue { repo in repo.tokenChanged(change.token) }
        })
    }
    if let appCheck = environment.appCheck {
      tokenListeners.append(
        appCheck.addTokenListener { [weak self] change in
          self?.enqueue { repo in repo.appCheckChanged(change.token) }
        })
    }
  }

  private func tokenChanged(_ new: String?) {
    hasTokenNews = true
    guard new != token else { return }
    token = new
    guard phase == .connected else { return }
    sentToken = new
    guard let new else { return send(.unauthenticate, for: .notice) }
    send(.authenticate(token: new), for: .authentication(isFirst: false))
  }

  private func appCheckChanged(_ new: String) {
    appCheckToken = new
    guard phase == .connected else { return }
    send(.appCheck(token: new), for: .notice)
  }
}
