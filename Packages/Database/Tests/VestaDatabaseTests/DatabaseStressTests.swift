import Dispatch
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

@Suite(.timeLimit(.minutes(20)))
struct DatabaseStressTests {
  @Test func `everything at once from many threads`() async throws {
    let world = World()
    let clients = (0..<3).map { number in world.client(stores: number == 2 ? KeptStores() : nil) }
    clients[2].isPersistenceEnabled = true
    await withTaskGroup { group in
      for number in 0..<12 {
        let client = clients[number % clients.count]
        group.addTask {
          let reference = client.reference(withPath: "room/\(number % 4)")
          for step in 0..<25 {
            let handle = reference.observe(.value) { _ in }
            switch step % 5 {
            case 0: sync { reference.setValue(step) }
            case 1: sync { reference.child("x").updateChildValues(["a": step]) }
            case 2:
              _ = try? await reference.runTransactionBlock { data in
                data.value = step
                return .success(withValue: data)
              }
            case 3: _ = try? await reference.queryOrderedByKey().queryLimited(toLast: 1).getData()
            default:
              if number == 0 {
                client.goOffline()
                client.goOnline()
              }
              sync { _ = reference.childByAutoId().key }
            }
            reference.removeObserver(withHandle: handle)
          }
        }
      }
    }
    try await clients[0].reference(withPath: "done").setValue(true)
    #expect(try await clients[1].reference(withPath: "done").getData().value as? Bool == true)
  }

  @Test func `queries without an index show their window after a storm of writes, listens and reads`() async throws {
    let world = World()
    let clients = (0..<3).map { _ in world.client() }
    let list = clients[0].reference(withPath: "list")
    let shown = Log<[String]>()
    list.queryOrdered(byChild: "n").queryLimited(toFirst: 2).observe(.value) { snapshot in
      shown.add(snapshot.children.compactMap { ($0 as? DataSnapshot)?.key })
    }
    await withTaskGroup { group in
      for number in 0..<6 {
        let list = clients[number % clients.count].reference(withPath: "list")
        group.addTask {
          for step in 0..<20 {
            let child = list.child("k\(step % 4)")
            let handle = child.observe(.value) { _ in }
            _ = try? await child.setValue(step % 3 == 0 ? nil : ["n": (step + number) % 7])
            _ = try? await list.queryOrdered(byChild: "n").queryLimited(toLast: 1).getData()
            child.removeObserver(withHandle: handle)
          }
        }
      }
    }
    let last = clients[1].reference(withPath: "list")
    try await last.setValue(["a": ["n": 3], "b": ["n": 2], "c": ["n": 1]])
    await shown.wait { $0.last == ["c", "b"] }
    try await last.child("c").removeValue()
    await shown.wait { $0.last == ["b", "a"] }
  }

  @Test func `push ids of many threads are all different and grow within a thread`() async {
    let ids = Log<[String]>()
    let client = World().client()
    TestThreads.run(8) { _ in
      ids.add((0..<500).compactMap { _ in client.reference().childByAutoId().key })
    }
    let all = ids.entries
    #expect(Set(all.joined()).count == 4000)
    for own in all { #expect(own == own.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }) }
  }

  @Test func `connections that many threads drop end, each once`() async throws {
    let world = World()
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<25 {
            let answered = Gate()
            let connection = world.engine.connect(DatabaseConnectRequest(namespace: "test")) { message in
              if case .reply = message { answered.open() }
            }
            connection.send(.onDisconnectPut("ends", DatabaseNode(.incrementInt(1))), id: 1)
            await answered.wait()
            withExtendedLifetime(connection) {}
          }
        }
      }
    }
    await world.engine.settle()
    #expect(try await world.client().reference(withPath: "ends").getData().value as? Int == 200)
  }
}
