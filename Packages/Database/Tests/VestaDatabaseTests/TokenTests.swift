import Testing
import VestaAppCheckInterop
import VestaAppCheckInteropFakes
import VestaAuthInterop
import VestaAuthInteropFakes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

@testable import VestaDatabase

/// Tokens of a client: a request counts as that of the user who is signed in when it is sent.
@Suite(.timeLimit(.minutes(20)))
struct TokenTests {
  private let auth = FakeAuth()
  private let appCheck = FakeAppCheck()
  private let backend = ScriptedDatabaseBackend()
  private let time = SimulatedTime()
  /// The clients of the test, which live as long as it does.
  private let clients = Log<Database>()

  private func client(appCheck: FakeAppCheck? = nil) -> Database {
    var environment = Repo.Environment(backend: backend, auth: auth, appCheck: appCheck)
    environment.clock = time.clock
    environment.random = SplitMix.fractions(seed: 1)
    return World.client(environment)
  }

  /// Returns when the client has nothing left to do.
  private func settle(_ client: Database) async {
    for _ in 0..<3 {
      await withCheckedContinuation { continuation in client.repo.enqueue { _ in continuation.resume() } }
    }
  }

  /// A client that has begun to write, and its first connection.
  private func writing(appCheck: FakeAppCheck? = nil) async -> (client: Database, link: ScriptedDatabaseBackend.Link) {
    let client = client(appCheck: appCheck)
    clients.add(client)
    sync { client.reference(withPath: "a").setValue(1) }
    let link = await backend.link(0)
    link.hello()
    return (client, link)
  }

  /// The connection that follows one that the client has closed.
  private func second(
    after first: ScriptedDatabaseBackend.Link, of client: Database
  ) async -> ScriptedDatabaseBackend.Link {
    await first.closed.wait()
    await settle(client)
    time.advance(by: .seconds(60))
    let link = await backend.link(1)
    link.hello()
    return link
  }

  private func tokens(_ link: ScriptedDatabaseBackend.Link) -> [String] { link.requests.compactMap(\.token) }

  @Test func `the token is sent before anything else`() async {
    auth.signIn("ada")
    let (_, link) = await writing()
    await link.asked.wait { !$0.isEmpty }
    #expect(link.requests.map(\.isAuthentication) == [true])
    await link.answer { $0.isAuthentication }
    await link.asked.wait { $0.contains(where: \.isWrite) }
    #expect(tokens(link) == ["token-1-of-ada"])
  }

  @Test func `a sign-out while the service checks the token is sent to the service`() async {
    auth.signIn("ada")
    let (client, link) = await writing()
    await link.asked.wait { !$0.isEmpty }
    let heard = Log<Bool>()
    let registration = auth.addTokenListener { heard.add($0.token == nil) }
    auth.signOut()
    await heard.wait { $0.contains(true) }
    await settle(client)
    await link.answer { $0.isAuthentication }
    await link.asked.wait { $0.contains(where: \.isWrite) }
    let out = link.requests.firstIndex(of: .unauthenticate)
    let write = link.requests.firstIndex(where: \.isWrite)
    #expect(out != nil && write != nil && (out ?? 9) < (write ?? 0), "\(link.requests)")
    registration.cancel()
  }

  @Test func `a sign-in while the service checks the token of another user is sent to the service`() async {
    auth.signIn("ada")
    let (client, link) = await writing()
    await link.asked.wait { !$0.isEmpty }
    let heard = Log<String?>()
    let registration = auth.addTokenListener { heard.add($0.userID) }
    auth.signIn("eve")
    await heard.wait { $0.contains("eve") }
    await settle(client)
    await link.answer { $0.isAuthentication }
    await link.answer { $0.token == "token-2-of-eve" }
    await link.asked.wait { $0.contains(where: \.isWrite) }
    #expect(tokens(link) == ["token-1-of-ada", "token-2-of-eve"])
    registration.cancel()
  }

  @Test func `a sign-out while the token is being fetched leaves no user signed in`() async {
    auth.signIn("ada")
    // The first token is refused; the forced refresh that follows is held back.
    let (client, first) = await writing()
    await auth.holdRefreshes()
    await first.answer(DatabaseReply(.expiredToken, message: "old")) { $0.isAuthentication }
    await first.closed.wait()
    await settle(client)
    auth.signOut()
    await auth.releaseRefreshes()
    time.advance(by: .seconds(60))
    let second = await backend.link(1)
    await settle(client)
    second.hello()
    await second.asked.wait { $0.contains(where: \.isWrite) }
    #expect(tokens(second).isEmpty, "\(second.requests)")
  }

