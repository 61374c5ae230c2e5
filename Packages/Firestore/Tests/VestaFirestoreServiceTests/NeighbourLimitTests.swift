import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreService

/// The limits of one caller, tested at the limit.
struct NeighbourLimitTests {
  // MARK: Transactions

  @Test func `a bounded number of transactions may be open, and one more is refused until one ends`() async throws {
    let engine = makeEngine { $0.openTransactions = 3 }
    var open: [[UInt8]] = []
    for _ in 0..<3 { open.append(try await engine.begin()) }
    #expect(await failure { _ = try await engine.begin() }?.code == .resourceExhausted)
    let query = RunQueryRequest(parent: root, query: .all("rooms"), consistency: .newTransaction(.readWrite()))
    let refused = await failure { try await engine.runQuery(query, context: owner) { _ in } }
    #expect(refused?.code == .resourceExhausted)
    // Plain calls and open ones continue.
    try await engine.commit(update("rooms/a", [:]))
    try await engine.commit(update("rooms/b", [:]), in: open[0])
    _ = try await engine.begin()
  }

  @Test func `a transaction that was left alone makes room for another`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock) { $0.openTransactions = 1 }
    _ = try await engine.begin()
    clock.advance(seconds: 59)
    #expect(await failure { _ = try await engine.begin() }?.code == .resourceExhausted)
    clock.advance(seconds: 2)
    _ = try await engine.begin()
  }

  @Test func `a transaction that reads more than it may is refused, and what it has read still counts`() async throws {
    let engine = makeEngine { $0.transactionReads = 10 }
    let transaction = try await engine.begin(.readWrite(concurrency: .optimistic))
    for number in 0..<9 { _ = try await engine.get("rooms/\(number)", .transaction(transaction)) }
    _ = try await engine.query(.all("halls"), .transaction(transaction))
    let refused = await failure { _ = try await engine.get("rooms/9", .transaction(transaction)) }
    #expect(refused?.code == .invalidArgument)
    #expect(refused?.message == "Transaction too big. Decrease transaction size.")
    // Alone it may be read, and a transaction that only reads has nothing to remember.
    _ = try await engine.get("rooms/9")
    let reader = try await engine.begin(.readOnly())
    for number in 0..<20 { _ = try await engine.get("rooms/\(number)", .transaction(reader)) }
    try await engine.commit(update("halls/new", [:]))
    let late = await failure { try await engine.commit(update("rooms/x", [:]), in: transaction) }
    #expect(late?.code == .aborted)
  }

  @Test func `a batch beyond the limit of a transaction is refused before anything is locked`() async throws {
    let engine = makeEngine { $0.transactionReads = 10 }
    let transaction = try await engine.begin()
    let names = (0..<11).map { name("rooms/\($0)") }
    let request = BatchGetDocumentsRequest(
      database: database, documents: names, consistency: .transaction(transaction))
    let refused = await failure { try await engine.batchGet(request, context: owner) { _ in } }
    #expect(refused?.code == .invalidArgument)
    try await engine.commit(update("rooms/0", [:]))
  }

  @Test func `what all transactions have read has a limit that ending one makes room under`() async throws {
    let engine = makeEngine { $0.openTransactionReads = 6 }
    let first = try await engine.begin(.readWrite(concurrency: .optimistic))
    let second = try await engine.begin(.readWrite(concurrency: .optimistic))
    for number in 0..<3 {
      _ = try await engine.get("rooms/\(number)", .transaction(first))
      _ = try await engine.get("rooms/\(number)", .transaction(second))
    }
    #expect(await failure { _ = try await engine.get("rooms/9", .transaction(second)) }?.code == .resourceExhausted)
    try await engine.commit(update("rooms/x", [:]), in: first)
    _ = try await engine.get("rooms/9", .transaction(second))
  }

  // MARK: Unread responses

  private static func change(_ id: String, _ number: Int64, _ targets: [Int32], removed: [Int32] = []) -> ListenResponse
  {
    .documentChange(
      DocumentChange(
        document: Document(name: name(id), fields: ["n": .integer(number)]), targetIDs: targets,
        removedTargetIDs: removed))
  }

  private static func delete(_ id: String, _ targets: [Int32]) -> ListenResponse {
    .documentDelete(DocumentDelete(document: name(id), removedTargetIDs: targets, readTime: nil))
  }

  private static func snapshot(_ seconds: Int64) -> ListenResponse {
    .targetChange(
      TargetChange(.noChange, resumeToken: [UInt8(seconds)], readTime: Timestamp(seconds: seconds)))
  }

  @Test func `of each document the latest response is left, and of the snapshots the last one`() {
    let merged = UnreadResponses.merged([
      Self.change("r/a", 1, [2]), Self.snapshot(10), Self.change("r/b", 1, [2]), Self.change("r/a", 2, [2]),
      Self.snapshot(20), Self.change("r/a", 3, [2]),
    ])
    #expect(
      merged == [Self.change("r/b", 1, [2]), Self.change("r/a", 2, [2]), Self.snapshot(20), Self.change("r/a", 3, [2])])
  }

  @Test func `documents whose names differ in their bytes alone are merged apart`() {
    let responses = [Self.change("r/\u{E9}", 1, [2]), Self.change("r/e\u{301}", 1, [2]), Self.snapshot(10)]
    #expect(UnreadResponses.merged(responses).count == 3)
  }

  @Test func `a merged response names every target that one before it has named`() {
    let deleted = UnreadResponses.merged([
      Self.change("r/a", 1, [2, 4]), Self.snapshot(10), Self.change("r/a", 2, [2], removed: [4]), Self.snapshot(20),
      Self.delete("r/a", [2]), Self.snapshot(30),
    ])
    #expect(deleted == [Self.delete("r/a", [2, 4]), Self.snapshot(30)])
    let back = UnreadResponses.merged([
      Self.delete("r/a", [2, 4]), Self.snapshot(10), Self.change("r/a", 5, [4]), Self.snapshot(20),
    ])
    #expect(back == [Self.change("r/a", 5, [4], removed: [2]), Self.snapshot(20)])
  }

  @Test func `responses about targets are not merged across`() {
    let add = ListenResponse.targetChange(TargetChange(.add, targetIDs: [4]))
    let reset = ListenResponse.targetChange(TargetChange(.reset, targetIDs: [2]))
    let filter = ListenResponse.filter(ExistenceFilter(targetID: 2, count: 1))
    for barrier in [add, reset, filter] {
      let list = [
        Self.change("r/a", 1, [2]), Self.snapshot(10), barrier, Self.change("r/a", 2, [2]), Self.snapshot(20),
      ]
      #expect(UnreadResponses.merged(list) == list)
    }
  }

  /// The documents in a client's targets at the last snapshot.
  private func folded(_ responses: [ListenResponse]) -> [Int32: [String: Document]] {
    var targets: [Int32: [String: Document]] = [:]
    var atSnapshot = targets
    for response in responses {
      switch response {
      case .documentChange(let change):
        for id in change.targetIDs { targets[id, default: [:]][change.document.name] = change.document }
        for id in change.removedTargetIDs { targets[id]?[change.document.name] = nil }
      case .documentDelete(let delete):
        for id in delete.removedTargetIDs { targets[id]?[delete.document] = nil }
      case .targetChange(let change) where change.kind == .reset:
        for id in change.targetIDs { targets[id] = nil }
      case .targetChange(let change) where change.targetIDs.isEmpty: atSnapshot = targets
      default: break
      }
    }
    return atSnapshot.filter { !$0.value.isEmpty }
  }

  @Test(arguments: [UInt64(1), 2, 3, 4])
  func `merged responses fold to what all of them fold to`(seed: UInt64) {
    var data = SplitMix(seed: seed)
    for _ in 0..<200 {
      var responses: [ListenResponse] = []
      var inside: [String: Set<Int32>] = [:]
      for number in 0..<40 {
        let id = data.pick(["r/a", "r/b", "r/c"])
        let before = inside[id] ?? []
        switch data.pick([0, 1, 2, 3, 4, 5, 6]) {
        case 0, 1, 2:
          let now = Set<Int32>(data.pick([[2], [2, 4], [4], [6, 2]]))
          inside[id] = now
          responses.append(Self.change(id, Int64(number), now.sorted(), removed: before.subtracting(now).sorted()))
        case 3:
          inside[id] = []
          responses.append(Self.delete(id, before.sorted()))
        case 4 where data.pick([0, 1, 2]) == 0:
          responses.append(.targetChange(TargetChange(.reset, targetIDs: [2])))
          for id in inside.keys { inside[id]?.remove(2) }
        default: responses.append(Self.snapshot(Int64(number)))
        }
      }
      let merged = UnreadResponses.merged(responses)
      #expect(folded(merged) == folded(responses), "seed \(seed)")
      #expect(merged.count <= responses.count)
      #expect(UnreadResponses.merged(merged) == merged)
    }
  }

  @Test func `unread responses are merged at the limit, and too many only beyond three quarters of it`() {
    func responses(_ id: String, _ number: Int64) -> [ListenResponse] {
      let text = Value.string(String(repeating: "x", count: 1000))
      let document = Document(name: name(id), fields: ["t": text, "n": .integer(number)])
      return [.documentChange(DocumentChange(document: document, targetIDs: [2])), Self.snapshot(number % 100)]
    }
    var unread = UnreadResponses(limit: 10_000)
    for number in 0..<1000 { #expect(unread.add(responses("r/a", Int64(number))) == .kept) }
    #expect(unread.bytes <= 10_000 && unread.responses.count < 20)
    #expect(unread.take().last == Self.snapshot(99))
    #expect(unread.isEmpty && unread.bytes == 0)
    let outcomes = (0..<12).map { unread.add(responses("r/\($0)", Int64($0))) }
    #expect(outcomes.first == .kept && outcomes.last == .tooMany)
    // The responses of one turn are kept, however many they are, as long as there are no others.
    _ = unread.take()
    #expect(unread.add((0..<40).flatMap { responses("r/\($0)", Int64($0)) }) == .kept)
  }

  @Test func `the first results of a target may be larger than the limit, and little may wait with them`() {
    func responses(_ count: Int) -> [ListenResponse] {
      let text = Value.string(String(repeating: "x", count: 1000))
      let changes = (0..<count).map { number in
        let document = Document(name: name("r/\(count)-\(number)"), fields: ["t": text])
        return ListenResponse.documentChange(DocumentChange(document: document, targetIDs: [2]))
      }
      return changes + [Self.snapshot(1)]
    }
    var unread = UnreadResponses(limit: 4_000)
    #expect(unread.add([.targetChange(TargetChange(.add, targetIDs: [2]))]) == .kept)
    #expect(unread.add(responses(20)) == .kept)
    #expect(unread.add([.targetChange(TargetChange(.remove, targetIDs: [2]))]) == .kept)
    #expect(unread.add(responses(1)) == .kept)
    #expect(unread.add(responses(3)) == .tooMany)
    // No number of responses without documents exceeds the limit.
    _ = unread.take()
    let outcomes = (0..<40).map { unread.add([.targetChange(TargetChange(.add, targetIDs: [$0]))]) }
    #expect(outcomes.first == .kept && outcomes.last == .tooMany)
  }

  @Test func `unread responses have the same size in however many turns they arrived`() {
    let responses = (0..<6).flatMap { [Self.change("r/\($0)", 1, [2]), Self.snapshot($0)] }
    var (inOne, inMany) = (UnreadResponses(limit: .max), UnreadResponses(limit: .max))
    #expect(inOne.add(responses) == .kept)
    for response in responses { #expect(inMany.add([response]) == .kept) }
    #expect(inOne.bytes == inMany.bytes && inOne.bytes > 0)
    #expect(inOne.responses == inMany.responses)
  }

  // MARK: Work concurrent with the commits

  @Test func `background work is done in large parts alone, and in short ones during other calls`() {
    var pace = WorkPace()
    var version: Int64 = 10
    for _ in 0..<8 {
      #expect(pace.note(.milliseconds(8), from: version, to: version + 1) == .zero)
      version += 1
    }
    #expect(pace.part == IndexTuning().largestPart)
    for _ in 0..<8 {
      version += 5
      let pause = pace.note(.microseconds(8 * pace.part), from: version, to: version + 1)
      #expect(pause > .zero)
    }
    #expect((64...180).contains(pace.part))
    #expect(pace.note(.seconds(3), from: version + 9, to: version + 10) == .milliseconds(5))
  }
}
