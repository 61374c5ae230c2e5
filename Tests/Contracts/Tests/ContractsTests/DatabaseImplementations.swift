import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaDatabaseBackendFakes
import VestaDatabaseService
import VestaMemoryStore
import VestaSQLite
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@Suite struct DatabaseImplementations {
  static let all: [Implementation<DatabaseSubject>] = [
    Implementation("DatabaseEngine on ModelStore") { DatabaseSubject(DatabaseEngine(store: ModelStore())) },
    Implementation("DatabaseEngine on MemoryStore") { DatabaseSubject(DatabaseEngine(store: MemoryStore())) },
  ]

  @Test(arguments: all)
  func `an implementation keeps every promise`(_ implementation: Implementation<DatabaseSubject>) async {
    await implementation.keeps(DatabaseContracts.all)
  }

  @Test(arguments: DatabaseContracts.all)
  func `the engine on SQLite keeps`(contract: Contract<DatabaseSubject>) async throws {
    let directory = try TemporaryDirectory("database")
    let store = try await SQLiteStore.open(named: "database", in: directory.path)
    try await contract.verify(DatabaseSubject(DatabaseEngine(store: store)))
  }

  @Test(arguments: DatabaseGuardContracts.all)
  func `the engine with a guard keeps`(contract: Contract<GuardedDatabaseSubject>) async throws {
    try await contract.verify(GuardedDatabaseSubject { guardian in Self.engine { $0.gatekeeper = guardian } })
  }

  @Test(arguments: DatabaseAdminContracts.all)
  func `the administration of the engine keeps`(contract: Contract<DatabaseAdminSubject>) async throws {
    let engine = Self.engine { $0.rules = FakeRulesAdministration() }
    try await contract.verify(DatabaseAdminSubject(engine, admin: engine))
  }

  @Test(arguments: DatabaseSessionContracts.all)
  func `the engine that verifies its callers keeps`(contract: Contract<DatabaseSessionSubject>) async throws {
    let clock = ManualClock()
    let verifier = FakeCallerVerifier(clock: clock.service)
    verifier.accept(.full, token: "owner")
    let callers = CallerCheck(
      callers: verifier, apps: FakeAppCheckVerifier(["genuine": "app"]), enforcesAppCheck: true)
    try await contract.verify(
      DatabaseSessionSubject(
        issue: { verifier.issue($0, claims: $1).token }, now: { clock.now }, advance: { clock.advance(by: $0) },
        make: { gatekeeper in
          var options = DatabaseServiceOptions()
          (options.clock, options.gatekeeper) = (clock.service, gatekeeper)
          return DatabaseEngine(store: MemoryStore(), options: options, callers: callers)
        }))
  }

  private static func engine(_ change: (inout DatabaseServiceOptions) -> Void) -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    change(&options)
    return DatabaseEngine(
      store: MemoryStore(), options: options, callers: CallerCheck(callers: ReadingCallerVerifier()))
  }
}
