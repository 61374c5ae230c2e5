import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

/// Looks at all documents of a collection, in parts that are read one after another.
@Suite(.timeLimit(.minutes(20))) struct QueryScanTests {
  private func change(_ engine: FirestoreEngine, _ data: inout SplitMix) async throws {
    let path = data.pick(["people/", "people/p7/people/", "others/p3/people/", "others/"]) + "p\(data.below(30))"
    let fields: MapValue = ["n": .integer(Int64(data.below(20))), "m": .boolean(data.oneIn(2))]
    try await engine.commit(data.oneIn(3) ? .delete(name(path)) : update(path, fields))
  }

  private func query(_ data: inout SplitMix) -> StructuredQuery {
    StructuredQuery(
      from: [.init(collectionID: "people", allDescendants: data.oneIn(2))],
      filter: data.oneIn(2) ? .field(path: "m", .equal, .boolean(true)) : nil,
      orderBy: [.init(fieldPath: "n", data.oneIn(2) ? .ascending : .descending)], offset: Int32(data.below(3)),
      limit: data.oneIn(2) ? 5 : nil)
  }

  @Test(arguments: UInt64(0)..<32)
  func `a look in parts has the results of its version, whatever changes in between`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed &+ 8_800)
    let engine = makeEngine { $0.automaticIndexUses = .max }
    for _ in 0..<80 { try await change(engine, &data) }
    let base = try await engine.engine(database)
    let asked = query(&data)
    let normal = try NormalQuery(asked, parent: root)
    let expected = try await engine.query(asked)
    let first = try await base.reading { (scan: QueryScan(normal, in: $0), version: $0.version) }
    var (scan, parts) = (first.scan, 0)
    while !scan.isOver {
      for _ in 0..<data.below(6) { try await change(engine, &data) }
      let rows = 1 + data.below(6)
      scan = try await base.reading(version: first.version, ChangeScope(normal)) { [scan] snapshot in
        var scan = scan
        _ = try await scan.look(atMost: rows, in: snapshot)
        return scan
      }
      parts += 1
    }
    #expect(scan.results().documents == expected, "seed \(seed)")
    #expect(parts > 1)
  }

  @Test func `a look that goes on uses the index that has become ready meanwhile`() async throws {
    let engine = makeEngine { $0.automaticIndexUses = 1 }
    for number in 0..<30 {
      try await engine.commit(update("people/p\(100 + number)", ["n": .integer(Int64(30 - number))]))
    }
    let base = try await engine.engine(database)
    let normal = try NormalQuery(
      StructuredQuery(from: [.init(collectionID: "people")], orderBy: [.init(fieldPath: "n")], limit: 3), parent: root)
    let size = PageSize(documents: 9, bytes: .max, rows: 10)
    let (page, version) = try await base.reading { snapshot in
      (try await QueryRunner(query: normal, snapshot: snapshot).page(size), snapshot.version)
    }
    guard case .after(let position) = page.rest else {
      Issue.record("the look has not stopped")
      return
    }
    #expect(position.scan != nil && page.answer.documents.isEmpty && page.answer.read == 10)
    await base.indexes.settle()
    // The first result is still one at the version of the query.
    try await engine.commit(.delete(name("people/p129")))
    let rest = try await base.reading(version: version, ChangeScope(normal)) { snapshot in
      try await QueryRunner(position, snapshot: snapshot).page(size)
    }
    #expect(rest.answer.plan != nil)
    #expect(rest.answer.documents.map(\.name) == ["p129", "p128", "p127"].map { name("people/\($0)") })
  }

  @Test func `while an index is made, as many looks continue at once as there are processors`() async throws {
    let base = try await makeEngine().engine(database)
    let (built, read, begun) = (Gate(), Gate(), Log<Int>())
    let normal = try NormalQuery(StructuredQuery(from: [.init(collectionID: "people")]), parent: root)
    let scan = try await base.reading { QueryScan(normal, in: $0) }
    let position = QueryPosition(in: scan, of: normal, RaceProgress())
    let shape = IndexShape(collectionID: "people", isGroup: false, parts: [])
    base.indexes.state.withLock { $0.building[shape] = Task { await built.wait() } }
    let count = IndexKeeper.scansAtOnce + 3
    let looks = (0..<count).map { number in
      Task {
        _ = try await base.indexes.inTurn(position) {
          begun.add(number)
          await read.wait()
          return QueryPage(answer: QueryAnswer(), rest: .none)
        }
      }
    }
    await begun.wait { $0.count == IndexKeeper.scansAtOnce }
    while base.indexes.scans.waitingCount < 3 { await Task.yield() }
    #expect(begun.entries.count == IndexKeeper.scansAtOnce)
    read.open()
    for look in looks { try await look.value }
    #expect(begun.entries.count == count)
    built.open()
  }
}
