import Testing
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The events of values that a database records for functions.
@Suite(.timeLimit(.minutes(20)))
struct EventTests {
  private let engine = DatabaseEngine(store: ModelStore())

  private func subscribe(_ pattern: String, _ types: Set<EventType> = TreeEvents.types) throws {
    let pattern = try EventPattern(pattern)
    engine.events.subscribe([EventSubscription(function: "f", types: types, scope: "test", pattern: pattern)])
  }

  private struct Seen: Equatable, CustomStringConvertible {
    var type: EventType
    var path: String
    var before: DatabaseNode = .empty
    var after: DatabaseNode = .empty
    var description: String { "\(type) \(path) \(before) \(after)" }
  }

  /// The events that wait, the oldest first.
  private func events() async throws -> [Seen] {
    var seen: [Seen] = []
    for entry in try await engine.events.events(EventPageRequest(function: "f", limit: 100)).entries {
      guard let event = try await engine.events.event(entry) else { continue }
      #expect(event.scope == "test")
      seen.append(
        Seen(
          type: event.type, path: event.path, before: Self.node(event.data["before"]),
          after: Self.node(event.data["after"])))
    }
    return seen
  }

  private static func node(_ value: JSONValue?) -> DatabaseNode {
    switch value {
    case nil, .null: .empty
    case .bool(let value)?: DatabaseNode(.bool(value))
    case .integer(let value)?: DatabaseNode(.int(value))
    case .number(let value)?: DatabaseNode(.double(value))
    case .string(let value)?: DatabaseNode(.string(value))
    case .object(let object)?: DatabaseNode(children: object.members.map { (DatabaseKey($0.name), node($0.value)) })
    default: .empty
    }
  }

  @Test func `a reference that is created, changed and removed has an event of each, with its values`() async throws {
    try subscribe("rooms/{room}")
    let client = TestClient(engine)
    let hall = DatabaseNode(children: [("name", DatabaseNode(.string("Hall")))])
    let larger = hall.setting("size" as DatabaseKey, to: DatabaseNode(.int(4)))
    _ = await client.put("rooms/a", hall)
    _ = await client.put("rooms/a/size", DatabaseNode(.int(4)))
    _ = await client.put("other/a", hall)
    _ = await client.put("rooms/a", .empty)
    #expect(
      try await events() == [
        Seen(type: .valueCreated, path: "rooms/a", after: hall),
        Seen(type: .valueUpdated, path: "rooms/a", before: hall, after: larger),
        Seen(type: .valueDeleted, path: "rooms/a", before: larger),
      ])
  }

  @Test func `a write that changes nothing has no event`() async throws {
    try subscribe("rooms/{room}")
    let client = TestClient(engine)
    for _ in 0..<2 { _ = await client.put("rooms/a/n", DatabaseNode(.int(1))) }
    _ = await client.put("rooms/b", .empty)
    #expect(try await events().map(\.type) == [.valueCreated])
  }

  @Test func `a write whose context suppresses events has none, also one with a hash`() async throws {
    try subscribe("rooms/{room}")
    let silent = CallContext(caller: .owner, suppressesEvents: true)
    func write(_ change: DatabaseWriteRequest.Change, hash: String? = nil, _ context: CallContext) async throws {
      let request = DatabaseWriteRequest(namespace: "test", path: "rooms/a", change, hash: hash)
      _ = try await engine.write(request, context: context)
    }
    try await write(.put(DatabaseNode(.int(1))), hash: "", silent)
    try await write(.put(DatabaseNode(.int(2))), hash: NodeHash.hash(DatabaseNode(.int(1))), silent)
    try await write(.merge([DatabasePathValue("x", DatabaseNode(.int(3)))]), silent)
    try await engine.clear("test", context: silent)
    #expect(try await events().isEmpty)
    try await write(.put(DatabaseNode(.int(1))), .owner)
    #expect(try await events().map(\.type) == [.valueCreated])
  }

  @Test func `a write above references has an event of each that differs, in the order of their paths`() async throws {
    let client = TestClient(engine)
    func room(_ number: Int64) -> DatabaseNode { DatabaseNode(children: [("n", DatabaseNode(.int(number)))]) }
    _ = await client.put("rooms", DatabaseNode(children: [("a", room(1)), ("b", room(2)), ("c", room(3))]))
    try subscribe("rooms/{room}")
    _ = await client.put("rooms", DatabaseNode(children: [("b", room(2)), ("c", room(4)), ("d", room(5))]))
    #expect(
      try await events() == [
        Seen(type: .valueDeleted, path: "rooms/a", before: room(1)),
        Seen(type: .valueUpdated, path: "rooms/c", before: room(3), after: room(4)),
        Seen(type: .valueCreated, path: "rooms/d", after: room(5)),
      ])
  }

  @Test func `a function gets the types only that it wants`() async throws {
    try subscribe("rooms/{room}", [.valueDeleted])
    let client = TestClient(engine)
    _ = await client.put("rooms/a", DatabaseNode(.int(1)))
    _ = await client.put("rooms/a", DatabaseNode(.int(2)))
    _ = await client.put("rooms/a", .empty)
    #expect(try await events().map(\.type) == [.valueDeleted])
  }

  @Test func `a write with a hash at a place of very many rows has the events of the references that differ`()
    async throws
  {
    let client = TestClient(engine)
    let rooms = DatabaseNode(
      children: (0..<(DatabaseServiceTuning().hashCheckRows + 5)).map {
        (DatabaseKey("r\($0)"), DatabaseNode(.int(Int64($0))))
      })
    _ = await client.put("rooms", rooms)
    try subscribe("rooms/{room}")
    let next = rooms.setting("r7" as DatabaseKey, to: DatabaseNode(.int(-1))).setting("r8" as DatabaseKey, to: .empty)
    #expect(await client.put("rooms", next, hash: NodeHash.hash(rooms)).status == .ok)
    #expect(
      try await events() == [
        Seen(type: .valueUpdated, path: "rooms/r7", before: DatabaseNode(.int(7)), after: DatabaseNode(.int(-1))),
        Seen(type: .valueDeleted, path: "rooms/r8", before: DatabaseNode(.int(8))),
      ])
  }

  @Test func `what is too large for an event is left out, the value before first`() {
    func limited(_ before: Int?, _ after: Int?) -> [Int?] {
      var nodes = ChangedNodes(
        before: before.map { Array(repeating: 1, count: $0) }, after: after.map { Array(repeating: 1, count: $0) })
      nodes.limit(to: 10)
      return [nodes.before?.count, nodes.after?.count]
    }
    #expect(limited(4, 6) == [4, 6])
    #expect(limited(5, 6) == [0, 6])
    #expect(limited(5, 11) == [0, 0])
    #expect(limited(nil, 10) == [nil, 10])
    #expect(limited(nil, 11) == [nil, 0])
    #expect(limited(10, nil) == [10, nil])
    #expect(limited(11, nil) == [0, nil])
  }
}
