import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// A random history over engines on one store, and a model that keeps every state of it: what is said about the past
/// and to listeners is compared, while the log is sorted and pruned, engines are killed or left alone in the middle of
/// their work, and clocks jump.
///
/// Example: `rooms/1` is set to 2 and to 3, an engine is killed after the first of the two commits of its sorter, a
/// listener of the lowest two rooms continues at the other engine with its token, and a get at the time of the first
/// commit finds 2.
struct PastOracle {
  static let collections = ["rooms", "halls", "rooms/1/notes", "halls/2/notes", "many"]
  private static let retention: Int64 = 3_600_000_000

  /// A query, and what the model says that it finds.
  struct Question {
    var collection: String
    var isGroup: Bool
    var limit: Int?
    var descends: Bool
    var least: Int64?

    static func random(using random: inout SplitMix) -> Question {
      let isGroup = Int.random(in: 0..<4, using: &random) == 0
      return Question(
        collection: isGroup ? "notes" : PastOracle.collections.randomElement(using: &random) ?? "rooms",
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
  typealias State = [String: Int64]

  static func text(_ document: Document) -> String {
    guard case .integer(let number)? = document.fields["n"] else { return document.name }
    return "\(document.name.dropFirst(root.count + 1)) \(number)"
  }

  /// A listener that folds what it is sent.
  struct Listener {
    let question: Question
    let call: ListenCall
    var iterator: AsyncThrowingStream<[ListenResponse], any Error>.Iterator
    var documents: [String: String] = [:]
    var isCurrent = false
    /// The time of the last snapshot, and the documents of then: what a client keeps.
    var time: Int64 = 0
    var kept: [String: String] = [:]

    init(_ question: Question, _ engine: FirestoreEngine, resume: Int64?, knowing results: [String]) async throws {
      self.question = question
      call = try await engine.listen(database: database, context: owner)
      iterator = call.responses.makeAsyncIterator()
      time = resume ?? 0
      for text in results { documents[String(text.prefix { $0 != " " })] = text }
      kept = documents
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
          if !change.targetIDs.isEmpty { documents[key] = PastOracle.text(change.document) }
          if !change.removedTargetIDs.isEmpty { documents[key] = nil }
        case .documentDelete(let delete): documents[String(delete.document.dropFirst(root.count + 1))] = nil
        case .documentRemove, .filter: break
        case .targetChange(let change):
          if change.kind == .reset { documents = [:] }
          if change.kind == .current { isCurrent = true }
          guard change.targetIDs.isEmpty, change.kind == .noChange, isCurrent else { continue }
          time = max(time, change.readTime?.microseconds ?? 0)
          kept = documents
        }
      }
      self.time = max(self.time, time)
      return time
    }
  }

  /// One process: its access to the store, and its engine.
  private struct Process {
    let door: StoreDoor
    let engine: FirestoreEngine
  }

  private let seed: UInt64
  private let tuning: EngineTuning
  private var random: SplitMix
  private let clock = ManualClock()
  private let store: ModelStore
  private var processes: [Process] = []
  private var history: [(version: Int64, state: State)] = []
  private var state: State = [:]
  private var listeners: [(listener: Listener, process: StoreDoor)] = []
  /// Commits that change nothing have a time too, which no listener is told until the next one.
  private var lastChange: Int64 = 0
  private var step = 0

  init(seed: UInt64) {
    self.seed = seed
    tuning = .random(seed: seed)
    random = SplitMix(seed: seed)
    store = ModelStore(clock: clock.ofStore)
    processes = [process(), process()]
  }

  private var note: Comment { "seed \(seed), step \(step), \(tuning)" }

  private func process() -> Process {
    let door = StoreDoor(store, tellsBeforeAcknowledging: true)
    return Process(door: door, engine: makeEngine(at: door, clock) { $0.tuning = tuning })
  }

