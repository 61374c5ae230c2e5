import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// Which views an event concerns.
@Suite struct ViewTableTests {
  private func document(_ text: String) -> (DocumentKey, CachedDocument) {
    let name = ResourceName(database: database, path: path(text))
    return (path(text), CachedDocument(name, .found([:]), version: Timestamp(seconds: 3)))
  }

  private func table(_ collections: [String]) throws -> ViewTable {
    var table = ViewTable()
    for (number, collection) in collections.enumerated() {
      let query = try query(collection)
      let id = QueryID(query)
      table.insert(QueryView(query, id: id, remoteKeys: []), of: query, id, target: Int32(2 * number + 2))
    }
    return table
  }

  @Test func `a changed document concerns the views that look at it`() throws {
    let table = try table(["rooms", "halls", "rooms/a/seats"])
    #expect(table.concerned(by: [:], nil).isEmpty)
    let changed = Dictionary(uniqueKeysWithValues: [document("halls/h"), document("rooms/a"), document("other/o")])
    let concerned = table.concerned(by: changed, nil)
    #expect(concerned.map(\.target) == [2, 4])
    #expect(concerned.map { $0.changed.keys.map(\.description) } == [["rooms/a"], ["halls/h"]])
  }

  @Test func `news of a target concern its views, and a token alone does not`() throws {
    let table = try table(["rooms", "halls"])
    var event = RemoteEvent(version: Timestamp(seconds: 5))
    var update = TargetUpdate()
    update.resumeToken = [1]
    event.targetChanges[2] = update
    #expect(table.concerned(by: [:], event).isEmpty)
    update.isCurrent = true
    event.targetChanges[4] = update
    #expect(table.concerned(by: [:], event).map(\.target) == [4])
    event.targetMismatches[2] = .existenceFilterMismatch
    #expect(table.concerned(by: [:], event).map(\.target) == [2, 4])
  }

  @Test func `a view whose target is about to be fetched again follows every snapshot until it was`() throws {
    var table = try table(["rooms"])
    let id = QueryID(try query("rooms"))
    var event = RemoteEvent(version: Timestamp(seconds: 5))
    event.targetMismatches[2] = .existenceFilterMismatch
    let none = try #require(table.entries[id]?.view.computeChanges([:]))
    _ = table.apply(none, to: id, event)
    #expect(table.unsettled == [id])
    #expect(table.concerned(by: [:], RemoteEvent(version: Timestamp(seconds: 6))).map(\.target) == [2])
    _ = table.apply(none, to: id, nil)
    #expect(table.unsettled.isEmpty)
  }

  @Test func `a target lives until its last view, and leaves nothing`() throws {
    var table = try table(["rooms", "halls"])
    let rooms = try query("rooms")
    #expect(table.target(of: rooms) == 2)
    table.remove(QueryID(rooms))
    #expect(table.target(of: rooms) == nil && table.queries[2] == [])
    let halls = QueryID(try query("halls"))
    #expect(table.removeAll(of: 2) == [] && table.removeAll(of: 4) == [halls])
    #expect(table.entries.isEmpty && table.queries.isEmpty && table.unsettled.isEmpty)
  }
}
