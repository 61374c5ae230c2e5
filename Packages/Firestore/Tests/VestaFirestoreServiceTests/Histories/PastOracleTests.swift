import Foundation
import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// What engines say about the past and to listeners, beside a model that keeps every state: while the log is sorted,
/// pruned, and used by engines that are left alone in the middle of their work, and while clocks jump.
///
/// `VESTA_ATTACK_SEEDS=FIRST-LAST` runs other seeds than the few of a normal run.
struct PastOracleTests {
  private static let collections = ["rooms", "halls", "rooms/1/notes", "halls/2/notes"]
  private static let retention: Int64 = 3_600_000_000

  private static var seeds: [UInt64] {
    let bounds = ProcessInfo.processInfo.environment["VESTA_ATTACK_SEEDS"]?.split(separator: "-").compactMap {
      UInt64($0)
    }
    guard let bounds, bounds.count == 2, bounds[0] <= bounds[1] else { return [1, 2, 3, 4] }
    return Array(bounds[0]...bounds[1])
  }

  /// A query, and what the model says that it finds.
  private struct Question {
    var collection: String
    var isGroup: Bool
    var limit: Int?
    var descends: Bool
    var least: Int64?

    static func random(using random: inout SplitMix) -> Question {
      let isGroup = Int.random(in: 0..<4, using: &random) == 0
      return Question(
        collection: isGroup ? "notes" : PastOracleTests.collections.randomElement(using: &random) ?? "rooms",
        isGroup: isGroup, limit: Bool.random(using: &random) ? Int.random(in: 1...4, using: &random) : nil,
        descends: Bool.random(using: &random),
        least: Int.random(in: 0..<3, using: &random) == 0 ? Int64.random(in: 0...3, using: &random) : nil)
    }

    private var path: ResourcePath { ResourcePath(splitting: collection) }

    var parent: String { isGroup || path.segments.count == 1 ? root : name("\(path.parent)") }

    var query: StructuredQuery {
      let direction: StructuredQuery.Direction = descends ? .descending : .ascending
      return StructuredQuery(
        from: [.init(collectionID: path.lastSegment, allDescendants: isGroup)],
        filter: least.map { .field(path: "n", .greaterThanOrEqual, .integer($0)) },
        orderBy: [.init(fieldPath: "n", direction), .init(fieldPath: "__name__", direction)],
        limit: limit.map { Int32($0) })
    }

    func results(_ state: State) -> [String] {
      let found = state.compactMap { path, number -> (Int64, ResourcePath)? in
        let path = ResourcePath(splitting: path)
        guard isGroup ? path.parent.lastSegment == collection : "\(path.parent)" == collection else { return nil }
        return number >= least ?? .min ? (number, path) : nil
      }.sorted { $0.0 == $1.0 ? $0.1 < $1.1 : $0.0 < $1.0 }
      let ordered = (descends ? found.reversed() : found).map { "\($0.1) \($0.0)" }
      return Array(ordered.prefix(limit ?? .max))
    }
  }

  /// The number in each document.
  private typealias State = [String: Int64]

  private static func text(_ document: Document) -> String {
    guard case .integer(let number)? = document.fields["n"] else { return document.name }
    return "\(document.name.dropFirst(root.count + 1)) \(number)"
  }

  /// A listener that folds what it is sent.
  private struct Listener {
    let question: Question
    let call: ListenCall
    var iterator: AsyncThrowingStream<[ListenResponse], any Error>.Iterator
    var documents: [String: String] = [:]
    var isCurrent = false

    init(_ question: Question, _ engine: FirestoreEngine, resume: Int64?, knowing state: State) async throws {
      self.question = question
      call = try await engine.listen(database: database, context: owner)
      iterator = call.responses.makeAsyncIterator()
      if resume != nil {
        for text in question.results(state) { documents[String(text.prefix { $0 != " " })] = text }
      }
      call.send(
        .addTarget(
          Target(
            id: 1, .query(parent: question.parent, question.query),
            resume: resume.map { .token(ResumeToken.encode($0)) })))
    }

    /// Reads up to a snapshot at or after a time; `false` when the call ends before.
    mutating func read(to time: Int64) async throws -> Bool {
      while let batch = try await iterator.next(isolation: #isolation) {
        if fold(batch) >= time { return true }
      }
      return false
    }

    /// Reads until the documents are the expected ones.
    ///
    /// A listener that is never told so reads for ever; the note says which.
    mutating func settle(on expected: [String], _ note: String) async throws {
      while documents.values.sorted() != expected.sorted() {
        guard let batch = try await iterator.next(isolation: #isolation) else {
          Issue.record("\(note): the call has ended")
          return
        }
        fold(batch)
      }
    }