  @Test func `a refused token is refreshed before the next attempt`() async {
    auth.signIn("ada")
    let (client, first) = await writing()
    await first.answer(DatabaseReply(.expiredToken, message: "old")) { $0.isAuthentication }
    let second = await second(after: first, of: client)
    await second.answer { $0.isAuthentication }
    await second.asked.wait { $0.contains(where: \.isWrite) }
    #expect(tokens(second) == ["token-2-of-ada"])
  }

  @Test func `a token that expires on an open connection is refreshed, and listens begin again`() async {
    auth.signIn("ada")
    let client = client()
    client.reference(withPath: "a").observe(.value) { _ in }
    let first = await backend.link(0)
    first.hello()
    await first.answer { $0.isAuthentication }
    await first.answer { $0.isListen }
    first.say(.authRevoked(status: "expired_token", reason: "Auth token is expired"))
    let second = await second(after: first, of: client)
    await second.answer { $0.isAuthentication }
    await second.asked.wait { $0.contains(where: \.isListen) }
    #expect(tokens(second) == ["token-2-of-ada"])
  }

  @Test func `new tokens, sign-ins and sign-outs on an open connection are sent to the service, once each`()
    async throws
  {
    let (_, link) = await writing()
    await link.answer { $0.isWrite }
    auth.signIn("ada")
    await link.answer { $0.token == "token-1-of-ada" }
    _ = try await auth.getToken(forcingRefresh: true)
    await link.answer { $0.token == "token-2-of-ada" }
    auth.signOut()
    await link.asked.wait { $0.contains(.unauthenticate) }
    #expect(tokens(link) == ["token-1-of-ada", "token-2-of-ada"])
    #expect(link.requests.count { $0 == .unauthenticate } == 1)
  }

  @Test func `a refused sign-in on an open connection closes it, and what was written is sent again`() async {
    let client = client()
    let done = Log<String>()
    let link = await {
      sync { client.goOnline() }; return await backend.link(0)
    }()
    link.hello()
    auth.signIn("ada")
    await link.asked.wait { $0.contains(where: \.isAuthentication) }
    client.reference(withPath: "a").setValue(1) { error, _ in done.add("\(error as Any)") }
    await link.asked.wait { $0.contains(where: \.isWrite) }
    await link.answer(DatabaseReply(.invalidToken, message: "no")) { $0.isAuthentication }
    let second = await second(after: link, of: client)
    await second.answer { $0.isAuthentication }
    await second.answer { $0.isWrite }
    await done.wait { $0 == ["nil"] }
  }

  @Test(arguments: [(DatabaseStatus.invalidToken, "token-2-of-ada"), (.unavailable, "token-1-of-ada")])
  func `a token that was refused is refreshed, one that could not be verified is kept`(
    status: DatabaseStatus, next: String
  ) async {
    let client = client()
    let link = await {
      sync { client.goOnline() }; return await backend.link(0)
    }()
    link.hello()
    auth.signIn("ada")
    await link.asked.wait { $0.contains(where: \.isAuthentication) }
    client.reference(withPath: "a").setValue(1) { _, _ in }
    await link.asked.wait { $0.contains(where: \.isWrite) }
    await link.answer(DatabaseReply(status, message: "no")) { $0.isAuthentication }
    let second = await second(after: link, of: client)
    await second.asked.wait { $0.contains(where: \.isAuthentication) }
    #expect(tokens(second) == [next])
  }

  @Test func `proofs of App Check are sent with the connection and when they change`() async {
    let (_, link) = await writing(appCheck: appCheck)
    await link.asked.wait { $0.contains(where: \.isWrite) }
    guard case .appCheck(let token)? = link.requests.first else {
      Issue.record("the proof is not the first request: \(link.requests)")
      return
    }
    let next = await appCheck.getToken(forcingRefresh: true).token
    #expect(next != token)
    await link.asked.wait { $0.contains(.appCheck(token: next)) }
  }

  @Test func `a service that sends the client away is not asked again`() async {
    let (client, link) = await writing()
    link.say(.shutdown(reason: "too much"))
    await link.closed.wait()
    await settle(client)
    client.goOnline()
    time.advance(by: .seconds(3600))
    await settle(client)
    #expect(backend.count == 1)
  }
}
