import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

/// The same work of a client whose connection is cut after each of its messages in turn.
@Suite(.timeLimit(.minutes(20)))
struct CutTests {
  @Test(arguments: 0..<60)
  func `wherever a connection is cut, every call ends once and both sides agree afterwards`(cut: Int) async {
    let time = SimulatedTime()
    let engine = DatabaseEngine(store: ModelStore())
    let network = SimulatedNetwork(engine)
    var environment = Repo.Environment(backend: network)
    environment.clock = time.clock
    environment.random = SplitMix.fractions(seed: 1)
    let client = World.client(environment)
    let outcome = Outcome()
    work(client, outcome)
    await settle(client, engine)
    var moved = 0
    var rest = 0
    while rest < 2 {
      var isMoving = false
      for link in network.open where link.hasMessages {
        isMoving = true
        // One message at a time, up and down in turn; the cut loses what is on its way.
        if moved == cut { link.cut() }
        if moved % 2 == 0 { link.deliverUp() } else { link.deliverDown() }
        moved += 1
        await settle(client, engine)
      }
      if isMoving { continue }
      rest += 1
      time.advance(by: .seconds(31))
      await settle(client, engine)
    }
    await check(client, engine, outcome, "cut \(cut) of \(moved)")
  }

  /// The messages that the client has received.
  private final class Outcome: Sendable {
    let ended = Log<String>()
    let value = Locked<DatabaseNode?>(nil)
    let isCommitted = Locked<Bool?>(nil)
  }

  private func work(_ client: Database, _ outcome: Outcome) {
    let root = client.reference()
    func told(_ name: String) -> @Sendable ((any Error)?, DatabaseReference) -> Void {
      { error, _ in outcome.ended.add("\(name) \(error == nil ? "done" : "failed")") }
    }
    _ = root.child("room").listen([.value], event: { event in outcome.value.withLock { $0 = event.node.node } }) { _ in
    }
    root.onDisconnectUpdateChildValues(["ends": ServerValue.increment(1)], withCompletionBlock: told("end"))
    root.child("room/a").setValue(1, withCompletionBlock: told("set"))
    root.updateChildValues(["room/b": 2, "room/c/d": 3], withCompletionBlock: told("update"))
    root.child("room/n").setValue(ServerValue.increment(1), withCompletionBlock: told("increment"))
    root.child("room/t").runTransactionBlock { data in
      data.value = (data.value as? Int ?? 0) + 1
      return .success(withValue: data)
    } andCompletionBlock: { error, isCommitted, _ in
      outcome.isCommitted.withLock { $0 = isCommitted }
      outcome.ended.add("transaction \(error == nil ? "done" : "failed")")
    }
    root.child("other").getData { error, _ in outcome.ended.add("get \(error == nil ? "done" : "failed")") }
  }

  private func settle(_ client: Database, _ engine: DatabaseEngine) async {
    for _ in 0..<3 {
      client.repo.queue.sync {}
      client.repo.events.drain()
      await engine.settle()
    }
  }

  private func check(_ client: Database, _ engine: DatabaseEngine, _ outcome: Outcome, _ label: String) async {
    let ended = outcome.ended.entries
    let names = ended.map { $0.split(separator: " ")[0] }.sorted()
    #expect(names == ["end", "get", "increment", "set", "transaction", "update"], "\(label): \(ended)")
    #expect(ended.contains("set done") && ended.contains("update done") && ended.contains("increment done"), "\(label)")
    var environment = Repo.Environment(backend: engine)
    environment.readTime = .seconds(3600)
    let reader = World.client(environment)
    func read() async -> DatabaseNode { (try? await reader.reference().getData())?.indexed.node ?? .empty }
    let truth = await read()
    let room = truth["room" as DatabaseKey]
    #expect(outcome.value.withLock { $0 } == room, "\(label): what the observer was shown")
    #expect(room["a" as DatabaseKey].leaf == .int(1) && room["b" as DatabaseKey].leaf == .int(2), "\(label)")
    #expect(room["c/d" as DatabasePath].leaf == .int(3), "\(label)")
    // A write is sent again when its answer was lost, a transaction is not.
    let sum = Int(room["n" as DatabaseKey].leaf?.number ?? 0)
    #expect((1...2).contains(sum), "\(label): \(sum)")
    let transacted = Int(room["t" as DatabaseKey].leaf?.number ?? 0)
    let isCommitted = outcome.isCommitted.withLock { $0 } == true
    #expect(isCommitted ? transacted == 1 : (0...1).contains(transacted), "\(label): \(transacted)")
    // The connection that accepted the operation was cut, or is the current one and ends now.
    client.goOffline()
    await settle(client, engine)
    let ends = Int((await read())["ends" as DatabaseKey].leaf?.number ?? 0)
    #expect(ended.contains("end done") ? ends == 1 : (0...1).contains(ends), "\(label): \(ends) ends")
  }
}
