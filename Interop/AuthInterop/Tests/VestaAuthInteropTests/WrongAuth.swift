import VestaAuthInterop
import VestaAuthInteropContracts
import VestaAuthInteropFakes
import VestaConcurrency

/// An implementation over `FakeAuth` whose methods can be replaced one by one.
struct WrongAuth: AuthInterop {
  typealias Listener = @Sendable (AuthTokenChange) -> Void

  let fake = FakeAuth()
  var token: @Sendable (FakeAuth, _ forcingRefresh: Bool) async throws -> String? = {
    try await $0.getToken(forcingRefresh: $1)
  }
  var userID: @Sendable (FakeAuth) -> String? = { $0.getUserID() }
  var hears: @Sendable (AuthTokenChange) -> Bool = { _ in true }

  var registers: @Sendable (ListenerRegistration) -> ListenerRegistration = { $0 }

  func getToken(forcingRefresh: Bool) async throws -> String? { try await token(fake, forcingRefresh) }
  func getUserID() -> String? { userID(fake) }
  func addTokenListener(_ listener: @escaping Listener) -> ListenerRegistration {
    registers(fake.addTokenListener { [hears] change in if hears(change) { listener(change) } })
  }
}

extension AuthInteropSubject {
  static func driving(_ fake: FakeAuth, as auth: any AuthInterop, patience: Duration = .seconds(30)) -> Self {
    AuthInteropSubject(
      auth,
      patience: patience,
      signIn: { fake.signIn($0) },
      signOut: { fake.signOut() },
      setRefreshesFail: { fake.failRefreshes(with: $0 ? AuthInteropError(.unavailable, "told to fail") : nil) },
      setRefreshesHeld: { if $0 { await fake.holdRefreshes() } else { await fake.releaseRefreshes() } }
    )
  }
}
