import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreReference
import VestaStoreInterop
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

struct PlannerPropertyTests {
  private func figures(_ backend: any FirestoreBackend, _ query: StructuredQuery) async -> String {
    let figures = [
      Aggregation(.count(upTo: nil)), Aggregation(.sum(fieldPath: "f"), alias: "f"),
      Aggregation(.average(fieldPath: "g"), alias: "g"),
    ]
    var texts: [String] = []
    for some in [Array(figures.prefix(1)), Array(figures.prefix(2)), figures] {
      let request = RunAggregationQueryRequest(parent: root, query: .init(query: query, aggregations: some))
      do {
        texts.append("\(try await backend.runAggregation(request, context: owner).result ?? [:])")
      } catch {
        texts.append("\(error.code)")
      }
    }
    return texts.joined(separator: "; ")
  }

  /// Indexes of all kinds, ready and being built, do not change the results of queries.
  @Test(arguments: UInt64(101)...106)
  func `every plan answers as the reference`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let tuning = EngineTuning.random(seed: seed)
    let engine = makeEngine { $0.tuning = tuning }
    let reference = ReferenceBackend()
    let indexes = try await engine.engine(database).indexes
    var queries: [StructuredQuery] = []
    var planned = 0
    for round in 0..<5 {
      for _ in 0..<12 {
        let path = data.path()
        let write = data.pick([0, 1, 2, 3, 4]) == 0 ? Write.delete(name(path)) : update(path, data.richFields())
        try await engine.commit(write)
        try await reference.commit(write)
      }
      if round < 3 { for _ in 0..<3 { indexes.build([data.shape()]) } }
      while round < 4, queries.count < 20 * (round + 1) {
        let query = data.richQuery()
        if (try? NormalQuery(query, parent: root)) != nil { queries.append(query) }
      }
      for query in queries {
        #expect(await answer(engine, query) == answer(reference, query), "seed \(seed), \(tuning): \(query)")
        #expect(await figures(engine, query) == figures(reference, query), "seed \(seed), \(tuning): \(query)")
      }
      await indexes.settle()
    }
    for query in queries {
      try await engine.engine(database).reading { snapshot in
        guard let needs = QueryNeeds(try NormalQuery(query, parent: root)) else { return }
        if try await QueryRunner.plan(needs, in: snapshot) != nil { planned += 1 }
      }
    }
    #expect(planned == queries.count)
  }

  /// Results in pages of two, or of some bytes that were looked at, as a call takes them.
  private func pages(of query: NormalQuery, bytes: Int, in snapshot: Snapshot) async throws -> [Document] {
    var found: [Document] = []
    var runner = QueryRunner(query: query, snapshot: snapshot)
    while true {
      let page = try await runner.page(PageSize(documents: 2, bytes: bytes, rows: 7))
      found += page.answer.documents
      guard case .after(let position) = page.rest else { return found }
      runner = QueryRunner(position, snapshot: snapshot)
    }
  }

  /// Walks that stop early and ranges that are put in order have the same results as looking at every document.
  @Test(arguments: [UInt64(401), 402, 403, 404])
  func `whichever way wins a race, the answer is the reference's`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let engine = makeEngine()
    for _ in 0..<70 {
      try await engine.commit(update(data.path() + data.pick(["", "1", "2", "3"]), data.richFields()))
    }
    let all = StructuredQuery(from: [.init(collectionID: "", allDescendants: true)])
    let before = try await engine.query(all)
    var time = Timestamp(seconds: 0)
    for _ in 0..<15 { time = try await engine.commit(.delete(name(data.path()))).commitTime }
    for _ in 0..<15 { try await engine.commit(update(data.path(), data.richFields())) }
    let now = try await engine.query(all)
    let then = try await engine.query(all, .readTime(time))
    #expect(before.count > then.count)
    let database = try await engine.engine(database)
    var asked = 0
    while asked < 60 {
      let query = data.richQuery()
      guard let normal = try? NormalQuery(query, parent: root), normal.findNearest == nil else { continue }
      asked += 1
      for _ in 0..<3 {
        _ = try await engine.query(query)
        await database.indexes.settle()
      }
      for budget in [1, 2, 5] {
        let bytes = data.pick([1, 60, 300, .max])
        for (documents, moment) in [(now, nil), (then, time)] {
          let expected = normal.results(in: documents).documents.map(\.name)
          let (whole, paged, count) = try await database.reading(at: moment, ChangeScope(normal)) { latest in
            var tuning = latest.tuning
            tuning.queries.raceBudget = budget
            let snapshot = latest.tuned(tuning)
            let counting = AggregationRunner(
              query: normal, figures: try Aggregator([Aggregation(.count(upTo: nil), alias: "c")]), snapshot: snapshot)
            return (
              try await QueryRunner(query: normal, snapshot: snapshot).answer().documents,
              try await self.pages(of: normal, bytes: bytes, in: snapshot), try await counting.answer().0
            )
          }
          #expect(whole.map(\.name) == expected, "seed \(seed), budget \(budget): \(query)")
          #expect(paged.map(\.name) == expected, "seed \(seed), budget \(budget): \(query)")
          #expect(count == ["c": .integer(Int64(expected.count))], "seed \(seed), budget \(budget): \(query)")
        }
      }
    }
  }

  /// Past versions are answered from the current indexes and the changes since.
  @Test(arguments: [UInt64(201), 202])
  func `the past is answered from indexes too`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let engine = makeEngine()
    var moments: [(time: Timestamp, query: StructuredQuery, documents: [Document], count: Value?)] = []
    func count(_ query: StructuredQuery, _ consistency: ReadConsistency) async throws -> Value? {
      let figures = [Aggregation(.count(upTo: nil)), Aggregation(.sum(fieldPath: "f"))]
      let request = RunAggregationQueryRequest(
        parent: root, query: .init(query: query, aggregations: figures), consistency: consistency)
      return try await engine.runAggregation(request, context: owner).result.map(Value.map)
    }
    for _ in 0..<36 {
      let path = data.path()
      let write = data.pick([0, 1, 2, 3]) == 0 ? Write.delete(name(path)) : update(path, data.richFields())
      let time = try await engine.commit(write).commitTime
      let query = data.richQuery()
      guard (try? NormalQuery(query, parent: root)) != nil else { continue }
      moments.append((time, query, try await engine.query(query), try await count(query, .latest)))
    }
    try await engine.engine(database).indexes.settle()
    for (time, query, documents, figures) in moments {
      #expect(try await engine.query(query, .readTime(time)) == documents, "seed \(seed): \(query)")
      #expect(try await count(query, .readTime(time)) == figures, "seed \(seed): \(query)")
    }
    #expect(moments.count > 12)
  }

  /// Queries of all collections walk in the order of names, from wherever they begin.
  @Test(arguments: [UInt64(301), 302])
  func `every collection is walked in order`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let store = CountingStore()
    let engine = makeEngine(on: store)
    let reference = ReferenceBackend()
    func segment() -> String { data.pick(["a", "b", "__id7__", "__id12__", "rooms", "z"]) }
    for _ in 0..<80 {
      let path = (0..<data.pick([1, 2, 3])).map { _ in segment() + "x/" + segment() }.joined(separator: "/")
      let write = update(path, ["n": .integer(1)])
      try await engine.commit(write)
      try await reference.commit(write)
    }
    let all = StructuredQuery(from: [.init(collectionID: "", allDescendants: true)])
    let names = try await reference.query(all).map { Value.reference($0.name) }
    for _ in 0..<50 {
      var query = StructuredQuery(from: [.init(collectionID: "", allDescendants: data.pick([true, true, false]))])
      let operations: [Filter.FieldOperator] = [.equal, .lessThan, .greaterThan, .greaterThanOrEqual, .notEqual]
      let filters = (0..<data.pick([0, 1, 2])).map { _ in
        Filter.field(path: "__name__", data.pick(operations), data.pick(names))
      }
      if !filters.isEmpty { query.filter = .composite(data.pick([.and, .or]), filters) }
      if data.pick([true, false, false]) {
        query.startAt = .init(values: [data.pick(names)], before: data.pick([true, false]))
      }
      if data.pick([true, false, false]) {
        query.endAt = .init(values: [data.pick(names)], before: data.pick([true, false]))
      }
      query.offset = data.pick([0, 0, 1])
      query.limit = data.pick([nil, 3, 10])
      #expect(await answer(engine, query) == answer(reference, query), "seed \(seed): \(query)")
    }
    var page = all
    page.limit = 3
    page.startAt = .init(values: [names[names.count / 2]], before: true)
    let (rows, found) = try await store.rows { try await engine.query(page) }
    #expect(found.count == 3)
    #expect(rows.total < names.count / 2, "\(rows)")
  }

  @Test func `ranges turn as their keys do`() {
    var data = SplitMix(seed: 7)
    let keys = (0..<18).map { _ in IndexEncoder.encode(data.anyValue()) }
    for lower in keys + [[]] {
      for upper in keys.map(Optional.some) + [nil] {
        let range = KeyRange(from: lower, to: upper)
        for key in keys { #expect(range.turned.contains(key.turned) == range.contains(key)) }
      }
    }
  }

  @Test func `a reader measures what the encoder wrote`() {
    var data = SplitMix(seed: 8)
    for _ in 0..<500 {
      let values = (0..<3).map { _ in (data.anyValue(), data.pick([true, false])) }
      var encoder = IndexEncoder()
      for (value, descending) in values { encoder.append(value, descending: descending) }
      var reader = IndexReader(encoder.bytes)
      for (value, descending) in values {
        let number: Value? =
          switch value {
          case .integer: value
          case .double(let double): .double(double == 0 ? 0 : double)
          default: .null
          }
        var isDouble = false
        if case .double = value { isDouble = true }
        #expect(reader.number(descending: descending, isDouble: isDouble).map { "\($0)" } == number.map { "\($0)" })
      }
      #expect(reader.position == encoder.bytes.count)
    }
  }
}

extension Snapshot {
  /// The same with other sizes.
  fileprivate func tuned(_ tuning: EngineTuning) -> Snapshot {
    Snapshot(
      reader: reader, keys: keys, name: name, version: version, past: past, indexes: indexes, retention: retention,
      tuning: tuning)
  }
}
