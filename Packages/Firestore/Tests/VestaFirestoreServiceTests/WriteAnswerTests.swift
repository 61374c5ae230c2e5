import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

@Suite(.timeLimit(.minutes(5)))
struct WriteAnswerTests {
  private static let queue = (1...16).map { UInt8($0) }

  private static func increment(_ number: Int64, by amount: Int64 = 1) -> WriteRequest {
    let transform = FieldTransform(fieldPath: "n", .increment(.integer(amount)))
    return WriteRequest(
      writes: [.update(Document(name: name("rooms/a")), mask: DocumentMask(fieldPaths: []), transforms: [transform])],
      id: WriteRequestID(queue: queue, number: number))
  }

  /// The answers to the requests of a separate call.
  private static func answers(
    _ engine: FirestoreEngine, _ requests: [WriteRequest]
  ) async throws -> [WriteResponse] {
    let call = try await engine.write(database: database, context: owner)
    call.send(WriteRequest(database: database))
    for request in requests { call.send(request) }
    call.finish()
    var responses: [WriteResponse] = []
    for try await batch in call.responses { responses += batch }
    return Array(responses.dropFirst())
  }

  @Test func `a request that is sent again gets its first answer and changes nothing`() async throws {
    let engine = makeEngine()
    let first = try await Self.answers(engine, (1...10).map { Self.increment($0, by: $0) })
    try await engine.commit(update("rooms/b", [:]))
    let second = try await Self.answers(engine, (1...10).map { Self.increment($0, by: $0) })
    #expect(first.map(\.commitTime) == second.map(\.commitTime))
    #expect(first.map(\.writeResults) == second.map(\.writeResults))
    #expect(second.last?.writeResults.first?.transformResults == [.integer(55)])
    #expect(try await engine.get("rooms/a")?.fields == ["n": .integer(55)])
  }

  @Test func `an answer outlives the engine`() async throws {
    let store = ModelStore()
    let first = try await Self.answers(makeEngine(on: store), [Self.increment(1)])
    let next = makeEngine(on: store)
    let second = try await Self.answers(next, [Self.increment(1), Self.increment(2)])
    #expect(second.first?.commitTime == first.first?.commitTime)
    #expect(try await next.get("rooms/a")?.fields == ["n": .integer(2)])
  }

  @Test func `a request that was refused is refused again, also by the next engine and where it would succeed`()
    async throws
  {
    let store = ModelStore()
    let engine = makeEngine(on: store)
    let id = WriteRequestID(queue: Self.queue, number: 1)
    let request = WriteRequest(writes: [update("rooms/a", ["n": .integer(2)], precondition: .exists(true))], id: id)
    let first = await failure { _ = try await Self.answers(engine, [request]) }
    #expect(first?.code == .notFound)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let next = makeEngine(on: store)
    #expect(await failure { _ = try await Self.answers(next, [request]) } == first)
    #expect(try await next.get("rooms/a")?.fields == ["n": .integer(1)])
    // The queue continues after it.
    #expect(try await Self.answers(next, [Self.increment(2)]).count == 1)
  }

  @Test func `a request with writes that break a rule is refused again`() async throws {
    let engine = makeEngine()
    let bad = WriteRequest(
      writes: [update("rooms/a", ["__x__": .null])], id: WriteRequestID(queue: Self.queue, number: 1))
    let first = await failure { _ = try await Self.answers(engine, [bad]) }
    #expect(first?.code == .invalidArgument)
    // The row decides, whatever request has the identifier.
    #expect(await failure { _ = try await Self.answers(engine, [Self.increment(1)]) } == first)
  }

  @Test func `a failure of the store is no answer`() async throws {
    let store = ModelStore()
    let engine = makeEngine(on: store)
    try await engine.close()
    #expect(await failure { _ = try await Self.answers(engine, [Self.increment(1)]) }?.code == .unavailable)
    let next = makeEngine(on: store)
    #expect(try await Self.answers(next, [Self.increment(1)]).count == 1)
    #expect(try await next.get("rooms/a")?.fields == ["n": .integer(1)])
  }

  @Test func `a row of an answer or a refusal is what was written`() throws {
    let results = [
      WriteResult(updateTime: Timestamp(microseconds: 7), transformResults: [.integer(1), .map(["a": .null])]),
      WriteResult(),
    ]
    let answer = AnswerRow(
      time: 7, number: 3,
      outcome: .success(CommitResponse(writeResults: results, commitTime: Timestamp(microseconds: 7))))
    let refusal = AnswerRow(time: 8, number: 4, outcome: .failure(FirestoreServiceError(.notFound, "No \u{1F600}.")))
    for row in [answer, refusal] {
      let bytes = try row.fieldBytes()
      let copy = try AnswerRow(row: bytes)
      #expect(copy == row)
      #expect(try copy.outcome == row.outcome)
      #expect(try AnswerRow.time(of: bytes) == row.time)
      for length in 0..<bytes.count {
        #expect(throws: FirestoreServiceError.self) { try AnswerRow(row: Array(bytes.prefix(length))) }
      }
    }
  }

