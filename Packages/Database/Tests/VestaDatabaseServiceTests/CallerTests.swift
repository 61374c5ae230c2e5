import Testing
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// Who calls: what the engine makes of the credentials of its connections.
@Suite(.timeLimit(.minutes(20))) struct CallerTests {
  private let clock = ManualClock()

  private func engine(_ callers: CallerCheck, _ gatekeeper: (any DatabaseGuard)? = nil) -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    (options.clock, options.gatekeeper) = (clock.service, gatekeeper)
    return DatabaseEngine(store: ModelStore(), options: options, callers: callers)
  }

  @Test func `a connection is opened in the name of its caller, who is verified first`() async {
    let (verifier, gatekeeper) = (FakeCallerVerifier(clock: clock.service), ManualDatabaseGuard())
    let engine = engine(CallerCheck(callers: verifier, apps: FakeAppCheckVerifier(["genuine": "app"])), gatekeeper)
    let credential = verifier.issue("ada")
    verifier.hold(true)
    let client = TestClient(
      engine, context: CallContext(caller: .credential(credential), appCheck: .token("genuine")))
    let id = client.send(.put("a", DatabaseNode(.int(1)), hash: nil))
    for _ in 0..<20 { await Task.yield() }
    #expect(client.messages.isEmpty)
    verifier.hold(false)
    #expect(await client.reply(id).status == .ok)
    #expect(gatekeeper.asked.entries.map(\.uid) == ["ada"])
  }

  @Test func `a connection that is closed before its caller is verified ends, and carries out nothing`() async throws {
    let verifier = FakeCallerVerifier(clock: clock.service)
    let engine = engine(CallerCheck(callers: verifier))
    let credential = verifier.issue("ada")
    verifier.hold(true)
    let client = TestClient(engine, context: CallContext(caller: .credential(credential)))
    _ = client.send(.put("a", DatabaseNode(.int(1)), hash: nil))
    client.close()
    verifier.hold(false)
    await client.closed()
    let other = TestClient(engine)
    #expect(await other.get("a").isEmpty)
    other.close()
    await other.closed()
    try await engine.close()
  }

  @Test func `a token that expires signs the connection out, and ends the listens that are denied then`() async {
    let (verifier, gatekeeper) = (FakeCallerVerifier(clock: clock.service), ManualDatabaseGuard())
    let engine = engine(CallerCheck(callers: verifier), gatekeeper)
    let client = TestClient(engine)
    let credential = verifier.issue("ada", claims: ["admin": true])
    let reply = await client.call(.authenticate(token: credential.token))
    #expect(reply.expires == clock.now / 1_000_000 + 3_600)
    #expect(reply.auth?["uid"] == "ada" && reply.auth?["token"]?.object?["admin"] == true)
    gatekeeper.change {
      $0.uid == "ada" || { if case .read(let read) = $0 { read.path == "open" } else { true } }($0.subject)
    }
    #expect(await client.listen("rooms", tag: 1).status == .ok)
    #expect(await client.listen("open", tag: 2).status == .ok)
    clock.advance(by: .seconds(3_599))
    #expect(await client.call(.get("rooms", .all)).status == .ok)
    clock.advance(by: .seconds(1))
    await engine.settle()
    let ends = client.messages.compactMap { message -> String? in
      switch message {
      case .authRevoked(let status, _): status
      case .listenRevoked(let path, _): path.text
      default: nil
      }
    }
    #expect(ends == ["expired_token", "rooms"])
    #expect(await client.call(.get("rooms", .all)).status == .permissionDenied)
    // The next token is that of the connection again.
    let next = verifier.issue("ada")
    #expect(await client.call(.authenticate(token: next.token)).status == .ok)
    #expect(await client.call(.get("rooms", .all)).status == .ok)
  }

  @Test func `a token that was replaced in time ends nothing`() async {
    let (verifier, gatekeeper) = (FakeCallerVerifier(clock: clock.service), ManualDatabaseGuard())
    let engine = engine(CallerCheck(callers: verifier), gatekeeper)
    let client = TestClient(engine)
    _ = await client.call(.authenticate(token: verifier.issue("ada").token))
    clock.advance(by: .seconds(3_000))
    _ = await client.call(.authenticate(token: verifier.issue("ada").token))
    clock.advance(by: .seconds(1_000))
    await engine.settle()
    _ = await client.call(.get("a", .all))
    #expect(gatekeeper.asked.entries.last?.uid == "ada")
    #expect(!client.messages.contains { if case .authRevoked = $0 { true } else { false } })
    _ = await client.call(.unauthenticate)
    clock.advance(by: .seconds(9_000))
    await engine.settle()
    #expect(!client.messages.contains { if case .authRevoked = $0 { true } else { false } })
  }

  @Test func `an owner acts with other variables of the rules, and no other caller does`() async {
    let gatekeeper = ManualDatabaseGuard()
    let engine = engine(CallerCheck(callers: ReadingCallerVerifier()), gatekeeper)
    let client = TestClient(engine)
    func uid(_ credential: DatabaseCredential) async -> String?? {
      guard await client.call(.authenticate(credential)).status == .ok else { return nil }
      let count = gatekeeper.asked.entries.count
      _ = await client.get("a")
      return gatekeeper.asked.entries.count == count ? .some("not asked") : gatekeeper.asked.entries.last?.uid
    }
    #expect(await uid(DatabaseCredential(token: "owner", isOwner: true)) == .some("not asked"))
    let ada = DatabaseCredential(token: "owner", isOwner: true, override: .claims(["uid": "ada"]))
    #expect(await uid(ada) == .some("ada"))
    #expect(await uid(DatabaseCredential(token: "owner", isOwner: true, override: .nobody)) == .some(nil))
    for credential in [
      DatabaseCredential(token: "eve", override: .claims(["uid": "ada"])),
      DatabaseCredential(token: "eve", isOwner: true),
    ] { #expect(await client.call(.authenticate(credential)).status == .permissionDenied) }
  }

  @Test func `a token of App Check is verified before what follows it`() async {
    let apps = FakeAppCheckVerifier(["genuine": "app"])
    let engine = engine(CallerCheck(apps: apps, enforcesAppCheck: true))
    let refused = TestClient(engine)
    await refused.closed()
    let client = TestClient(engine, context: CallContext(appCheck: .token("genuine")))
    #expect(await client.call(.appCheck(token: "forged")).status == .invalidToken)
    #expect(await client.call(.appCheck(token: "genuine")).status == .ok)
    #expect(await client.put("a", DatabaseNode(.int(1))).status == .ok)
  }

  @Test func `keys are read without the rows of the children`() async throws {
    let store = HookedStore()
    let engine = DatabaseEngine(store: store)
    let large = DatabaseNode(children: (0..<500).map { (DatabaseKey("k\($0)"), DatabaseNode(.int($0))) })
    let client = TestClient(engine)
    _ = await client.put("rooms", DatabaseNode(children: [("a", large), ("b", large), ("c", DatabaseNode(.int(1)))]))
    let before = store.entries
    let request = DatabaseReadRequest(namespace: "test", path: "rooms", depth: .keys)
    let result = try await engine.read(request, context: CallContext())
    let mark = DatabaseNode(.bool(true))
    #expect(result.node == DatabaseNode(children: [("a", mark), ("b", mark), ("c", mark)]))
    #expect(store.entries - before < 20)
  }
}
