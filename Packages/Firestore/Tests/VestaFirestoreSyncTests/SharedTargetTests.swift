import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// Two queries with one target: the first results in one order, and the last ones in the opposite order.
@Suite struct SharedTargetTests {
  private let machine = ClientMachine(
    ClientMachine.Configuration(database: database),
    local: LocalStore(database: database, user: "", policy: .eager))
  private let first: LocalQuery
  private let last: LocalQuery
  private let shared: Int32

  /// A listener to all rooms, of which `a` and `b` are known, and one to the first two, which has `b` alone: `a` is in
  /// limbo there.
  init() throws {
    let (up, down) = (
      NormalQuery.Order(FieldPath(["n"])), NormalQuery.Order(FieldPath(["n"]), descending: true)
    )
    first = try LocalQuery(database: database, path: path("rooms"), orders: [up], limit: 2)
    last = try LocalQuery(database: database, path: path("rooms"), orders: [down], limit: 2, limitType: .last)
    machine.enableNetwork()
    let all = try #require(machine.core.listen(try query("rooms"), options: ListenOptions(), listener: 1))
    shared = try #require(machine.core.listen(first, options: ListenOptions(), listener: 2))
    machine.watch.opened(stream: 1)
    receive([room("a", [all]), room("b", [all])], current: all, at: 9)
    receive([room("b", [shared])], current: shared, at: 10)
    #expect(machine.core.limbo.active.keys.map(\.lastSegment) == ["a"])
  }

  private func room(_ id: String, _ targets: [Int32]) -> ListenResponse {
    let name = ResourceName(database: database, path: path("rooms/\(id)")).description
    let time = Timestamp(seconds: 5)
    let document = Document(name: name, fields: ["n": .integer(1)], createTime: time, updateTime: time)
    return .documentChange(DocumentChange(document: document, targetIDs: targets))
  }

  private func receive(_ messages: [ListenResponse], current id: Int32, at version: Int64) {
    let (token, time) = (Array("\(version)".utf8), Timestamp(seconds: version))
    let all: [ListenResponse] =
      [.targetChange(TargetChange(.add, targetIDs: [id]))] + messages + [
        .targetChange(TargetChange(.current, targetIDs: [id], resumeToken: token, readTime: time)),
        .targetChange(TargetChange(.noChange, resumeToken: token, readTime: time)),
      ]
    for message in all { machine.watch.received(stream: 1, message) }
  }

  /// The answer to the request for the document in limbo: it does not exist.
  private func resolve() throws {
    let id = try #require(machine.core.limbo.active.values.first)
    receive([], current: id, at: 11)
  }

  private var isFromCache: Bool? {
    machine.takeActions().compactMap { action -> ViewSnapshot? in
      if case .event(.snapshot(3, let snapshot)) = action { snapshot } else { nil }
    }.last?.isFromCache
  }

  @Test func `a document in limbo is resolved for the query that stays`() throws {
    #expect(machine.core.listen(last, options: ListenOptions(), listener: 3) == shared)
    machine.core.unlisten(2)
    #expect(machine.core.limbo.active.count == 1)
    try resolve()
    #expect(machine.core.limbo.active.isEmpty && machine.core.limbo.waiting.isEmpty)
    #expect(isFromCache == false)
  }

  @Test func `nothing is in limbo for a query that has left`() throws {
    machine.core.listen(last, options: ListenOptions(), listener: 3)
    machine.core.unlisten(3)
    #expect(machine.core.limbo.active.count == 1)
    machine.core.unlisten(2)
    #expect(machine.core.limbo.active.isEmpty && machine.watch.targets.count == 1)
  }
}
