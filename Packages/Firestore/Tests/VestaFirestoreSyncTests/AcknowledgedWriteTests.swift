import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// Writes that are acknowledged together, before the watch stream has sent the snapshots of their versions one by one.
@Suite struct AcknowledgedWriteTests {
  private let machine: ClientMachine
  private var snapshots: [ViewSnapshot] = []
  private var listener = 0

  init() {
    machine = ClientMachine(
      ClientMachine.Configuration(database: database), local: LocalStore(database: database, user: "", policy: .eager))
    machine.enableNetwork()
  }

  private mutating func perform() {
    for action in machine.takeActions() {
      if case .event(.snapshot(_, let snapshot)) = action { snapshots.append(snapshot) }
    }
  }

  private func write(_ mutation: Mutation) { machine.core.write([mutation], at: Timestamp(seconds: 1), callback: nil) }

  /// Acknowledges the writes of all versions, each a write, in one response of the stream.
  private mutating func acknowledge(_ versions: ClosedRange<Int64>) {
    machine.writes.opened(stream: 1)
    machine.writes.received(stream: 1, WriteResponse(streamID: "s", streamToken: [1]))
    for version in versions {
      let time = Timestamp(seconds: version)
      machine.writes.received(
        stream: 1,
        WriteResponse(streamToken: [2], writeResults: [WriteResult(updateTime: time)], commitTime: time))
    }
    perform()
  }

  /// Adds a listener whose target is current without documents at version 1.
  private mutating func listen() throws -> Int32 {
    listener += 1
    let options = ListenOptions(includesMetadata: true)
    let target = try #require(machine.core.listen(try query("rooms"), options: options, listener: listener))
    machine.watch.opened(stream: 1)
    let time = Timestamp(seconds: 1)
    machine.watch.received(stream: 1, .targetChange(TargetChange(.add, targetIDs: [target])))
    machine.watch.received(
      stream: 1, .targetChange(TargetChange(.current, targetIDs: [target], resumeToken: [1], readTime: time)))
    machine.watch.received(stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [1], readTime: time)))
    perform()
    return target
  }

  /// A snapshot of the backend with the room as it was at that version; `nil` for its deletion.
  private mutating func send(_ fields: MapValue?, of target: Int32, at version: Int64) {
    let time = Timestamp(seconds: version)
    let name = ResourceName(database: database, path: path("rooms/a")).description
    if let fields {
      let document = Document(name: name, fields: fields, createTime: time, updateTime: time)
      machine.watch.received(stream: 1, .documentChange(DocumentChange(document: document, targetIDs: [target])))
    } else {
      machine.watch.received(
        stream: 1, .documentDelete(DocumentDelete(document: name, removedTargetIDs: [target], readTime: time)))
    }
    machine.watch.received(stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [1], readTime: time)))
    perform()
  }

  private static func fields(_ number: Int64) -> MapValue { ["n": .integer(number)] }

  @Test(arguments: [true, false])
  mutating func `a listener shows no earlier state of a document than its last acknowledged write`(
    isPendingFirst: Bool
  ) throws {
    var target: Int32?
    if !isPendingFirst { target = try listen() }
    for number in 5...7 { write(set("rooms/a", Self.fields(Int64(number)))) }
    let listened = if let target { target } else { try listen() }
    acknowledge(5...7)
    for version in Int64(5)...7 {
      send(Self.fields(version), of: listened, at: version)
      #expect(snapshots.last?.documents.map(\.fields) == [Self.fields(7)])
    }
    #expect(snapshots.last?.isFromCache == false && snapshots.last?.hasPendingWrites == false)
  }

  /// Nothing refers to the document after its deletion.
  @Test mutating func `a document that was made and deleted does not reappear with an earlier snapshot`() throws {
    let target = try listen()
    write(set("rooms/a", Self.fields(5)))
    write(Mutation(path("rooms/a"), .delete))
    acknowledge(5...6)
    let count = snapshots.count
    send(Self.fields(5), of: target, at: 5)
    send(nil, of: target, at: 6)
    #expect(snapshots.dropFirst(count).allSatisfy { $0.documents.isEmpty })
    #expect(snapshots.last?.documents.isEmpty == true && snapshots.last?.isFromCache == false)
    #expect(machine.local.uses.acknowledged.count == 0 && !machine.local.documents[path("rooms/a")].isValid)
  }

  @Test func `the documents that wait for a snapshot of their writes are bounded, and go with it`() {
    var documents = AcknowledgedDocuments()
    for number in 1...10 { documents.append(path("rooms/\(number % 5)"), Timestamp(seconds: Int64(number))) }
    #expect(documents.take(upTo: .zero, limit: 6).isEmpty, "each of them has a later write")
    #expect(documents.count == 6)
    #expect(documents.take(upTo: Timestamp(seconds: 6), limit: 6) == [path("rooms/1")])
    #expect(!documents.contains(path("rooms/1")) && documents.contains(path("rooms/0")))
    #expect(documents.take(upTo: .zero, limit: 0).count == 4 && documents.count == 0)
  }
}
