import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

@testable import VestaDatabaseEndpoints

/// The messages that wait for a client which does not read.
@Suite struct LinkTests {
  private static let text = DatabaseNode(.string(String(repeating: "x", count: 700)))

  @Test(
    arguments: [
      .data("a", text, tag: nil), .merge("a", [DatabasePathValue("b", text)], tag: nil),
      .rangeMerge("a", [DatabaseRangeMerge(after: "b", through: "c", text)], tag: nil),
      .reply(1, DatabaseReply(.ok, node: text)), .debug(""),
    ] as [DatabaseServerMessage])
  func `a reader that lags loses its connection, whatever waits for it`(message: DatabaseServerMessage) async {
    let (backend, overflows) = (ScriptedDatabaseBackend(), Log<Bool>())
    let request = DatabaseConnectRequest(namespace: "n")
    let link = MessageLink(to: backend, request, limit: 3_000) { overflows.add(true) }
    let far = await backend.link(0)
    for _ in 0..<3 { far.say(message) }
    #expect(overflows.entries.isEmpty)
    for _ in 0..<30 { far.say(message) }
    #expect(overflows.entries == [true])
    await far.closed.wait()
    withExtendedLifetime(link) {}
  }
}
