import Foundation
import Testing
import VestaDatabaseBackend
import VestaTesting

@testable import VestaDatabase

@Suite(.timeLimit(.minutes(20)))
struct ClientTests {
  private let world = World()

  @Test func `a value that was set is read by another client`() async throws {
    let writer = world.client().reference(withPath: "rooms/hall")
    try await writer.setValue(["name": "Hall", "size": 40, "open": true])
    let snapshot = try await world.client().reference(withPath: "rooms").getData()
    #expect(snapshot.childSnapshot(forPath: "hall/size").value as? Int == 40)
    #expect(snapshot.childSnapshot(forPath: "hall/open").value as? Bool == true)
    #expect((snapshot.value as? [String: Any])?.count == 1)
    #expect(snapshot.key == "rooms" && snapshot.hasChild("hall/name") && snapshot.childrenCount == 1)
  }

  @Test func `an observer is notified of a write at once and of writes of other clients`() async throws {
    let client = world.client()
    let reference = client.reference(withPath: "n")
    let log = Log<Int>()
    reference.observe(.value) { if let value = $0.value as? Int { log.add(value) } }
    try await reference.setValue(1)
    try await world.client().reference(withPath: "n").setValue(2)
    await log.wait { $0.last == 2 }
    #expect(log.entries == [1, 2])
  }

  @Test func `child events carry the key of the sibling before`() async throws {
    let reference = world.client().reference(withPath: "list")
    let log = Log<String>()
    reference.observe(.childAdded, andPreviousSiblingKeyWith: { log.add("+\($0.key) after \($1 ?? "-")") })
    reference.observe(.childMoved, andPreviousSiblingKeyWith: { log.add("~\($0.key) after \($1 ?? "-")") })
    reference.observe(.childRemoved) { log.add("-\($0.key)") }
    try await reference.child("a").setValue(1, andPriority: 1)
    try await reference.child("b").setValue(2, andPriority: 2)
    try await reference.child("a").setPriority(3)
    try await reference.child("b").removeValue()
    await log.wait { $0.count == 4 }
    #expect(log.entries == ["+a after -", "+b after a", "~a after b", "-b"])
  }

  @Test func `queries show the children that they ask for`() async throws {
    let reference = world.client().reference(withPath: "scores")
    try await reference.setValue(["a": 3, "b": 1, "c": 2, "d": 2])
    func keys(_ query: DatabaseQuery) async throws -> [String] {
      try await query.getData().children.compactMap { ($0 as? DataSnapshot)?.key }
    }
    #expect(try await keys(reference.queryOrderedByValue()) == ["b", "c", "d", "a"])
    #expect(try await keys(reference.queryOrderedByValue().queryLimited(toLast: 2)) == ["d", "a"])
    #expect(try await keys(reference.queryOrderedByValue().queryStarting(afterValue: 2)) == ["a"])
    #expect(try await keys(reference.queryOrderedByValue().queryStarting(afterValue: 2, childKey: "c")) == ["d", "a"])
    #expect(try await keys(reference.queryOrderedByValue().queryEqual(toValue: 2)) == ["c", "d"])
    #expect(try await keys(reference.queryOrderedByKey().queryEnding(beforeValue: "c")) == ["a", "b"])
    #expect(try await keys(reference.queryOrderedByKey().queryStarting(atValue: "c")) == ["c", "d"])
  }

  @Test func `ends by key leave out their key alone, also among integers that are written alike`() async throws {
    let reference = world.client().reference(withPath: "numbers")
    try await reference.setValue(["1": "a", "01": "b", "2": "c", "02": "d", "a": "e"])
    func keys(_ query: DatabaseQuery) async throws -> [String] {
      try await query.getData().children.compactMap { ($0 as? DataSnapshot)?.key }
    }
    let byKey = reference.queryOrderedByKey()
    #expect(try await keys(byKey) == ["1", "01", "2", "02", "a"])
    #expect(try await keys(byKey.queryEnding(beforeValue: "2")) == ["1", "01"])
    #expect(try await keys(byKey.queryStarting(afterValue: "1")) == ["01", "2", "02", "a"])
    #expect(try await keys(byKey.queryStarting(afterValue: "01").queryEnding(beforeValue: "02")) == ["2"])
  }