  @Test func `of many old rows an eighth is left at most`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/b", [:]))
    let database = try await engine.engine(database)
    await database.pruner.settle()
    let answer = CommitResponse(writeResults: [], commitTime: Timestamp(microseconds: 1))
    _ = try await database.store.write { transaction in
      for _ in 0..<150 {
        let queue = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        for number in Int64(1)...16 {
          let row = AnswerRow(time: 1, number: number, outcome: .success(answer))
          let key = database.keys.answer(to: WriteRequestID(queue: queue, number: number))
          try await transaction.put(row.fieldBytes(), for: key)
        }
      }
    }
    clock.advance(by: .seconds(31 * 86_400))
    _ = try await Self.answers(engine, [Self.increment(1)])
    await database.pruner.settle()
    let rows = try await database.store.read { try await $0.entries(in: KeyRange(prefix: database.keys.answers)) }
    #expect(rows.count == 1)
    #expect(try AnswerRow(row: rows[0].value).number == 1)
  }

  @Test func `old rows go wherever they are, also behind many that stay`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/b", [:]))
    let database = try await engine.engine(database)
    await database.pruner.settle()
    clock.advance(by: .seconds(31 * 86_400))
    let now = clock.now
    _ = try await database.store.write { transaction in
      // The first rows of all are new ones, and the last ones are old; the queues of clients are anywhere between.
      for (byte, time) in [(UInt8.min, now), (.max, 1)] {
        for number in 1...600 {
          let queue = [byte, byte, byte, byte, UInt8(number / 256), UInt8(number % 256), 0, 0]
          let answer = CommitResponse(writeResults: [], commitTime: Timestamp(microseconds: time))
          let row = AnswerRow(time: time, number: 1, outcome: .success(answer))
          let key = database.keys.answer(to: WriteRequestID(queue: queue, number: 1))
          try await transaction.put(row.fieldBytes(), for: key)
        }
      }
    }
    try await engine.commit(update("rooms/b", ["n": .integer(1)]))
    await database.pruner.settle()
    let rows = try await database.store.read { try await $0.entries(in: KeyRange(prefix: database.keys.answers)) }
    #expect(try rows.count == 600 && rows.allSatisfy { try AnswerRow.time(of: $0.value) == now })
  }

  @Test func `a request before the window is refused and changes nothing`() async throws {
    let engine = makeEngine()
    _ = try await Self.answers(engine, (1...20).map { Self.increment($0) })
    #expect(await failure { _ = try await Self.answers(engine, [Self.increment(4)]) }?.code == .alreadyExists)
    _ = try await Self.answers(engine, [Self.increment(5)])
    #expect(try await engine.get("rooms/a")?.fields == ["n": .integer(20)])
  }

  @Test func `other writes under the same identifier are refused`() async throws {
    let engine = makeEngine()
    _ = try await Self.answers(engine, [Self.increment(1)])
    let id = WriteRequestID(queue: Self.queue, number: 1)
    let other = WriteRequest(writes: [update("rooms/b", [:]), update("rooms/c", [:])], id: id)
    #expect(await failure { _ = try await Self.answers(engine, [other]) }?.code == .invalidArgument)
    let nameless = WriteRequest(writes: [update("rooms/b", [:])], id: WriteRequestID(queue: [], number: 1))
    #expect(await failure { _ = try await Self.answers(engine, [nameless]) }?.code == .invalidArgument)
    #expect(try await engine.get("rooms/b") == nil)
  }

  @Test func `the rows of a queue are bounded and go when they are old`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    _ = try await Self.answers(engine, (1...100).map { Self.increment($0) })
    let database = try await engine.engine(database)
    let count = {
      try await database.store.read { try await $0.entries(in: KeyRange(prefix: database.keys.answers)).count }
    }
    #expect(try await count() == 16)
    await database.pruner.settle()
    clock.advance(by: .seconds(29 * 86_400))
    try await engine.commit(update("rooms/b", ["n": .integer(1)]))
    await database.pruner.settle()
    #expect(try await count() == 16)
    clock.advance(by: .seconds(2 * 86_400))
    try await engine.commit(update("rooms/b", ["n": .integer(2)]))
    await database.pruner.settle()
    #expect(try await count() == 0)
  }
}
