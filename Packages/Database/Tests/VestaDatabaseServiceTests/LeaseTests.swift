import Testing
import VestaDatabaseBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

@Suite(.timeLimit(.minutes(20)))
struct LeaseTests {
  @Test func `an engine that is closed gives its lease back, so that others need not wait for its end`() async throws {
    let store = ModelStore()
    var options = DatabaseServiceOptions()
    options.clock = ManualClock().service
    options.sharing = .shared(lease: .seconds(15))
    let engine = DatabaseEngine(store: HookedStore(store, closesBase: false), options: options)
    let client = TestClient(engine)
    #expect(await client.put("a", DatabaseNode(.int(1))).status == .ok)
    let leases = KeyRange(prefix: Keys(namespace: "test").owners())
    #expect(try await store.read { try await $0.entries(in: leases) }.count == 1)
    client.close()
    await client.closed()
    try await engine.close()
    #expect(try await store.read { try await $0.entries(in: leases) } == [])
  }
}
