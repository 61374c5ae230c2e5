import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInteropFakes

@testable import VestaDatabase
@testable import VestaDatabaseService

/// The same work of a client over the wire, whose first connection is cut after each number of bytes in turn.
@Suite(.timeLimit(.minutes(20))) struct WireCutTests {
  /// The answers to the client.
  private final class Outcome: Sendable {
    let ended = Log<String>()
    let value = Log<DatabaseNode>()
    let isCommitted = Locked<Bool?>(nil)
  }

  @Test(arguments: 0..<8)
  func `wherever the wire is cut, no write is lost, and what is done twice shows in increments alone`(
    part: Int
  ) async {
    for offset in stride(from: part * 9, through: 1_900, by: 72) {
      for isOfServer in [false, true] { await run(cutAfter: offset, isOfServer: isOfServer) }
    }
  }

  private func run(cutAfter offset: Int, isOfServer: Bool) async {
    let label = "cut after \(offset) bytes of the \(isOfServer ? "server" : "client")"
    let engine = DatabaseEngine(store: ModelStore())
    let remote = World.remote(to: engine) { handler in
      ScriptedNetwork(to: handler, seed: UInt64(offset)) { number in
        let lossy = ScriptedPipe.Conditions(largestPiece: 40, cutAfter: offset)
        if number > 0 { return .init() }
        return isOfServer ? .init(fromServer: lossy) : .init(fromClient: lossy)
      }
    }
    var environment = Repo.Environment(backend: remote)
    environment.random = SplitMix.fractions(seed: 1)
    environment.readTime = .seconds(3_600)
    environment.tuning.openingTime = .seconds(3_600)
    environment.tuning.firstReconnectDelay = 0.001
    environment.tuning.longestReconnectDelay = 0.001
    let client = World.client(environment)
    let outcome = Outcome()
    work(client, outcome)
    await outcome.ended.wait { $0.count >= 7 }
    await check(client, engine, outcome, label)
    client.goOffline()
  }

  private func work(_ client: Database, _ outcome: Outcome) {
    let root = client.reference()
    func told(_ name: String) -> @Sendable ((any Error)?, DatabaseReference) -> Void {
      { error, _ in outcome.ended.add("\(name) \(error == nil ? "done" : "failed")") }
    }
    _ = root.child("room").listen([.value], event: { event in outcome.value.add(event.node.node) }) { _ in }
    root.onDisconnectUpdateChildValues(["ends": ServerValue.increment(1)], withCompletionBlock: told("end"))
    root.child("room/a").setValue(["text": "äöü😀", "n": 1], withCompletionBlock: told("set"))
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
    root.child("room/last").setValue(9, andPriority: 4, withCompletionBlock: told("last"))
  }

  private func check(
    _ client: Database, _ engine: DatabaseEngine, _ outcome: Outcome, _ label: String
  ) async {
    let ended = outcome.ended.entries
    let names = ended.map { $0.split(separator: " ")[0] }.sorted()
    #expect(names == ["end", "get", "increment", "last", "set", "transaction", "update"], "\(label): \(ended)")
    for name in ["set", "update", "increment", "last", "get"] {
      #expect(ended.contains("\(name) done"), "\(label): \(ended)")
    }
    await engine.settle()
    let read = DatabaseReadRequest(namespace: "test", path: .root)
    guard let truth = try? await engine.read(read, context: .owner).node else {
      Issue.record("\(label): nothing can be read")
      return
    }
    let room = truth["room" as DatabaseKey]
    await outcome.value.wait { $0.last == room }
    #expect(room["a/text" as DatabasePath].leaf == .string("äöü😀"), "\(label)")
    #expect(room["a/n" as DatabasePath].leaf == .int(1) && room["b" as DatabaseKey].leaf == .int(2), "\(label)")
    #expect(room["c/d" as DatabasePath].leaf == .int(3), "\(label)")
    #expect(room["last" as DatabaseKey] == DatabaseNode(.int(9), priority: .int(4)), "\(label)")
    let transacted = Int(room["t" as DatabaseKey].leaf?.number ?? 0)
    let isCommitted = outcome.isCommitted.withLock { $0 } == true
    #expect(isCommitted ? transacted == 1 : (0...1).contains(transacted), "\(label): \(transacted)")
    let ends = Int(truth["ends" as DatabaseKey].leaf?.number ?? 0)
    #expect((0...1).contains(ends), "\(label): \(ends) ends")
    let sum = Int(room["n" as DatabaseKey].leaf?.number ?? 0)
    // Upstream's bargain: a write whose answer was lost is sent again.
    #expect((1...2).contains(sum), "\(label): \(sum)")
  }
}