  @Test func `a transaction runs again until its data is current`() async throws {
    // An attempt fails where another client was quicker, and 25 attempts are made: so two others commit 20 times.
    let clients = (0..<3).map { _ in world.client().reference(withPath: "count") }
    try await withThrowingTaskGroup { group in
      for client in clients {
        group.addTask {
          for _ in 0..<10 {
            let (isCommitted, _) = try await client.runTransactionBlock { data in
              data.value = (data.value as? Int ?? 0) + 1
              return .success(withValue: data)
            }
            #expect(isCommitted)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await clients[0].getData().value as? Int == 30)
  }

  @Test func `an aborted transaction writes nothing`() async throws {
    let reference = world.client().reference(withPath: "x")
    try await reference.setValue(7)
    let (isCommitted, snapshot) = try await reference.runTransactionBlock { _ in .abort() }
    #expect(!isCommitted && !snapshot.exists())
    #expect(try await reference.getData().value as? Int == 7)
  }

  @Test func `multi-path updates are applied as one`() async throws {
    let reference = world.client().reference()
    try await reference.updateChildValues(["a/b": 1, "c": ["d": 2], "e/.priority": 1])
    #expect(try await reference.getData().value as? [String: [String: Int]] == ["a": ["b": 1], "c": ["d": 2]])
    await #expect(throws: DatabaseError.self) { try await reference.updateChildValues(["a": 1, "a/b": 2]) }
    await #expect(throws: DatabaseError.self) { try await reference.updateChildValues(["a.b": 1]) }
  }

  @Test func `server values are filled in by the service`() async throws {
    let reference = world.client().reference(withPath: "s")
    try await reference.setValue(["n": 1])
    try await reference.updateChildValues(["n": ServerValue.increment(2), "t": ServerValue.timestamp()])
    let snapshot = try await reference.getData()
    #expect(snapshot.childSnapshot(forPath: "n").value as? Int == 3)
    #expect((snapshot.childSnapshot(forPath: "t").value as? Int ?? 0) > 1_600_000_000_000)
  }

  @Test func `what is asked for the end of a connection is written when it ends`() async throws {
    let client = world.client()
    let reference = client.reference(withPath: "online")
    try await reference.setValue(true)
    try await reference.onDisconnectSetValue(false)
    client.goOffline()
    await world.settle(client)
    #expect(try await world.client().reference(withPath: "online").getData().value as? Bool == false)
    client.goOnline()
    #expect(try await reference.getData().value as? Bool == false)
  }

  @Test func `the state of the connection can be observed`() async throws {
    let client = world.client()
    let log = Log<Bool>()
    client.reference(withPath: ".info/connected").observe(.value) {
      if let value = $0.value as? Bool { log.add(value) }
    }
    await log.wait { $0.last == true }
    client.goOffline()
    await log.wait { $0.last == false && $0.count > 1 }
    #expect(log.entries.suffix(2) == [true, false])
  }

  @Test func `a write without a connection shows at once and is sent later`() async throws {
    let client = world.client()
    client.goOffline()
    let reference = client.reference(withPath: "later")
    let log = Log<Int>()
    reference.observe(.value) { if let value = $0.value as? Int { log.add(value) } }
    sync { reference.setValue(5) }
    await log.wait { $0 == [5] }
    client.goOnline()
    try await reference.child("x").removeValue()
    #expect(try await world.client().reference(withPath: "later").getData().value as? Int == 5)
  }

  @Test func `wrong use fails with Firebase's sentence and writes nothing`() async throws {
    let root = world.client().reference()
    func text(_ body: () async throws -> Void) async -> String? {
      do {
        try await body()
        return nil
      } catch { return "\(error)" }
    }
    #expect(
      await text { try await root.child("a.b").setValue(1) }
        == "(child:) Must be a non-empty string and not contain '.' '#' '$' '[' or ']'")
    #expect(
      await text { try await root.child(".info/x").setValue(1) }
        == "(setValue:) failed to path /.info/x: Can't modify data under .info")
    #expect(await text { try await root.setValue(["k": Double.nan]) } == "(setValue:) Cannot store NaN at path: k.")
    #expect(await text { _ = try await root.queryLimited(toFirst: 0).getData() } == "Limit can't be zero")
    #expect(
      await text { _ = try await root.queryOrderedByKey().queryOrderedByValue().getData() }
        == "Cannot use multiple queryOrderedBy calls!")
    #expect(try await root.getData().exists() == false)
  }

  @Test func `streams give values and child events, and end with their task`() async throws {
    let client = world.client()
    let reference = client.reference(withPath: "stream")
    try await reference.setValue(["a": 1])
    var values = reference.value.makeAsyncIterator()
    #expect(try await values.next()?.value as? [String: Int] == ["a": 1])
    var events = reference.events().makeAsyncIterator()
    guard case .childAdded(let snapshot, let previous)? = try await events.next() else {
      Issue.record("no event")
      return
    }
    #expect(snapshot.key == "a" && previous == nil)
    sync { reference.child("b").setValue(2) }
    guard case .childAdded(let second, "a")? = try await events.next() else {
      Issue.record("no second event")
      return
    }
    #expect(second.key == "b")
  }

  @Test func `writes that wait survive a restart of the client`() async throws {
    let stores = KeptStores()
    let client = world.client(stores: stores)
    client.isPersistenceEnabled = true
    client.goOffline()
    sync { client.reference(withPath: "kept").setValue(["a": 1]) }
    await client.shutDown()
    let next = world.client(stores: stores)
    next.isPersistenceEnabled = true
    #expect(try await next.reference(withPath: "kept").getData().value as? [String: Int] == ["a": 1])
    try await next.reference(withPath: "other").setValue(1)
    #expect(try await world.client().reference(withPath: "kept").getData().value as? [String: Int] == ["a": 1])
  }

  @Test func `kept data is shown without a connection after a restart`() async throws {
    let stores = KeptStores()
    try await world.client().reference(withPath: "kept/b").setValue(2)
    let client = world.client(stores: stores)
    client.isPersistenceEnabled = true
    let first = Log<Int>()
    client.reference(withPath: "kept").observe(.value) { first.add($0.childrenCount == 1 ? 1 : 0) }
    await first.wait { $0.contains(1) }
    await client.shutDown()
    let next = world.client(stores: stores)
    next.isPersistenceEnabled = true
    next.goOffline()
    let (snapshot, _) = await next.reference(withPath: "kept").observeSingleEventAndPreviousSiblingKey(of: .value)
    #expect(snapshot.value as? [String: Int] == ["b": 2])
  }

  @Test func `purging takes writes back and calls their completions with an error`() async throws {
    let client = world.client()
    client.goOffline()
    let errors = Log<String>()
    client.reference(withPath: "p").setValue(1, withCompletionBlock: { error, _ in errors.add("\(error as Any)") })
    client.purgeOutstandingWrites()
    await errors.wait { $0.count == 1 }
    #expect(errors.entries[0].contains("Write cancelled by user"))
  }

  @Test func `Codable values are written and read`() async throws {
    struct Room: Codable, Equatable {
      var name: String
      var size: Int
      var tags: [String]
      var note: String?
    }
    let reference = world.client().reference(withPath: "room")
    let room = Room(name: "Hall", size: 4, tags: ["a", "b"])
    try reference.setValue(from: room)
    #expect(try await reference.getData().data(as: Room.self) == room)
  }
}
