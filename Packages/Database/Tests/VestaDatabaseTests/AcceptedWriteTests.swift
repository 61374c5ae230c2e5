import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaTesting

@testable import VestaDatabase

/// Writes that the service has accepted when the connection ends before the data of the listens that would show them.
@Suite(.timeLimit(.minutes(20)))
struct AcceptedWriteTests {
  private static func isListen(_ request: DatabaseRequest) -> Bool { if case .listen = request { true } else { false } }
  private static func isPut(_ request: DatabaseRequest) -> Bool { if case .put = request { true } else { false } }

  /// A client that has seen `room`, has written to `room/b` on its second connection, and has lost that one.
  private func clientAfterLoss(
    _ stores: KeptStores, _ time: SimulatedTime, seen: DatabaseNode?, answer: DatabaseReply
  ) async -> (Database, ScriptedDatabaseBackend) {
    let backend = ScriptedDatabaseBackend()
    var environment = Repo.Environment(backend: backend)
    environment.clock = time.clock
    let client = World.client(environment, stores: stores)
    client.isPersistenceEnabled = true
    client.reference(withPath: "room").observe(.value) { _ in }
    let first = await backend.link(0)
    first.hello()
    if let seen {
      await first.asked.wait { $0.contains(where: Self.isListen) }
      first.say(.data("room", seen, tag: nil))
      await first.answer(.ok, Self.isListen)
    }
    first.say(.closed(reason: "lost"))
    await rest(client)
    time.advance(by: .seconds(60))
    let second = await backend.link(1)
    second.hello()
    client.reference(withPath: "room/b").setValue(2) { _, _ in }
    await second.answer(answer, Self.isPut)
    second.say(.closed(reason: "lost"))
    await rest(client)
    return (client, backend)
  }

  /// Returns when the client has done what it was told, and its device has kept everything.
  private func rest(_ client: Database) async {
    await withCheckedContinuation { continuation in
      client.repo.enqueue { repo in
        guard let persistence = repo.persistence else { return continuation.resume() }
        persistence.whenForgotten { _ in continuation.resume() }
      }
    }
  }

  /// What a program shows of `room` that starts on the device without a network, and the writes that it would send.
  private func shownAfterRestart(_ stores: KeptStores) async throws -> (room: [String: Int]?, writes: Int) {
    let next = World.client(Repo.Environment(backend: ScriptedDatabaseBackend()), stores: stores)
    next.isPersistenceEnabled = true
    next.goOffline()
    let (snapshot, _) = await next.reference(withPath: "room").observeSingleEventAndPreviousSiblingKey(of: .value)
    let writes = await withCheckedContinuation { continuation in
      next.repo.enqueue { repo in continuation.resume(returning: repo.tree.writes.records.count) }
    }
    return (snapshot.value as? [String: Int], writes)
  }

  private static let one = DatabaseNode(children: [("a", DatabaseNode(.int(1)))])

  /// The program is killed: nothing is shut down.
  @Test func `an accepted write is shown after a restart without a network, and is not sent again`() async throws {
    let stores = KeptStores()
    let (client, _) = await clientAfterLoss(stores, SimulatedTime(), seen: Self.one, answer: .ok)
    let (room, writes) = try await shownAfterRestart(stores)
    #expect(room == ["a": 1, "b": 2] && writes == 0)
    withExtendedLifetime(client) {}
  }

  @Test func `an accepted write is kept also where its app is deleted without a network`() async throws {
    let stores = KeptStores()
    let (client, _) = await clientAfterLoss(stores, SimulatedTime(), seen: Self.one, answer: .ok)
    await client.shutDown()
    #expect(try await shownAfterRestart(stores).room == ["a": 1, "b": 2])
  }

  @Test func `a refused write is neither shown after a restart nor sent again`() async throws {
    let stores = KeptStores()
    let refusal = DatabaseReply(.permissionDenied, message: "Permission denied")
    let (client, _) = await clientAfterLoss(stores, SimulatedTime(), seen: Self.one, answer: refusal)
    let (room, writes) = try await shownAfterRestart(stores)
    #expect(room == ["a": 1] && writes == 0)
    withExtendedLifetime(client) {}
  }

  /// The answer is shown after the data of the listen, which may be newer.
  @Test func `data that the service sends afterwards stays on the device`() async throws {
    let (stores, time) = (KeptStores(), SimulatedTime())
    let (client, backend) = await clientAfterLoss(stores, time, seen: Self.one, answer: .ok)
    time.advance(by: .seconds(60))
    let third = await backend.link(2)
    third.hello()
    await third.asked.wait { $0.contains(where: Self.isListen) }
    third.say(.data("room", Self.one.setting("b" as DatabasePath, to: DatabaseNode(.int(3))), tag: nil))
    await third.answer(.ok, Self.isListen)
    await rest(client)
    #expect(await client.repo.shown("room") == Self.one.setting("b" as DatabasePath, to: DatabaseNode(.int(3))))
    #expect(try await shownAfterRestart(stores).room == ["a": 1, "b": 3])
  }
}

extension Repo {
  /// The values of a path as its observers receive them.
  fileprivate func shown(_ path: DatabasePath) async -> DatabaseNode {
    await withCheckedContinuation { continuation in
      enqueue { repo in continuation.resume(returning: repo.tree.node(at: path) ?? .empty) }
    }
  }
}
