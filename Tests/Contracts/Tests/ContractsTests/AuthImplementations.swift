import AuthInterop
import AuthInteropContracts
import AuthInteropFakes
import Testing

@Suite struct AuthImplementations {
  static let all: [Implementation<AuthInteropSubject>] = [
    Implementation("FakeAuth") { fakeAuth() }
  ]

  @Test(arguments: all) func keepsEveryPromise(_ implementation: Implementation<AuthInteropSubject>) async {
    await implementation.keeps(AuthInteropContracts.all)
  }

  private static func fakeAuth() -> AuthInteropSubject {
    let fake = FakeAuth()
    return AuthInteropSubject(
      fake,
      signIn: { fake.signIn($0) },
      signOut: { fake.signOut() },
      setRefreshesFail: { fake.failRefreshes(with: $0 ? AuthInteropError(.unavailable, "told to fail") : nil) },
      setRefreshesHeld: { if $0 { await fake.holdRefreshes() } else { await fake.releaseRefreshes() } }
    )
  }
}
