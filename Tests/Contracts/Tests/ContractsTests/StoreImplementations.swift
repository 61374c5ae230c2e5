import Testing
import VestaMemoryStore
import VestaSQLite
import VestaStoreInterop
import VestaStoreInteropContracts
import VestaStoreInteropFakes
import VestaTesting

@Suite struct StoreImplementations {
  static let all: [Implementation<StoreSubject>] = [
    Implementation("ModelStore") { StoreSubject(store: ModelStore(), other: ModelStore()) },
    Implementation("MemoryStore") { StoreSubject(store: MemoryStore(), other: MemoryStore()) },
    Implementation("SQLiteStore") { try await sqliteStore() },
  ]

  @Test(arguments: all) func `an implementation keeps every promise`(_ implementation: Implementation<StoreSubject>)
    async
  {
    await implementation.keeps(StoreContracts.all)
  }

  @Test(arguments: StoreProviderContracts.all)
  func `the providers of stores keep`(contract: Contract<StoreProviderSubject>) async throws {
    let directory = try TemporaryDirectory("provider")
    try await contract.verify(
      StoreProviderSubject(provider: MemoryStoreProvider(), directory: directory.path(of: "memory"), keepsData: false))
    try await contract.verify(
      StoreProviderSubject(provider: SQLiteStoreProvider(), directory: directory.path(of: "files"), keepsData: true))
  }

  private static func sqliteStore() async throws -> StoreSubject {
    let directory = try TemporaryDirectory("contract")
    let open = { @Sendable in try await SQLiteStore.open(named: "contract", in: directory.path) }
    return StoreSubject(store: try await open(), reopen: { try await open() })
  }
}
