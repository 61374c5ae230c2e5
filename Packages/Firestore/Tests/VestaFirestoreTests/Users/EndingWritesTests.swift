import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInteropFakes
import VestaTesting

/// Writes that are made while their client ends.
@Suite(.timeLimit(.minutes(15)))
struct EndingWritesTests {
  /// Of an engine in the process a write has a row from the end on: where the end was lost, so was the write.
  @Test func `a write survives the end of its client, whichever others wait for documents then`() async throws {
    let (backend, store, auth) = (SenderBackend(), ModelStore(), LateAuth("alice"))
    var client = backend.client(auth, store, .embedded)
    backend.writes.close()
    _ = client.write([counted("first")])
    #expect(try await client.cachedDocument(notePath("first")).isFound)
    backend.holdNextRead()
    _ = client.write([counted("second")])
    while backend.held.waitingCount == 0 { await Task.yield() }
    let end = Task { [client] in await client.shutdown() }
    // Nothing tells that the end waits for the second write.
    for _ in 0..<500 { await Task.yield() }
    backend.holdNextRead()
    let third = client.write([counted("third")])
    backend.held.open()
    backend.held.close()
    // Without waiting for the third write, the end is over by then.
    for _ in 0..<2_000 { await Task.yield() }
    backend.held.open()
    await end.value
    _ = try? await third.localCommit()
    client = backend.client(auth, store, .embedded)
    backend.writes.open()
    try await client.waitForPendingWrites()
    let notes = try await client.lookup(["first", "second"].map(notePath))
    #expect(notes.allSatisfy { $0.fields == ["n": .integer(1)] })
    await client.shutdown()
  }
}
