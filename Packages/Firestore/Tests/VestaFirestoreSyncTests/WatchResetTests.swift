import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// Targets whose existence filter does not match, until they have been fetched again.
@Suite struct WatchResetTests {
  private let machine: ClientMachine
  private let all: Int32
  private let one: Int32

  /// A listener to the rooms from 7 on and one to a room of them; both are current, and then the stream breaks.
  init() throws {
    machine = ClientMachine(
      .init(database: database), local: LocalStore(database: database, user: "", policy: .eager))
    let rooms = try query("rooms", [.field(path: "n", .greaterThanOrEqual, .integer(7))])
    let options = ListenOptions(includesMetadata: true)
    all = try #require(machine.core.listen(rooms, options: options, listener: 1))
    let room = try LocalQuery(database: database, path: path("rooms/a"))
    one = try #require(machine.core.listen(room, options: options, listener: 2))
    machine.enableNetwork()
    machine.watch.opened(stream: 1)
    for id in [all, one] { receive(1, [add(id), change(n: 8, at: 9, id), current(id, at: 9)], at: 9) }
    machine.watch.closed(stream: 1, error: FirestoreServiceError(.unavailable, "broken"))
    machine.watch.opened(stream: 2)
    #expect(shown().last.map { [$0.documents.count, $0.isFromCache ? 1 : 0] } == [1, 0])
  }

  // MARK: Messages

  private func time(_ version: Int64) -> Timestamp { Timestamp(seconds: version) }
  private func token(_ version: Int64) -> [UInt8] { Array("\(version)".utf8) }

  private func add(_ id: Int32) -> ListenResponse { .targetChange(TargetChange(.add, targetIDs: [id])) }

  private func change(n: Int64, at version: Int64, _ id: Int32) -> ListenResponse {
    let name = ResourceName(database: database, path: path("rooms/a")).description
    let document = Document(name: name, fields: ["n": .integer(n)], createTime: time(1), updateTime: time(version))
    return .documentChange(DocumentChange(document: document, targetIDs: [id]))
  }

  private func current(_ id: Int32, at version: Int64) -> ListenResponse {
    .targetChange(TargetChange(.current, targetIDs: [id], resumeToken: token(version), readTime: time(version)))
  }

  /// Delivers messages and the global snapshot after them.
  private func receive(_ stream: Int, _ messages: [ListenResponse], at version: Int64) {
    for message in messages { machine.watch.received(stream: stream, message) }
    machine.watch.received(
      stream: stream, .targetChange(TargetChange(.noChange, resumeToken: token(version), readTime: time(version))))
  }

  /// The snapshots of the first listener since the last call.
  private func shown() -> [ViewSnapshot] {
    machine.takeActions().compactMap { if case .event(.snapshot(1, let snapshot)) = $0 { snapshot } else { nil } }
  }

  // MARK: Tests

  @Test(arguments: [false, true])
  func `results stay from the cache from a filter that does not match until they are fetched again`(
    isFilterFirst: Bool
  ) {
    let filter = ListenResponse.filter(ExistenceFilter(targetID: all, count: 5))
    let messages = isFilterFirst ? [filter, current(all, at: 10)] : [current(all, at: 10), filter]
    receive(2, [add(all)] + messages, at: 10)
    #expect(shown().map(\.isFromCache) == [true])
    // Another target says that the last result is no longer one: no document is left that could be in doubt.
    receive(2, [add(one), change(n: 3, at: 11, one), current(one, at: 11)], at: 11)
    let emptied = shown()
    #expect(emptied.map(\.documents.count) == [0])
    #expect(emptied.map(\.isFromCache) == [true])
    receive(2, [.targetChange(TargetChange(.remove, targetIDs: [all])), add(all)], at: 12)
    #expect(shown().isEmpty)
    receive(2, [current(all, at: 13)], at: 13)
    #expect(shown().map(\.isFromCache) == [false])
  }

  @Test func `a target that the backend refuses fails its listener alone`() {
    let cause = FirestoreServiceError(.permissionDenied, "no")
    machine.watch.received(stream: 2, .targetChange(TargetChange(.remove, targetIDs: [all], cause: cause)))
    var failed: [ListenerID] = []
    for case .event(.failure(let listener, let error)) in machine.takeActions() {
      #expect(error == cause)
      failed.append(listener)
    }
    #expect(failed == [1])
    #expect(machine.watch.targets.keys.sorted() == [one])
  }
}
