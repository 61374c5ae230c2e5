import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

@testable import VestaDatabase

/// Services that send nothing for minutes, and programs that do not take their messages.
@Suite(.timeLimit(.minutes(20)))
struct DeadConnectionTests {
  private let backend = ScriptedDatabaseBackend()
  private let time = SimulatedTime()

  private func client() -> Database { World.client(backend, time) }

  private func rest(_ client: Database) async {
    await withCheckedContinuation { continuation in client.repo.enqueue { _ in continuation.resume() } }
  }

  @Test func `a connection that does not open within half a minute is given up for another`() async throws {
    let client = client()
    let written = Task { try await client.reference(withPath: "a").setValue(1) }
    let first = await backend.link(0)
    await rest(client)
    time.advance(by: .seconds(29))
    await rest(client)
    #expect(backend.count == 1)
    time.advance(by: .seconds(2))
    await first.closed.wait()
    await rest(client)
    time.advance(by: .seconds(2))
    let second = await backend.link(1)
    // Messages of the first connection are ignored from here on.
    first.hello()
    await rest(client)
    #expect(first.requests.isEmpty && second.requests.isEmpty)
    second.hello()
    await second.answer { if case .put = $0 { true } else { false } }
    _ = try await written.value
    time.advance(by: .seconds(600))
    await rest(client)
    #expect(backend.count == 2)
  }

  @Test func `a service that answers after minutes is waited for, and the client works on until then`() async throws {
    let client = client()
    sync { client.reference(withPath: "x").setValue(0) }
    let link = await backend.link(0)
    link.hello()
    let shown = Log<Int>()
    client.reference(withPath: "a").observe(.value) { shown.add($0.value as? Int ?? -1) }
    let written = Task { try await client.reference(withPath: "a").setValue(1) }
    await shown.wait { $0.last == 1 }
    for _ in 0..<20 {
      time.advance(by: .seconds(30))
      await rest(client)
    }
    #expect(backend.count == 1)
    #expect(try await client.reference(withPath: "a").getData().value as? Int == 1)
    await link.answer { if case .put("a", _, _) = $0 { true } else { false } }
    await link.answer { if case .listen = $0 { true } else { false } }
    _ = try await written.value
  }

  @Test func `a client whose callbacks hang holds no other client up, and receives everything once they continue`()
    async throws
  {
    let world = World()
    let (hanging, other) = (world.client(), world.client())
    let gate = DispatchSemaphore(value: 0)
    let heard = Log<Int>()
    hanging.reference(withPath: "n").observe(.value) { snapshot in
      if !heard.entries.isEmpty {
        gate.wait()
        gate.signal()
      }
      heard.add(snapshot.value as? Int ?? 0)
    }
    await heard.wait { !$0.isEmpty }
    for number in 1...200 { try await other.reference(withPath: "n").setValue(number) }
    // Its writes are sent too; only its incoming messages wait.
    sync { hanging.reference(withPath: "m").setValue(7) }
    let arrived = Gate()
    other.reference(withPath: "m").observe(.value) { if $0.value as? Int == 7 { arrived.open() } }
    await arrived.wait()
    #expect(heard.entries == [0])
    gate.signal()
    await heard.wait { $0.last == 200 }
    #expect(heard.entries == Array(0...200))
  }
}
