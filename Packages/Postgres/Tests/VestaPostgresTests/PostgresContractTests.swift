import Testing
import VestaStoreInterop
import VestaStoreInteropContracts
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaPostgres

extension OneAtATime {
  @Suite struct PostgresContractTests {
    @Test(arguments: StoreContracts.all)
    func `PostgreSQL keeps`(_ contract: Contract<StoreSubject>) async throws {
      let clock = ManualStoreClock()
      let space = Server.newSpace()
      let store = try await Server.open(space, clock: clock.clock)
      let other = try await Server.open(space, named: "other", clock: clock.clock)
      try await contract.verify(
        StoreSubject(store: store, clock: clock, other: other) { try await Server.open(space, clock: clock.clock) })
    }

    @Test(arguments: StoreContracts.all)
    func `a store with few connections and the server's clock keeps`(_ contract: Contract<StoreSubject>) async throws {
      let space = Server.newSpace()
      let store = try await Server.open(space, followsServer: true) { $0.connections = 2 }
      try await contract.verify(
        StoreSubject(store: store) { try await Server.open(space, followsServer: true) { $0.connections = 2 } })
    }

    @Test(arguments: StoreContracts.all)
    func `a store with small pages, units and lists of commits keeps`(_ contract: Contract<StoreSubject>) async throws {
      let (space, seed) = (Server.newSpace(), UInt64.random(in: 0...UInt64.max))
      let tuning = PostgresTuning.small(seed: seed)
      let store = try await Server.open(space) { $0.tuning = tuning }
      do {
        try await contract.verify(
          StoreSubject(store: store) { try await Server.open(space) { $0.tuning = tuning } })
      } catch {
        Issue.record("seed \(seed), \(tuning): \(error)")
      }
    }

    @Test(arguments: StoreProviderContracts.all)
    func `the provider keeps`(_ contract: Contract<StoreProviderSubject>) async throws {
      var options = PostgresOptions()
      options.url = Server.url
      let provider = PostgresStoreProvider(options: options)
      try await contract.verify(
        StoreProviderSubject(provider: provider, directory: Server.newSpace(), keepsData: true))
    }

    @Test(arguments: UInt64(1)...6)
    func `a random history gives the answers of the model`(seed: UInt64) async throws {
      let tuning = PostgresTuning.small(seed: seed)
      let store = try await Server.open(Server.newSpace()) { if seed % 2 == 0 { $0.tuning = tuning } }
      #expect(try await StoreHistory(seed: seed, steps: 150).difference(on: store) == nil)
      try await store.close()
    }

    @Test func `a schema that is no store's is refused with a sentence`() async throws {
      let space = Server.newSpace()
      let schema = Schema(prefix: "vesta", store: "test", directory: space)
      try await Server.run("CREATE SCHEMA \(schema.name)")
      try await Server.run("CREATE TABLE \(schema.name).people (id int)")
      await #expect { try await Server.open(space) } throws: { ($0 as? StoreError)?.code == .notADatabase }
    }

    @Test func `a schema of a later form is refused with a sentence`() async throws {
      let space = Server.newSpace()
      try await Server.open(space).close()
      let schema = Schema(prefix: "vesta", store: "test", directory: space)
      try await Server.run("UPDATE \(schema.name).state SET form = 2")
      await #expect { try await Server.open(space) } throws: { ($0 as? StoreError)?.code == .newerSchema }
    }

    @Test func `a schema of no form, or of another store, is refused with a sentence`() async throws {
      for change in ["form = 0", "store = 'other'"] {
        let space = Server.newSpace()
        try await Server.open(space).close()
        let schema = Schema(prefix: "vesta", store: "test", directory: space)
        try await Server.run("UPDATE \(schema.name).state SET \(change)")
        await #expect { try await Server.open(space) } throws: { ($0 as? StoreError)?.code == .notADatabase }
      }
    }

    @Test func `a missing server is reported with what to check`() async throws {
      let error = await #expect(throws: StoreError.self) {
        try await Server.open("x") { $0.url = "postgresql://vesta@127.0.0.1:1/postgres" }
      }
      #expect(error?.code == .inputOutput && error?.hint?.contains("connection string") == true)
    }
  }
}
