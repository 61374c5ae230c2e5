import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaDatabaseService
import VestaMemoryStore
import VestaSQLite
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
}
