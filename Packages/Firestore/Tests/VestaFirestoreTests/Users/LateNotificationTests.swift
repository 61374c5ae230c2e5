import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInteropFakes
import VestaTesting

/// The time between a change of the user and its notification.
@Suite(.timeLimit(.minutes(15)))
struct LateNotificationTests {
  private typealias Sent = SenderBackend.Sent

  private let backend = SenderBackend()
  private let store = ModelStore()
  private let auth = LateAuth("alice")

  /// A client with a write of alice's that waits for the network.
  private func offlineClient(_ link: BackendLink) async throws -> (client: SyncClient, write: SyncWrite) {
    let client = backend.client(auth, store, link)
    await client.setNetworkEnabled(false)
    let write = client.write([counted("hers")])
    try await write.localCommit()
    auth.deliverAll()
    return (client, write)
  }

  @Test(arguments: [BackendLink.embedded, .remote])
  func `a former user's writes are not sent with the token of the next`(link: BackendLink) async throws {
    let (client, write) = try await offlineClient(link)
    auth.sign(in: "bob")
    await client.setNetworkEnabled(true)
    // Either is sent with his token, or that is found to be another user's and read again.
    while backend.sent.entries.isEmpty, auth.tokens.entries.count < 2 { await Task.yield() }
    try await client.write([counted("his")]).acknowledged()
    auth.sign(in: "alice")
    auth.deliverAll()
    try await write.acknowledged()
    #expect(Set(backend.sent.entries) == [Sent(document: "hers", user: "alice"), Sent(document: "his", user: "bob")])
    await client.shutdown()
  }

  @Test(arguments: [BackendLink.embedded, .remote])
  func `a token of a user who was signed in for a moment only is not used`(link: BackendLink) async throws {
    let (client, write) = try await offlineClient(link)
    auth.sign(in: "bob")
    auth.afterNextToken { [auth] in auth.sign(in: "alice") }
    await client.setNetworkEnabled(true)
    try await write.acknowledged()
    #expect(backend.sent.entries == [Sent(document: "hers", user: "alice")])
    await client.shutdown()
  }

  @Test(arguments: [BackendLink.embedded, .remote])
  func `what a former user has written is not read by the next`(link: BackendLink) async throws {
    let (client, _) = try await offlineClient(link)
    let notes = try LocalQuery(database: DatabaseName(project: "demo"), path: ResourcePath(splitting: "notes"))
    #expect(try await client.cachedDocument(notePath("hers")).isFound)
    auth.sign(in: "bob")
    #expect(try await !client.cachedDocument(notePath("hers")).isFound)
    auth.sign(in: "alice")
    #expect(try await client.cachedResults(notes).documents.count == 1)
    auth.sign(in: nil)
    #expect(try await client.cachedResults(notes).documents.isEmpty)
    await client.shutdown()
  }

  @Test func `reads of an engine in the process show the writes of the user of this moment`() async throws {
    let (client, _) = try await offlineClient(.embedded)
    let hers = try LocalQuery(database: DatabaseName(project: "demo"), path: notePath("hers"))
    auth.sign(in: "bob")
    await client.setNetworkEnabled(true)
    #expect(try await client.freshDocument(notePath("hers"))?.isFound == false)
    auth.sign(in: "alice")
    // Sent or not, it is hers.
    #expect(try await client.freshResults(hers)?.documents.count == 1)
    await client.shutdown()
  }

  @Test func `a write while the client ends belongs to the user of this moment`() async throws {
    var (client, _) = try await offlineClient(.embedded)
    backend.holdNextRead()
    let read = Task { [client] in _ = try await client.cachedDocument(notePath("other")) }
    while backend.held.waitingCount == 0 { await Task.yield() }
    let end = Task { [client] in await client.shutdown() }
    // Reads are refused from the beginning of the end on.
    while (try? await client.cachedDocument(notePath("another"))) != nil { await Task.yield() }
    auth.sign(in: "bob")
    _ = client.write([counted("his")])
    backend.held.open()
    try await read.value
    await end.value
    auth.sign(in: "alice")
    client = backend.client(auth, store, .embedded)
    try await client.waitForPendingWrites()
    #expect(backend.sent.entries == [Sent(document: "hers", user: "alice")])
    auth.sign(in: "bob")
    try await client.waitForPendingWrites()
    #expect(backend.sent.entries.last == Sent(document: "his", user: "bob"))
    await client.shutdown()
  }
}