    /// Takes responses in; returns the time of the last snapshot among them, once the target is current.
    @discardableResult
    private mutating func fold(_ batch: [ListenResponse]) -> Int64 {
      var time: Int64 = 0
      for response in batch {
        switch response {
        case .documentChange(let change):
          let key = String(change.document.name.dropFirst(root.count + 1))
          if !change.targetIDs.isEmpty { documents[key] = PastOracleTests.text(change.document) }
          if !change.removedTargetIDs.isEmpty { documents[key] = nil }
        case .documentDelete(let delete): documents[String(delete.document.dropFirst(root.count + 1))] = nil
        case .documentRemove, .filter: break
        case .targetChange(let change):
          if change.kind == .reset { documents = [:] }
          if change.kind == .current { isCurrent = true }
          guard change.targetIDs.isEmpty, change.kind == .noChange, isCurrent else { continue }
          time = max(time, change.readTime?.microseconds ?? 0)
        }
      }
      return time
    }
  }

  @Test(arguments: seeds)
  func `the past and its listeners are what a model of all states says`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let clock = ManualClock()
    let store = ModelStore(clock: clock.ofStore)
    func engine() -> FirestoreEngine {
      var options = FirestoreServiceOptions()
      options.clock = clock.service
      options.automaticIndexUses = 1
      return FirestoreEngine(store: store, options: options)
    }
    var engines = [engine(), engine()]
    var history: [(version: Int64, state: State)] = []
    var state: State = [:]
    var listeners: [Listener] = []
    // Commits that change nothing have a time too, which no listener is told until the next one.
    var lastChange: Int64 = 0
    func commit(_ writes: [Write]) async throws {
      let chosen = engines.randomElement(using: &random) ?? engines[0]
      let response = try await chosen.commit(
        CommitRequest(database: database, writes: writes), context: owner)
      let version = response.commitTime.microseconds ?? 0
      if state != history.last?.state || writes.contains(where: { $0.isUpdate }) { lastChange = version }
      history.append((version, state))
    }
    state["rooms/0"] = 0
    try await commit([update("rooms/0", ["n": .integer(0)])])
    for step in 0..<160 {
      let note: Comment = "seed \(seed), step \(step)"
      clock.advance(by: .milliseconds(Int.random(in: 0...20_000, using: &random)))
      let chosen = engines.randomElement(using: &random) ?? engines[0]
      let newest = history.last?.version ?? 0
      // Far from the horizon, which moves in steps.
      let readable = history.filter {
        newest - $0.version < Self.retention / 2 && clock.now - $0.version < Self.retention / 2
      }
      switch Int.random(in: 0..<16, using: &random) {
      case 0:
        let base = try await chosen.engine(database)
        try await base.sorter?.sort()
      case 1:
        // As a killed process: nobody closes it, and what it was doing goes on or does not.
        let index = Int.random(in: 0..<2, using: &random)
        let base = try await engines[index].engine(database)
        let sorting = Task.detached { try await base.sorter?.sort() }
        if Bool.random(using: &random) { sorting.cancel() }
        engines[index] = engine()
      case 2 where step % 3 == 0:
        let jump = [-30_000_000, 40_000_000, 1_200_000_000, -5_000_000].randomElement(using: &random) ?? 0
        clock.jump(to: clock.now + Int64(jump))
      case 3, 4:
        guard let (version, then) = readable.randomElement(using: &random) else { continue }
        let time = ReadConsistency.readTime(Timestamp(microseconds: version))
        for _ in 0..<3 {
          let path = "\(Self.collections.randomElement(using: &random) ?? "")/\(Int.random(in: 0..<5, using: &random))"
          let found = try await chosen.get(path, time).map(Self.text)
          #expect(found == then[path].map { "\(path) \($0)" }, note)
        }
      case 5, 6:
        guard let (version, then) = readable.randomElement(using: &random) else { continue }
        let question = Question.random(using: &random)
        var found: [String] = []
        let request = RunQueryRequest(
          parent: question.parent, query: question.query,
          consistency: .readTime(Timestamp(microseconds: version)))
        try await chosen.runQuery(request, context: owner) { if let d = $0.document { found.append(Self.text(d)) } }
        #expect(found == question.results(then), note)
      case 7, 8:
        let past = readable.randomElement(using: &random)
        var listener = try await Listener(
          .random(using: &random), chosen, resume: past?.version, knowing: past?.state ?? [:])
        let isThere = try await listener.read(to: lastChange)
        #expect(isThere, note)
        #expect(listener.documents.values.sorted() == listener.question.results(state).sorted(), note)
        if listeners.count < 6 { listeners.append(listener) } else { listener.call.cancel() }
      default:
        var writes: [Write] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let path = "\(Self.collections.randomElement(using: &random) ?? "")/\(Int.random(in: 0..<5, using: &random))"
          if Int.random(in: 0..<3, using: &random) == 0 {
            state[path] = nil
            writes.append(.delete(name(path)))
            if Bool.random(using: &random) { continue }
          }
          let number = Int64.random(in: 0...3, using: &random)
          state[path] = number
          writes.append(update(path, ["n": .integer(number), "step": .integer(Int64(step))]))
        }
        try await commit(writes)
      }
      guard step % 10 == 9 else { continue }
      for index in listeners.indices {
        try await listeners[index].settle(on: listeners[index].question.results(state), "seed \(seed), step \(step)")
      }
    }
    for listener in listeners { listener.call.cancel() }
  }
}

extension Write {
  fileprivate var isUpdate: Bool { if case .update = operation { true } else { false } }
}
