import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// Targets whose numbers are used again before the backend has answered all requests about them.
@Suite struct WatchAggregatorTests {
  private let id: Int32 = 2

  private func global(_ aggregator: inout WatchAggregator, _ token: UInt8) -> RemoteEvent {
    aggregator.receive(TargetChange(.noChange, resumeToken: [token]))
    return aggregator.makeEvent(version: Timestamp(seconds: Int64(token)))
  }

  @Test func `a target that is used again is not current before its new results`() throws {
    let record = TargetRecord(try query("rooms").target, id: id)
    var aggregator = WatchAggregator(
      database: database, digest: nil,
      targets: .init(data: { _ in record }, remoteKeys: { _ in [] }, hasRemoteKey: { _, _ in false }))
    aggregator.recordRequest(for: id)
    aggregator.receive(TargetChange(.add, targetIDs: [id]))
    aggregator.receive(TargetChange(.current, targetIDs: [id], resumeToken: [1]))
    #expect(global(&aggregator, 1).targetChanges[id]?.isCurrent == true)
    // Its last listener leaves, and another one is added before the backend has answered.
    aggregator.recordRequest(for: id)
    aggregator.recordRequest(for: id)
    aggregator.receive(TargetChange(.remove, targetIDs: [id]))
    aggregator.receive(TargetChange(.add, targetIDs: [id]))
    let early = global(&aggregator, 2)
    #expect(early.targetChanges[id]?.isCurrent != true)
    aggregator.receive(TargetChange(.current, targetIDs: [id], resumeToken: [3]))
    #expect(global(&aggregator, 3).targetChanges[id]?.isCurrent == true)
  }

  @Test func `a document that is read again and is missing counts as missing`() throws {
    let room = try LocalQuery(database: database, path: path("rooms/a"))
    let record = TargetRecord(room.target, id: id)
    var aggregator = WatchAggregator(
      database: database, digest: nil,
      targets: .init(data: { _ in record }, remoteKeys: { _ in [] }, hasRemoteKey: { _, _ in false }))
    for round: UInt8 in 1...2 {
      aggregator.recordRequest(for: id)
      if round == 2 {
        aggregator.recordRequest(for: id)
        aggregator.receive(TargetChange(.remove, targetIDs: [id]))
      }
      aggregator.receive(TargetChange(.add, targetIDs: [id]))
      aggregator.receive(TargetChange(.current, targetIDs: [id], resumeToken: [round]))
      #expect(global(&aggregator, round).documentUpdates[path("rooms/a")]?.isMissing == true, "round \(round)")
    }
  }

  @Test func `a target that is not current follows no global token`() throws {
    let records = [
      2: TargetRecord(try query("rooms").target, id: 2), 4: TargetRecord(try query("halls").target, id: 4),
    ]
    var aggregator = WatchAggregator(
      database: database, digest: nil,
      targets: .init(data: { records[Int($0)] }, remoteKeys: { _ in [] }, hasRemoteKey: { _, _ in false }))
    aggregator.recordRequest(for: 2)
    aggregator.receive(TargetChange(.add, targetIDs: [2]))
    aggregator.receive(TargetChange(.current, targetIDs: [2], resumeToken: [1]))
    #expect(global(&aggregator, 1).followedTargets == [2])
    aggregator.recordRequest(for: 4)
    aggregator.receive(TargetChange(.add, targetIDs: [4]))
    let early = global(&aggregator, 2)
    #expect(early.targetChanges[4]?.resumeToken.isEmpty != false && !early.followedTargets.contains(4))
    aggregator.receive(TargetChange(.current, targetIDs: [4], resumeToken: [3]))
    let later = global(&aggregator, 3)
    #expect(later.targetChanges[4]?.resumeToken == [3] && later.followedTargets == [4])
  }
}
