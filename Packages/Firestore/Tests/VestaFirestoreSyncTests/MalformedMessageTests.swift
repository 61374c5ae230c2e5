import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// A backend that sends what cannot be understood.
@Suite struct MalformedMessageTests {
  private static let root = database.documentsPrefix
  private static let time = Timestamp(seconds: 6)
  private static let room = Document(name: root + "rooms/a", fields: [:], updateTime: Timestamp(seconds: 5))

  private static func change(_ document: Document) -> ListenResponse {
    .documentChange(DocumentChange(document: document, targetIDs: [2]))
  }

  private static func named(_ name: String) -> ListenResponse {
    change(Document(name: name, fields: [:], updateTime: time))
  }

  private static let messages: [(what: String, response: ListenResponse)] = [
    ("the name of a collection", named(root + "rooms")),
    ("no full name", named("rooms/b")),
    ("a document of another database", named("projects/demo/databases/other/documents/rooms/b")),
    ("no version", change(Document(name: root + "rooms/b", fields: [:]))),
    (
      "the deletion of a collection",
      .documentDelete(DocumentDelete(document: root + "rooms", removedTargetIDs: [2], readTime: time))
    ),
    (
      "the removal of a collection",
      .documentRemove(DocumentRemove(document: root + "rooms", removedTargetIDs: [2], readTime: time))
    ),
    ("a negative number", .filter(ExistenceFilter(targetID: 2, count: -1))),
  ]

  private let machine: ClientMachine

  init() throws {
    machine = ClientMachine(
      .init(database: database), local: LocalStore(database: database, user: "", policy: .eager))
    machine.enableNetwork()
    machine.core.listen(try query("rooms"), options: ListenOptions(includesMetadata: true), listener: 1)
    machine.watch.opened(stream: 1)
  }

  private func receive(_ responses: [ListenResponse], stream: Int = 1) {
    for response in responses { machine.watch.received(stream: stream, response) }
  }

  private let acknowledged = ListenResponse.targetChange(TargetChange(.add, targetIDs: [2]))

  /// The message that makes a snapshot of those before it.
  private func snapshot(at seconds: Int64) -> [ListenResponse] {
    let time = Timestamp(seconds: seconds)
    return [
      .targetChange(TargetChange(.current, targetIDs: [2], resumeToken: [1], readTime: time)),
      .targetChange(TargetChange(.noChange, resumeToken: [1], readTime: time)),
    ]
  }

  @Test(arguments: messages.indices)
  func `a message that cannot be understood closes the stream, and nothing of its snapshot is used`(number: Int) {
    let message = Self.messages[number]
    receive([acknowledged, Self.change(Self.room)])
    _ = machine.takeActions()
    receive([message.response] + snapshot(at: 9))
    let actions = machine.takeActions()
    #expect(actions.contains { if case .closeWatch(stream: 1) = $0 { true } else { false } }, "\(message.what)")
    #expect(
      actions.contains { if case .warnMalformed(let error) = $0 { error.code == .dataLoss } else { false } },
      "\(message.what)")
    // The listener receives none of the documents; the first failure of a client that was online is not reported.
    #expect(machine.watch.onlineState == .unknown)
    #expect(actions.snapshots.isEmpty, "\(message.what)")
    #expect(machine.local.lastRemoteSnapshotVersion == .zero)
    #expect(!machine.local.shown.document(path("rooms/a")).isValid)
  }

  @Test func `a document of version zero is a document, and only one without a version is malformed`() {
    let document = Document(name: Self.root + "rooms/a", fields: [:], updateTime: .zero)
    receive([acknowledged, Self.change(document)] + snapshot(at: 9))
    #expect(machine.takeActions().snapshots.last?.ids == ["a"])
  }

  @Test func `after a malformed message the stream opens again, not at once, and continues`() {
    receive([acknowledged, Self.named("rooms/b")])
    // The next attempt waits for the longest time: the message will be the same.
    let waits = machine.takeActions().compactMap { action -> Double? in
      if case .startTimer(.watchBackoff, let seconds) = action { seconds } else { nil }
    }
    #expect(waits == [60])
    // The end of the closed call is not another failure.
    machine.watch.closed(stream: 1, error: FirestoreServiceError(.unavailable, "ended"))
    #expect(machine.takeActions().isEmpty)
    machine.timerFired(.watchBackoff)
    machine.watch.opened(stream: 2)
    receive([acknowledged, Self.change(Self.room)] + snapshot(at: 9), stream: 2)
    #expect(machine.takeActions().snapshots.last?.ids == ["a"])
    #expect(machine.watch.onlineState == .online)
  }
}

extension [ClientAction] {
  fileprivate var snapshots: [ViewSnapshot] {
    compactMap { action in
      if case .event(.snapshot(_, let snapshot)) = action { snapshot } else { nil }
    }
  }
}
