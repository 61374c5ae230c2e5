import Testing
import VestaAppCheckInterop
import VestaAppCheckInteropContracts
import VestaAppCheckInteropFakes

@Suite struct AppCheckImplementations {
  static let all: [Implementation<AppCheckInteropSubject>] = [
    Implementation("FakeAppCheck") { fakeAppCheck() }
  ]

  @Test(arguments: all) func `an implementation keeps every promise`(
    _ implementation: Implementation<AppCheckInteropSubject>
  ) async {
    await implementation.keeps(AppCheckInteropContracts.all)
  }

  private static func fakeAppCheck() -> AppCheckInteropSubject {
    let fake = FakeAppCheck()
    return AppCheckInteropSubject(
      fake,
      setFetchesFail: { fake.failFetches(with: $0 ? AppCheckInteropError(.unavailable, "told to fail") : nil) },
      setFetchesHeld: { if $0 { await fake.holdFetches() } else { await fake.releaseFetches() } }
    )
  }
}
