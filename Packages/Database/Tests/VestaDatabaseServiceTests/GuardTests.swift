import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The engine with a guard.
@Suite struct GuardTests {
  private func engine(_ gatekeeper: any DatabaseGuard, hashCheckRows: Int = 1_000) -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    options.gatekeeper = gatekeeper
    options.tuning.hashCheckRows = hashCheckRows
    return DatabaseEngine(
      store: ModelStore(), options: options, callers: CallerCheck(callers: ReadingCallerVerifier()))
  }

  @Test(arguments: DatabaseGuardContracts.all)
  func `the engine honours`(_ contract: Contract<GuardedDatabaseSubject>) async throws {
    try await contract.verify(GuardedDatabaseSubject { engine($0) })
  }

  @Test(arguments: DatabaseGuardContracts.all)
  func `the engine that checks every hash concurrently with the writes honours`(
    _ contract: Contract<GuardedDatabaseSubject>
  ) async throws {
    try await contract.verify(GuardedDatabaseSubject { engine($0, hashCheckRows: 0) })
  }

  @Test func `requests of an owner are not asked about`() async {
    let gatekeeper = ManualDatabaseGuard { _ in false }
    let engine = engine(gatekeeper)
    let replies = Log<DatabaseServerMessage>()
    let connection = engine.connect(DatabaseConnectRequest(namespace: "n")) { replies.add($0) }
    connection.send(.authenticate(token: "owner"), id: 1)
    connection.send(.put("a", DatabaseNode(.int(1)), hash: nil), id: 2)
    connection.send(.get("a", .all), id: 3)
    connection.send(.listen(DatabaseListen(path: "a")), id: 4)
    connection.send(.onDisconnectPut("b", DatabaseNode(.int(1))), id: 5)
    for id in 1...5 {
      await replies.wait { $0.contains { if case .reply(id, let reply) = $0 { reply.status == .ok } else { false } } }
    }
    #expect(gatekeeper.asked.entries.isEmpty)
    withExtendedLifetime(connection) {}
  }

  @Test func `a write whose guard changes its mind while its hash is checked is denied`() async {
    let gatekeeper = ManualDatabaseGuard()
    let engine = engine(gatekeeper, hashCheckRows: 0)
    let replies = Log<DatabaseServerMessage>()
    let connection = engine.connect(DatabaseConnectRequest(namespace: "n")) { replies.add($0) }
    func reply(_ id: Int) async -> DatabaseReply? {
      await replies.wait { $0.contains { if case .reply(id, _) = $0 { true } else { false } } }
      for case .reply(id, let reply) in replies.entries { return reply }
      return nil
    }
    connection.send(.put("a", DatabaseNode(.int(1)), hash: nil), id: 1)
    _ = await reply(1)
    // The first question is that of the turn in which the hash turns out to be one of too many rows.
    let questions = gatekeeper.asked.entries.count
    gatekeeper.change { [asked = gatekeeper.asked] _ in asked.entries.count <= questions + 1 }
    connection.send(.put("a", DatabaseNode(.int(2)), hash: NodeHash.hash(DatabaseNode(.int(1)))), id: 2)
    #expect(await reply(2)?.status == .permissionDenied)
    #expect(gatekeeper.asked.entries.count == questions + 2)
    withExtendedLifetime(connection) {}
  }

  @Test func `a guard is not notified of an engine that is closed`() async throws {
    let gatekeeper = ManualDatabaseGuard()
    let engine = engine(gatekeeper)
    let connection = engine.connect(DatabaseConnectRequest(namespace: "n")) { _ in }
    #expect(gatekeeper.isObserved)
    connection.close()
    try await engine.close()
    #expect(!gatekeeper.isObserved)
  }
}
