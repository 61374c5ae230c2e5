import Testing
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaServiceInteropFakes
import VestaTesting

/// A token that can be read: `uid`, its expiry and a seal; the seal covers uid and expiry.
private struct SealedVerifier: CallerVerifier {
  enum Flaw: CaseIterable {
    case none, forgetsExpiry, takesUnverifiedClaims, ignoresProject, throwsOtherCodes, answersWithoutEnd,
      takesUnsignedTokens
  }

  let clock: ServiceClock
  var flaw = Flaw.none

  static func token(_ uid: String, expiry: Int64) -> String { "\(uid);\(expiry);\(seal("\(uid);\(expiry)"))" }
  static func seal(_ text: String) -> String { Hex.encode(SHA256.digest(Array("secret;\(text)".utf8))) }

  func verify(_ credential: Credential, project: String?) async throws(ServiceStatus) -> VerifiedCaller {
    if flaw == .takesUnsignedTokens, let uid = Self.unsignedUser(credential.token) {
      return VerifiedCaller(.user(VerifiedUser(uid: uid)))
    }
    let parts = credential.token.split(separator: ";").map(String.init)
    guard parts.count == 3, let expiry = Int64(parts[1]) else {
      throw flaw == .throwsOtherCodes ? ServiceStatus(.invalidArgument, "no token") : .unauthenticated
    }
    let isGenuine = Self.seal("\(parts[0]);\(parts[1])") == parts[2]
    if flaw != .takesUnverifiedClaims, !isGenuine { throw .unauthenticated }
    if flaw != .forgetsExpiry, clock.now() >= expiry { throw .unauthenticated }
    if flaw != .ignoresProject, let project, project != "p" { throw .unauthenticated }
    let user = VerifiedUser(uid: parts[0], project: "p", expiry: expiry)
    return VerifiedCaller(.user(user), expiry: flaw == .answersWithoutEnd ? .max : expiry)
  }
}

extension SealedVerifier {
  /// The user of a token whose header says that it has no signature.
  private static func unsignedUser(_ token: String) -> String? {
    let objects = token.split(separator: ".").prefix(2).map { part in
      (try? Base64.url.decode(String(part))).flatMap { try? JSONObject(json: $0) }
    }
    guard objects.count == 2, objects[0]?["alg"] == "none" else { return nil }
    return objects[1]?["sub"]?.string
  }
}

/// A cache that keeps what it was told once, for ever.
private final class EternalCache: CallerVerifier {
  private let verifier: any CallerVerifier
  private let known = Locked<[String: VerifiedCaller]>([:])

  init(_ verifier: any CallerVerifier) { self.verifier = verifier }

  func verify(_ credential: Credential, project: String?) async throws(ServiceStatus) -> VerifiedCaller {
    let key = "\(project ?? "") \(credential.token)"
    if let answer = known.withLock({ $0[key] }) { return answer }
    let answer = try await verifier.verify(credential, project: project)
    known.withLock { $0[key] = answer }
    return answer
  }
}

/// A verifier that answers at once from a table without an end, and else as it should.
private final class HastyCache: CallerVerifier {
  private let verifier: any CallerVerifier
  private let known = Locked<[String: VerifiedCaller]>([:])

  init(_ verifier: any CallerVerifier) { self.verifier = verifier }

  func verify(_ credential: Credential, project: String?) async throws(ServiceStatus) -> VerifiedCaller {
    let answer = try await verifier.verify(credential, project: project)
    known.withLock { $0["\(project ?? "") \(credential.token)"] = answer }
    return answer
  }

  func verifyAtOnce(_ credential: Credential, project: String?) throws(ServiceStatus) -> VerifiedCaller? {
    known.withLock { $0["\(project ?? "") \(credential.token)"] }
  }
}

@Suite struct CallerVerifierTests {
  private static func subject(
    _ flaw: SealedVerifier.Flaw = .none,
    wrapped: (any CallerVerifier, ServiceClock) -> any CallerVerifier = { v, _ in v }
  ) -> CallerVerifierSubject {
    let clock = ManualClock()
    return CallerVerifierSubject(
      wrapped(SealedVerifier(clock: clock.service, flaw: flaw), clock.service), project: "p",
      issue: { .idToken(SealedVerifier.token($0, expiry: clock.now + $1.microseconds)) },
      forge: { genuine, uid in
        .idToken(([uid] + genuine.token.split(separator: ";").dropFirst().map(String.init)).joined(separator: ";"))
      },
      advance: { clock.advance(by: $0) })
  }

