import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

/// Queries with a limit together with other listeners of the same client, and listeners concurrent with slow writes.
@Suite(.timeLimit(.minutes(20)))
struct WindowTests {
  private let gates: StoreGates
  private let world: World

  init() {
    let store = HookedStore()
    (gates, world) = (StoreGates(in: store), World(store: store))
  }

  private static func keys(_ snapshot: DataSnapshot) -> [String] {
    snapshot.children.compactMap { ($0 as? DataSnapshot)?.key }
  }

  /// Observes the first two children by value, and says when it shows what it should.
  private func observe(_ list: DatabaseReference) -> Log<[String]> {
    let log = Log<[String]>()
    list.queryOrderedByValue().queryLimited(toFirst: 2).observe(.value) { log.add(Self.keys($0)) }
    return log
  }

  @Test func `a child that another listener receives first pushes no other out of a query for good`() async throws {
    let client = world.client(), writer = world.client()
    let list = client.reference(withPath: "list")
    try await writer.reference(withPath: "list").setValue(["a": 10, "b": 20, "c": 30])
    let log = observe(list)
    await log.wait { $0.last == ["a", "b"] }
    let others = Log<String>()
    for key in ["a", "k"] { list.child(key).observe(.value) { others.add("\($0.key) \($0.value ?? "-")") } }
    await others.wait { $0.count == 2 }
    try await writer.reference(withPath: "list").updateChildValues(["a": NSNull(), "k": 5])
    await others.wait { $0.count == 4 }
    await world.settle(client)
    client.repo.events.drain()
    #expect(log.entries.last == ["k", "b"], "\(log.entries)")
  }

  @Test func `a child that enters and leaves in one commit pushes no other out of a query for good`() async throws {
    let client = world.client()
    let list = client.reference(withPath: "list")
    try await world.client().reference(withPath: "list").setValue(["a": 10, "b": 20])
    let log = observe(list)
    await log.wait { $0.last == ["a", "b"] }
    let others = Log<String>()
    list.child("k").observe(.value) { others.add("\($0.value ?? "-")") }
    await others.wait { $0.count == 1 }
    // The three writes wait together for the store, the last two share a commit.
    let raw = RawClient(world.engine)
    let before = gates.held.entries.count
    gates.writes.close()
    let first = raw.send(.put("other", DatabaseNode(.int(1)), hash: nil))
    await gates.held.wait { $0.count > before }
    _ = raw.send(.put("list/k", DatabaseNode(.int(5)), hash: nil))
    let last = raw.send(.put("list/k", .empty, hash: nil))
    gates.writes.open()
    await raw.replied(first)
    await raw.replied(last)
    await world.settle(client)
    client.repo.events.drain()
    #expect(others.entries.count == 3, "both writes are heard of: \(others.entries)")
    #expect(log.entries.last == ["a", "b"], "\(log.entries)")
  }

  @Test func `old data of a child that arrives after a newer window leaves the window whole`() async throws {
    let client = world.client()
    let list = client.reference(withPath: "list")
    let writer = RawClient(world.engine)
    await writer.call(.put("list", Self.numbers(["a": 10, "b": 20, "k": 5]), hash: nil))
    let log = observe(list)
    await log.wait { $0.last == ["k", "a"] }
    await world.settle(client)
    // The child is read first, and its data arrives last.
    let (child, query) = (Gate(), Gate())
    gates.reads.withLock { $0 = [child, query] }
    let others = Log<Bool>()
    let before = gates.held.entries.count
    list.child("k").observe(.value) { others.add($0.exists()) }
    await gates.held.wait { $0.count > before }
    await writer.call(.put("list/k", .empty, hash: nil))
    query.open()
    await log.wait { $0.last == ["a", "b"] }
    child.open()
    await world.settle(client)
    client.repo.events.drain()
    #expect(others.entries.last == false, "\(others.entries)")
    #expect(log.entries.last == ["a", "b"], "\(log.entries)")
  }

  @Test func `a listen that commits have overtaken is sent the newest data at once, and takes no child from a query`()
    async throws
  {
    let client = world.client()
    let rooms = client.reference(withPath: "rooms"), writer = RawClient(world.engine)
    await writer.call(.put("rooms/a/visits", DatabaseNode(.int(1)), hash: nil))
    let log = Log<[String]>(), others = Log<Int?>()
    rooms.queryLimited(toLast: 10).observe(.value) { log.add(Self.keys($0)) }
    await log.wait { $0.last == ["a"] }
    await world.settle(client)
    let gate = Gate()
    gates.reads.withLock { $0 = [gate] }
    let before = gates.held.entries.count
    rooms.child("b/visits").observe(.value) { others.add($0.value as? Int) }
    await gates.held.wait { $0.count > before }
    await writer.call(.put("rooms/b/visits", DatabaseNode(.int(1)), hash: nil))
    await log.wait { $0.last == ["a", "b"] }
    gate.open()
    await world.settle(client)
    client.repo.events.drain()
    #expect(others.entries == [1])
    #expect(log.entries == [["a"], ["a", "b"]], "\(log.entries)")
  }

  private static func numbers(_ values: [String: Int64]) -> DatabaseNode {
    DatabaseNode(children: values.map { (DatabaseKey($0.key), DatabaseNode(.int($0.value))) })
  }

  @Test func `listeners and reads of other clients continue while a slow multi-path update is being stored`()
    async throws
  {
    let client = world.client(), other = world.client()
    try await client.reference(withPath: "a").setValue(1)
    _ = try await other.reference(withPath: "a").getData()
    let own = Log<Int>()
    client.reference(withPath: "slow").observe(.value) { own.add(Int($0.childrenCount)) }
    await own.wait { $0 == [0] }
    let before = gates.held.entries.count
    gates.writes.close()
    var values: [String: Any] = [:]
    for number in 0..<500 { values["slow/\(number)"] = number }
    let update = Task { [values] in try await client.reference().updateChildValues(values) }
    await gates.held.wait { $0.count > before }
    // The client's own listener has seen the update, the listeners of others receive the current data.
    await own.wait { $0.last == 500 }
    let seen = Log<Int>()
    other.reference(withPath: "a").observe(.value) { if let value = $0.value as? Int { seen.add(value) } }
    await seen.wait { $0 == [1] }
    #expect(try await other.reference(withPath: "b").getData().exists() == false)
    let late = Log<Int>()
    other.reference(withPath: "slow").observe(.value) { late.add(Int($0.childrenCount)) }
    await late.wait { $0 == [0] }
    gates.writes.open()
    _ = try await update.value
    await late.wait { $0.last == 500 }
  }
}

/// A connection to an engine without a client.
final class RawClient: Sendable {
  private let replies = Log<Int>()
  private let state = Locked((next: 0, connection: (any DatabaseConnection)?.none))

  init(_ engine: DatabaseEngine) {
    let replies = replies
    let connection = engine.connect(DatabaseConnectRequest(namespace: "test")) { message in
      if case .reply(let id, _) = message { replies.add(id) }
    }
    state.withLock { $0.connection = connection }
  }

  func send(_ request: DatabaseRequest) -> Int {
    let (id, connection) = state.withLock { state in
      state.next += 1
      return (state.next, state.connection)
    }
    connection?.send(request, id: id)
    return id
  }

  func replied(_ id: Int) async { await replies.wait { $0.contains(id) } }
  func call(_ request: DatabaseRequest) async { await replied(send(request)) }
}
