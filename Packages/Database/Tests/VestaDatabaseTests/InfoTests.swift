import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

@testable import VestaDatabase

/// The values below `.info`, which the library itself knows.
@Suite(.timeLimit(.minutes(20)))
struct InfoTests {
  private let backend = ScriptedDatabaseBackend()
  private let time = SimulatedTime()

  private func rest(_ client: Database) async {
    await withCheckedContinuation { continuation in client.repo.enqueue { _ in continuation.resume() } }
  }

  @Test func `that there is no connection is said once, however often one fails`() async {
    let client = World.client(backend, time)
    let states = Log<Bool?>()
    client.reference(withPath: ".info/connected").observe(.value) { states.add($0.value as? Bool) }
    for number in 0..<3 {
      await backend.link(number).say(.closed(reason: "no"))
      await rest(client)
      time.advance(by: .seconds(60))
    }
    await backend.link(3).hello()
    await states.wait { $0.last == true }
    #expect(states.entries == [false, true])
  }

  @Test func `what the library knows is read without the service`() async {
    let client = World.client(backend, time)
    let read = Log<String>()
    for key in ["connected", "nothing"] {
      client.reference(withPath: ".info/\(key)").getData { error, snapshot in
        read.add(error == nil ? "\(snapshot?.value as? Bool as Any)" : "failed")
      }
    }
    await rest(client)
    // A service would have to answer by now.
    time.advance(by: .seconds(600))
    #expect(await read.wait(for: 2) == ["Optional(false)", "nil"])
  }
}
