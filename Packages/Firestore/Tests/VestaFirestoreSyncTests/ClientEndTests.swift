import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaTesting

/// The end of a client, and what arrives during it.
@Suite(.timeLimit(.minutes(15)))
struct ClientEndTests {
  @Test(arguments: [false, true])
  func `listeners that are added while the client ends, end as well`(isEmbedded: Bool) async throws {
    let client = World().client(isEmbedded: isEmbedded)
    let (rooms, halls) = (try query("rooms"), try query("halls"))
    let ended = Log<String>()
    _ = client.listen(
      rooms, options: ListenOptions(),
      onEnd: {
        ended.add("first")
        _ = client.listen(halls, options: ListenOptions(), onEnd: { ended.add("second") }) { _ in }
        _ = client.addSnapshotsInSyncListener(onEnd: { ended.add("in sync") }) {}
      }
    ) { _ in }
    await client.shutdown()
    #expect(ended.entries.first == "first")
    #expect(Set(ended.entries) == ["first", "second", "in sync"] && ended.entries.count == 3)
    // Later ones end at once.
    _ = client.listen(halls, options: ListenOptions(), onEnd: { ended.add("late") }) { _ in }
    #expect(ended.entries.last == "late")
  }
}