  /// Runs the history, and compares everything once more at its end.
  mutating func run(steps: Int) async throws {
    try await commit((0..<60).map { number in set("many/\(number)", to: Int64(number % 4)) })
    for number in 0..<steps {
      step = number
      clock.advance(by: .milliseconds(Int.random(in: 0...20_000, using: &random)))
      try await takeStep()
      if step % 10 == 9 { try await settle() }
    }
    try await settle()
    for process in processes {
      let base = try await process.engine.engine(database)
      try await base.sorter?.sort()
      await base.sorter?.settle()
    }
    try await LogSorterTests.check(try await processes[0].engine.engine(database), "seed \(seed), at the end")
    for entry in listeners { entry.listener.call.cancel() }
  }

  private mutating func takeStep() async throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: try await processes.randomElement(using: &random)?.engine.engine(database).sorter?.sort()
    case 1: try await leaveAlone()
    case 2: try await kill()
    case 3 where step % 3 == 0:
      clock.jump(
        to: clock.now + ([-30_000_000, 40_000_000, 1_200_000_000, -5_000_000].randomElement(using: &random) ?? 0))
    case 4, 5: try await readPast()
    case 6, 7: try await queryPast()
    case 8: try await readEveryTimeWhileSorting()
    case 9, 10: try await listen()
    case 11: try await deleteFirst()
    default: try await commitSome()
    }
  }

  // MARK: Processes

  /// As a process that hangs: it is not closed, and its work continues or does not.
  private mutating func leaveAlone() async throws {
    let index = Int.random(in: 0..<processes.count, using: &random)
    let base = try await processes[index].engine.engine(database)
    let sorting = Task.detached { try await base.sorter?.sort() }
    if Bool.random(using: &random) { sorting.cancel() }
    processes[index] = process()
  }

  /// A killed process: none of its writes arrives from now on, the writes of its sorter neither.
  ///
  /// Its listeners continue elsewhere.
  private mutating func kill() async throws {
    let index = Int.random(in: 0..<processes.count, using: &random)
    let (door, engine) = (processes[index].door, processes[index].engine)
    let base = try await engine.engine(database)
    let count = Int.random(in: 0...2, using: &random)
    door.kill(afterWrites: count)
    if count < 2 { try? await base.sorter?.sort() } else { door.kill() }
    if !door.isShut { door.kill() }
    processes[index] = process()
    for number in listeners.indices where listeners[number].process === door {
      let old = listeners[number].listener
      old.call.cancel()
      let other = processes[Int.random(in: 0..<processes.count, using: &random)]
      let listener = try await Listener(
        old.question, other.engine, resume: old.isCurrent ? old.time : nil,
        knowing: old.isCurrent ? Array(old.kept.values) : [])
      listeners[number] = (listener, other.door)
    }
  }

  // MARK: The past

  /// The states that may be asked for: far from the horizon, which moves in steps.
  private var readable: [(version: Int64, state: State)] {
    let newest = history.last?.version ?? 0
    return history.filter {
      newest - $0.version < Self.retention / 2 && clock.now - $0.version < Self.retention / 2
    }
  }

  private mutating func path() -> String {
    let collection = Self.collections.randomElement(using: &random) ?? ""
    return "\(collection)/\(Int.random(in: 0..<(collection == "many" ? 60 : 5), using: &random))"
  }

  private mutating func engine() -> FirestoreEngine {
    processes[Int.random(in: 0..<processes.count, using: &random)].engine
  }

  private mutating func readPast() async throws {
    guard let (version, then) = readable.randomElement(using: &random) else { return }
    let chosen = engine()
    for _ in 0..<3 {
      let path = path()
      let found = try await chosen.get(path, .readTime(Timestamp(microseconds: version))).map(Self.text)
      #expect(found == then[path].map { "\(path) \($0)" }, note)
    }
  }

  private mutating func queryPast() async throws {
    guard let (version, then) = readable.randomElement(using: &random) else { return }
    try await expect(.random(using: &random), at: version, then, engine())
  }

  private func expect(_ question: Question, at version: Int64, _ state: State, _ engine: FirestoreEngine) async throws {
    var found: [String] = []
    let request = RunQueryRequest(
      parent: question.parent, query: question.query, consistency: .readTime(Timestamp(microseconds: version)))
    try await engine.runQuery(request, context: owner) { if let d = $0.document { found.append(Self.text(d)) } }
    #expect(found == question.results(state), note)
  }

  /// Both engines sort, and every state that can be read is read at the same time.
  private mutating func readEveryTimeWhileSorting() async throws {
    var sorters: [LogSorter] = []
    for process in processes {
      if let sorter = try await process.engine.engine(database).sorter { sorters.append(sorter) }
    }
    let sorting = sorters.map { sorter in Task.detached { try await sorter.sort() } }
    let question = Question.random(using: &random)
    let chosen = engine()
    for (version, then) in readable { try await expect(question, at: version, then, chosen) }
    for task in sorting { try await task.value }
  }

  // MARK: Listeners

  private mutating func listen() async throws {
    let past = readable.randomElement(using: &random)
    let question = Question.random(using: &random)
    let process = processes[Int.random(in: 0..<processes.count, using: &random)]
    var listener = try await Listener(
      question, process.engine, resume: past?.version, knowing: past.map { question.results($0.state) } ?? [])
    let isThere = try await listener.read(to: lastChange)
    #expect(isThere, note)
    #expect(listener.documents.values.sorted() == question.results(state).sorted(), note)
    if listeners.count < 6 { listeners.append((listener, process.door)) } else { listener.call.cancel() }
  }

  private mutating func settle() async throws {
    for index in listeners.indices {
      let expected = listeners[index].listener.question.results(state)
      try await listeners[index].listener.settle(on: expected, "seed \(seed), step \(step), \(tuning)")
    }
  }

  // MARK: Commits

  private mutating func set(_ path: String, to number: Int64) -> Write {
    state[path] = number
    return update(path, ["n": .integer(number), "step": .integer(Int64(step))])
  }

  private mutating func commit(_ writes: [Write]) async throws {
    let response = try await engine().commit(CommitRequest(database: database, writes: writes), context: owner)
    let version = response.commitTime.microseconds ?? 0
    if state != history.last?.state || writes.contains(where: { $0.isUpdate }) { lastChange = version }
    history.append((version, state))
  }

  /// Takes the first of many documents away, up to more than a limited view keeps in spare, and some return.
  private mutating func deleteFirst() async throws {
    let all = Question(
      collection: "many", isGroup: false, limit: nil, descends: Bool.random(using: &random), least: nil)
    let first = all.results(state).prefix(Int.random(in: 1...45, using: &random)).map {
      String($0.prefix { $0 != " " })
    }
    let size = Int.random(in: 1...max(1, first.count), using: &random)
    for start in stride(from: 0, to: first.count, by: size) {
      let paths = first[start..<min(start + size, first.count)]
      for path in paths { state[path] = nil }
      try await commit(paths.map { .delete(name($0)) })
    }
    guard Bool.random(using: &random) else { return }
    var writes: [Write] = []
    for path in first.shuffled(using: &random) { writes.append(set(path, to: Int64.random(in: 0...3, using: &random))) }
    if !writes.isEmpty { try await commit(writes) }
  }

  private mutating func commitSome() async throws {
    var writes: [Write] = []
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let path = path()
      if Int.random(in: 0..<3, using: &random) == 0 {
        state[path] = nil
        writes.append(.delete(name(path)))
        if Bool.random(using: &random) { continue }
      }
      writes.append(set(path, to: Int64.random(in: 0...3, using: &random)))
    }
    try await commit(writes)
  }
}

extension Write {
  fileprivate var isUpdate: Bool { if case .update = operation { true } else { false } }
}
