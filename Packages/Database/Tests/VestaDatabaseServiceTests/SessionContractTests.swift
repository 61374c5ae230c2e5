import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The contract of callers of connections: the engine keeps it, and each wrong one breaks its promise and no other.
@Suite(.timeLimit(.minutes(10))) struct SessionContractTests {
  private static func subject(_ flaw: SessionFlaw = .none) -> DatabaseSessionSubject {
    let clock = ManualClock()
    let verifier = FakeCallerVerifier(clock: clock.service)
    verifier.accept(.full, token: "owner")
    let engines = Locked<[DatabaseEngine]>([])
    return DatabaseSessionSubject(
      issue: { verifier.issue($0, claims: $1).token }, now: { clock.now },
      advance: { duration in
        clock.advance(by: duration)
        for engine in engines.withLock({ $0 }) { await engine.settle() }
      },
      make: { gatekeeper in
        var options = DatabaseServiceOptions()
        options.clock = clock.service
        options.gatekeeper = flaw == .forgetsClaims ? ClaimlessGuard(inner: gatekeeper) : gatekeeper
        let callers = CallerCheck(
          callers: verifier, apps: FakeAppCheckVerifier(["genuine": "app"]), enforcesAppCheck: true)
        let engine = DatabaseEngine(store: ModelStore(), options: options, callers: callers)
        engines.withLock { $0.append(engine) }
        return FlawedSessions(backend: engine, flaw: flaw)
      })
  }

  @Test(arguments: DatabaseSessionContracts.all)
  func `the engine keeps`(_ contract: Contract<DatabaseSessionSubject>) async throws {
    try await contract.verify(Self.subject())
  }

  @Test(arguments: 0..<7)
  func `a wrong engine breaks exactly its promise`(_ index: Int) async {
    let outcomes = await DatabaseSessionContracts.all.run { Self.subject(SessionFlaw.allCases[index + 1]) }
    let broken = outcomes.filter { !$0.isKept }.map(\.name)
    #expect(broken == [DatabaseSessionContracts.all[index].name], "\(broken)")
  }

  @Test func `every promise has a wrong engine`() {
    #expect(SessionFlaw.allCases.count == DatabaseSessionContracts.all.count + 1)
  }
}

/// A flaw for each promise, in their order, after none.
private enum SessionFlaw: CaseIterable {
  case none, repliesNothing, forgetsClaims, hidesTheEnd, keepsTheFirstToken, ignoresOverrides, letsAllOverride
  case takesAnyApp
}

/// A guard whose engine knows the user alone.
private struct ClaimlessGuard: DatabaseGuard {
  let inner: any DatabaseGuard

  private func changed(_ context: CallContext) -> CallContext {
    CallContext(caller: context.user.map { .user(VerifiedUser(uid: $0.uid)) } ?? .nobody)
  }

  nonisolated(nonsending) func mayRead(
    _ read: DatabaseGuardedRead, state: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool {
    try await inner.mayRead(read, state: state, context: changed(context))
  }

  nonisolated(nonsending) func mayWrite(
    _ write: DatabaseGuardedWrite, before: any DatabaseGuardState, after: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool {
    try await inner.mayWrite(write, before: before, after: after, context: changed(context))
  }

  func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration { inner.observe(changed) }
}

/// An engine that does one thing about its callers wrong.
private struct FlawedSessions: DatabaseBackend {
  let backend: any DatabaseBackend
  let flaw: SessionFlaw

  func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let flaw = flaw
    let connection = backend.connect(request) { message in
      switch (flaw, message) {
      case (.hidesTheEnd, .listenRevoked): return
      case (.repliesNothing, .reply(let id, var reply)):
        (reply.auth, reply.expires) = (nil, nil)
        receive(.reply(id, reply))
      default: receive(message)
      }
    }
    return Connection(connection: connection, flaw: flaw)
  }

  func read(
    _ request: DatabaseReadRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseReadResult {
    try await backend.read(request, context: context)
  }

  func write(
    _ request: DatabaseWriteRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseNode {
    try await backend.write(request, context: context)
  }

  private final class Connection: DatabaseConnection {
    private let connection: any DatabaseConnection
    private let flaw: SessionFlaw
    private let signIns = Locked(0)

    init(connection: any DatabaseConnection, flaw: SessionFlaw) {
      (self.connection, self.flaw) = (connection, flaw)
    }

    func close() { connection.close() }

    func send(_ request: DatabaseRequest, id: Int) {
      var request = request
      switch (flaw, request) {
      case (.keepsTheFirstToken, .authenticate(let credential)) where credential.override == nil:
        let count = signIns.withLock { count in
          count += 1
          return count
        }
        if count > 1 { request = .stats([:]) }
      case (.ignoresOverrides, .authenticate(var credential)) where credential.isOwner:
        credential.override = nil
        request = .authenticate(credential)
      case (.letsAllOverride, .authenticate(var credential)) where credential.override != nil && !credential.isOwner:
        (credential.token, credential.isOwner) = ("owner", true)
        request = .authenticate(credential)
      case (.takesAnyApp, .appCheck): request = .appCheck(token: "genuine")
      default: break
      }
      connection.send(request, id: id)
    }
  }
}
