import Testing
import VestaAuthInterop
import VestaAuthInteropFakes
import VestaTesting

@Suite struct FakeAuthTests {
  private let auth = FakeAuth()

  private func complete(forcingRefresh: Bool) async -> (String?, (any Error)?) {
    await withCheckedContinuation { continuation in
      auth.getToken(forcingRefresh: forcingRefresh) { continuation.resume(returning: ($0, $1)) }
    }
  }

  @Test func `the completion form returns a token, an error or neither`() async {
    let nobody = await complete(forcingRefresh: true)
    #expect(nobody.0 == nil && nobody.1 == nil)
    auth.signIn("ada")
    #expect(await complete(forcingRefresh: false).0 == "token-1-of-ada")
    #expect(await complete(forcingRefresh: true).0 == "token-2-of-ada")
    auth.failRefreshes(with: AuthInteropError(.userRejected, "told to fail"))
    let failed = await complete(forcingRefresh: true)
    #expect(failed.0 == nil)
    #expect((failed.1 as? AuthInteropError)?.code == .userRejected)
  }

  @Test func `the stream sends the current state and every change`() async {
    var heard: [AuthTokenChange] = []
    for await change in auth.tokenChanges {
      heard.append(change)
      if heard.count == 1 { auth.signIn("ada") }
      if heard.count == 2 { auth.signOut() }
      if heard.count == 3 { break }
    }
    #expect(heard == [.signedOut, AuthTokenChange(userID: "ada", token: "token-1-of-ada"), .signedOut])
    #expect(auth.listenerCount == 0)
  }

  @Test func `cancelling the task that reads the stream removes its listener`() async throws {
    let heard = EventLog<AuthTokenChange>(patience: .seconds(60))
    let task = Task { [auth] in
      for await change in auth.tokenChanges { heard.record(change) }
    }
    try await heard.wait(for: "the greeting") { !$0.isEmpty }
    task.cancel()
    await task.value
    #expect(auth.listenerCount == 0)
  }

  @Test func `a token never shows in a description`() {
    let change = AuthTokenChange(userID: "ada", token: "secret")
    #expect("\(change) \(String(reflecting: change)) \([change])".contains("secret") == false)
  }
}
