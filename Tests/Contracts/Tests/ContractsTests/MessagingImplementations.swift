import Synchronization
import Testing
import VestaMessagingInterop
import VestaMessagingInteropContracts
import VestaMessagingInteropFakes

@Suite struct MessagingImplementations {
  static let all: [Implementation<MessagingInteropSubject>] = [
    Implementation("FakeMessaging") { fakeMessaging() }
  ]

  @Test(arguments: all) func `an implementation keeps every promise`(
    _ implementation: Implementation<MessagingInteropSubject>
  ) async {
    await implementation.keeps(MessagingInteropContracts.all)
  }

  private static func fakeMessaging() -> MessagingInteropSubject {
    let fake = FakeMessaging()
    let tokens = TokenNumbers()
    return MessagingInteropSubject(
      fake,
      renewToken: { fake.setToken("token-\(tokens.next())") },
      deleteToken: { fake.setToken(nil) }
    )
  }

  private final class TokenNumbers: Sendable {
    private let last = Atomic(0)
    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
  }
}
