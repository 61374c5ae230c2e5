import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// Views of an embedded client whose network is disabled, while another client writes to the engine.
@Suite(.timeLimit(.minutes(15)))
struct OfflineViewsTests {
  private let world = World()

  private func room(_ name: String, _ value: Int64) -> Mutation { set("rooms/\(name)", ["n": .integer(value)]) }

  private func number(_ snapshot: ViewSnapshot?, _ name: String) -> Int64? {
    if case .integer(let number)? = snapshot?.documents[path("rooms/\(name)")]?.fields?["n"] { number } else { nil }
  }

  @Test func `documents that are read for a new listener are shown by the others as well`() async throws {
    let other = world.client()
    try await other.write([room("a", 1)]).acknowledged()
    let client = world.client(isEmbedded: true)
    let (all, some) = (Received(), Received())
    _ = client.listen(try query("rooms"), options: ListenOptions()) { all.receive($0) }
    _ = try await all.first { !$0.isFromCache }
    await client.setNetworkEnabled(false)
    try await other.write([room("a", 2)]).acknowledged()
    let positive = try query("rooms", [.field(path: "n", .greaterThan, .integer(0))])
    _ = client.listen(positive, options: ListenOptions()) { some.receive($0) }
    #expect(number(try await some.first { !$0.documents.isEmpty }, "a") == 2)
    #expect(number(all.snapshots.last, "a") == 2)
    await client.shutdown()
    await other.shutdown()
  }

  @Test func `documents that fill up a limit are shown by all views, and none shows an earlier state`() async throws {
    let other = world.client()
    try await other.write([room("a", 1), room("b", 1), room("c", 1)]).acknowledged()
    let client = world.client(isEmbedded: true)
    let (all, limited) = (Received(), Received())
    let options = ListenOptions(includesMetadata: true)
    _ = client.listen(try query("rooms"), options: options) { all.receive($0) }
    _ = client.listen(try query("rooms", limit: 2), options: options) { limited.receive($0) }
    for received in [all, limited] { _ = try await received.first { !$0.isFromCache } }
    await client.setNetworkEnabled(false)
    try await other.write([room("b", 2), room("c", 2)]).acknowledged()
    _ = client.write([Mutation(path("rooms/a"), .delete)])
    _ = try await limited.first { $0.ids == ["b", "c"] }
    for name in ["b", "c"] {
      #expect(number(limited.snapshots.last, name) == 2)
      #expect(number(all.snapshots.last, name) == 2)
    }
    await client.shutdown()
    await other.shutdown()
  }
}