  private func broken(_ make: @escaping @Sendable () -> CallerVerifierSubject) async -> [String] {
    await CallerVerifierContracts.all.run(against: { make() }).filter { !$0.isKept }.map(\.name)
  }

  @Test func `a verifier that keeps its promises passes, with and without a cache`() async {
    #expect(await broken { Self.subject() } == [])
    #expect(await broken { Self.subject(wrapped: { CachedCallerVerifier($0, clock: $1) }) } == [])
    #expect(await broken { Self.subject(wrapped: { CachedCallerVerifier($0, clock: $1, limit: 1) }) } == [])
  }

  @Test(arguments: SealedVerifier.Flaw.allCases.dropFirst())
  fileprivate func `a flawed verifier fails`(_ flaw: SealedVerifier.Flaw) async {
    #expect(await broken { Self.subject(flaw) } != [])
  }

  @Test func `a verifier that takes unsigned tokens breaks one promise`() async {
    #expect(
      await broken { Self.subject(.takesUnsignedTokens) } == ["an unsigned token is refused outside development"])
  }

  @Test func `a cache that keeps answers beyond their end fails`() async {
    let found = await broken { Self.subject(wrapped: { verifier, _ in EternalCache(verifier) }) }
    #expect(found == ["a token is refused from its expiry on, also one that was accepted before"])
  }

  @Test func `a verifier that answers at once beyond the end of a token fails`() async {
    let found = await broken { Self.subject(wrapped: { verifier, _ in HastyCache(verifier) }) }
    #expect(found == ["a token is refused from its expiry on, also one that was accepted before"])
  }

  @Test func `the fake keeps the promises that need no forged token`() async throws {
    let clock = ManualClock()
    let fake = FakeCallerVerifier(clock: clock.service)
    let subject = CallerVerifierSubject(
      fake, project: "p", issue: { fake.issue($0, project: "p", lifetime: $1) },
      forge: { genuine, uid in .idToken("\(genuine.token)|\(uid)") }, advance: { clock.advance(by: $0) })
    for contract in CallerVerifierContracts.all { try await contract.verify(subject) }
  }
}

@Suite struct CachedCallerVerifierTests {
  private let clock = ManualClock()
  private let fake: FakeCallerVerifier
  private let cache: CachedCallerVerifier

  init() {
    fake = FakeCallerVerifier(clock: clock.service)
    cache = CachedCallerVerifier(fake, clock: clock.service, limit: 8)
  }

  @Test func `a token is verified once, and again after the longest time for which an answer is kept`() async throws {
    let credential = fake.issue("ada", lifetime: .seconds(100_000))
    for _ in 0..<5 { _ = try await cache.verify(credential, project: nil) }
    #expect(fake.verifications == 1)
    clock.advance(by: .seconds(3599))
    _ = try await cache.verify(credential, project: nil)
    #expect(fake.verifications == 1)
    clock.advance(by: .seconds(1))
    _ = try await cache.verify(credential, project: nil)
    #expect(fake.verifications == 2)
  }

  @Test func `an answer without an end and a failure are not kept, and projects do not share answers`() async throws {
    fake.accept(Owner(name: "console"), token: "secret")
    for _ in 0..<3 { #expect(try await cache.verify(.bearer("secret"), project: nil).caller.isOwner) }
    #expect(fake.verifications == 3)
    let credential = fake.issue("ada")
    fake.fail(ServiceStatus(.unavailable, "no store"))
    await #expect(throws: ServiceStatus.self) { try await cache.verify(credential, project: nil) }
    fake.fail(nil)
    _ = try await cache.verify(credential, project: "a")
    _ = try await cache.verify(credential, project: "b")
    #expect(fake.verifications == 6)
  }

  @Test func `the table never has more answers than its limit, and keeps the ones in use`() async throws {
    let favourite = fake.issue("favourite")
    _ = try await cache.verify(favourite, project: nil)
    for number in 0..<100 {
      _ = try await cache.verify(fake.issue("user-\(number)"), project: nil)
      _ = try await cache.verify(favourite, project: nil)
      #expect(cache.count <= 8)
    }
    #expect(fake.verifications == 101)
  }

  @Test func `a clock that is set back makes the kept answer worthless`() async throws {
    let credential = fake.issue("ada")
    _ = try await cache.verify(credential, project: nil)
    clock.jump(to: clock.now - 1)
    _ = try await cache.verify(credential, project: nil)
    #expect(fake.verifications == 2)
  }

  @Test(.timeLimit(.minutes(5)))
  func `calls at the same time share a verification, and one that is cancelled leaves alone`()
    async throws
  {
    let credential = fake.issue("ada")
    fake.hold(true)
    let calls = (0..<10).map { _ in Task { [cache] in try await cache.verify(credential, project: nil) } }
    while fake.verifications == 0 { await Task.yield() }
    for _ in 0..<100 { await Task.yield() }
    calls[0].cancel()
    do {
      _ = try await calls[0].value
      Issue.record("the cancelled call returned")
    } catch {
      #expect((error as? ServiceStatus)?.code == .cancelled)
    }
    fake.hold(false)
    for call in calls.dropFirst() { _ = try await call.value }
    #expect(fake.verifications == 1)
  }
}

@Suite struct CallerCheckTests {
  private let verifier = FakeCallerVerifier()
  private let apps = FakeAppCheckVerifier(["good": "app"])

  private func outcome(_ check: CallerCheck, _ context: CallContext) async -> Result<CallContext, ServiceStatus> {
    do { return .success(try await check.verified(context)) } catch { return .failure(error) }
  }

  private func code(_ check: CallerCheck, _ context: CallContext) async -> ServiceCode? {
    if case .failure(let status) = await outcome(check, context) { status.code } else { nil }
  }

  @Test func `a credential is verified, and refused where there is no verifier`() async throws {
    let context = CallContext(caller: .credential(verifier.issue("ada", claims: ["admin": true])))
    let user = try await outcome(CallerCheck(callers: verifier), context).get().user
    #expect(user?.uid == "ada" && user?.claims["admin"] == true)
    for check in [CallerCheck(), CallerCheck(apps: apps)] {
      #expect(await code(check, context) == .unauthenticated)
    }
  }

  @Test func `calls without a caller, owners and verified users cost nothing and pass`() async throws {
    for check in [CallerCheck(), CallerCheck(callers: verifier, apps: apps)] {
      for caller in [CallContext.Caller.nobody, .owner, .user(VerifiedUser(uid: "ada"))] {
        let context = CallContext(caller: caller)
        #expect(!check.concerns(context))
        #expect(try await outcome(check, context).get() == context)
      }
    }
    #expect(verifier.verifications == 0)
  }

  @Test func `an App Check token is verified, and a bad one matters where App Check is enforced`() async throws {
    let (good, bad) = (CallContext(appCheck: .token("good")), CallContext(appCheck: .token("bad")))
    let check = CallerCheck(apps: apps)
    #expect(try await outcome(check, good).get().appCheck == .verified(appID: "app", tokenID: "id-of-good"))
    #expect(try await outcome(check, bad).get() == bad)
    let strict = CallerCheck(apps: apps, enforcesAppCheck: true)
    #expect(try await outcome(strict, good).get().appCheck.appID == "app")
    for context in [bad, CallContext(), CallContext(caller: .user(VerifiedUser(uid: "ada")))] {
      #expect(strict.concerns(context))
      #expect(await code(strict, context) == .unauthenticated)
    }
    #expect(try await outcome(strict, .owner).get() == .owner)
  }

  @Test func `rare facts of a context are values`() {
    var context = CallContext(caller: .user(VerifiedUser(uid: "ada")), project: "p", suppressesEvents: true)
    let plain = context
    context.clientFields = ClientFields(googleClient: "gl-swift/6.2 vesta/1")
    context.actingFor = .owner(Owner(name: "console"))
    context.trace = TraceContext(traceID: "a", spanID: "b")
    #expect(context != plain && context.client?.sdk == "vesta" && plain.client == nil)
    #expect(context.actingFor?.isOwner == true && context.trace?.spanID == "b")
    (context.clientFields, context.actingFor, context.trace) = (nil, nil, nil)
    #expect(context == plain && context.hashValue == plain.hashValue)
    #expect(CallContext(caller: .owner(Owner(name: "x", scopes: ["read"]))).isOwner)
    #expect(!Owner(name: "x", scopes: ["read"]).has("write") && Owner.full.has("write"))
  }
}
