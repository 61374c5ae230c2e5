public import VestaStoreInterop
import VestaTesting

/// A seeded history of random operations, for comparing one engine with another and with a plain model.
///
/// The same seed makes the same operations on every engine, and a right engine returns the same answers to them:
///
/// ```swift
/// let difference = try await StoreHistory(seed: 42, steps: 500).difference(on: store)
/// ```
///
/// There are transactions with reads among the changes, transactions that fail, reads of every kind, and snapshots held
/// over later commits. Keys are few and alike, so that the operations meet one another.
public struct StoreHistory: Sendable {
  /// The seed of the history.
  public let seed: UInt64

  /// How many transactions and reads it has.
  public let steps: Int

  /// A history; nothing runs yet.
  ///
  /// - Parameters:
  ///   - seed: Which history.
  ///   - steps: How many transactions and reads it has.
  public init(seed: UInt64, steps: Int) {
    self.seed = seed
    self.steps = steps
  }

  /// Runs the history on a store and on the model.
  ///
  /// - Parameter store: A new and empty store.
  /// - Returns: The first answer in which the two differ, with the seed; `nil` when there is none.
  public func difference(on store: any OrderedStore) async throws -> String? {
    let model = ModelStore()
    let expected = try await run(on: model)
    try await model.close()
    let found = try await run(on: store)
    guard
      let index = (0..<max(expected.count, found.count)).first(where: { index in
        index >= expected.count || index >= found.count || expected[index] != found[index]
      })
    else { return nil }
    let line = { (lines: [String]) in index < lines.count ? lines[index] : "nothing" }
    return "seed \(seed), line \(index): expected \(line(expected)), found \(line(found))"
  }

  /// Runs the history on a store.
  ///
  /// - Parameter store: A new and empty store.
  /// - Returns: Each call and its answer, one per line: equal for all right engines.
  /// - Throws: `ContractViolation` where versions run backwards, and whatever the store throws without being asked to.
  public func run(on store: any OrderedStore) async throws -> [String] {
    var run = HistoryRun(store: store, random: SplitMix(seed: seed))
    for _ in 0..<steps { try await run.step() }
    try await run.releaseAll()
    run.lines.append("end \(describe(try await store.everything()))")
    return run.lines
  }
}

/// A history that is under way.
private struct HistoryRun {
  let store: any OrderedStore
  var random: SplitMix
  var lines: [String] = []
  var last = StoreVersion.zero
  var held: [HeldSnapshot] = []

  mutating func step() async throws {
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<6: try await transact()
    case 6..<10: try await read()
    case 10: try await hold()
    default: if !held.isEmpty { try await release(Int.random(in: 0..<held.count, using: &random)) }
    }
  }

  private mutating func transact() async throws {
    let operations = (0..<Int.random(in: 0...8, using: &random)).map { _ in HistoryOperation.change(&random) }
    let fails = random.oneIn(6)
    let before = try await store.everything()
    do {
      let commit = try await store.write { transaction in
        var answers: [String] = []
        for operation in operations { answers.append(try await operation.perform(on: transaction)) }
        if fails { throw Failure() }
        return answers
      }
      lines.append("transaction \(commit.value)")
      let after = try await store.everything()
      try expect(commit.version >= last, "version \(commit.version) after \(last)")
      try expect(before == after || commit.version > last, "a change without a new version after \(last)")
      last = commit.version
    } catch is Failure {
      lines.append("failed transaction \(operations.count)")
      try expect(try await store.everything(), equals: before, "entries after a failed transaction")
    }
  }

  private mutating func read() async throws {
    let operations = (0..<Int.random(in: 1...3, using: &random)).map { _ in HistoryOperation.read(&random) }
    let answers = try await store.read { reader in
      var answers: [String] = []
      for operation in operations { answers.append(try await operation.perform(on: reader)) }
      return answers
    }
    lines.append("read \(answers)")
  }

  private mutating func hold() async throws {
    let operations = (0..<4).map { _ in HistoryOperation.read(&random) }
    let snapshot = HeldSnapshot(of: store, operations)
    await snapshot.pinned.wait()
    held.append(snapshot)
    if held.count > 3 { try await release(0) }
  }

  private mutating func release(_ index: Int) async throws {
    let snapshot = held.remove(at: index)
    snapshot.goOn.open()
    lines.append("snapshot \(try await snapshot.task.value)")
  }

  mutating func releaseAll() async throws {
    while !held.isEmpty { try await release(0) }
  }
}

/// A reader in a separate task, which reads the same twice: at once, and on request.
private struct HeldSnapshot {
  let pinned = Gate()
  let goOn = Gate()
  let task: Task<[String], any Error>

  init(of store: any OrderedStore, _ operations: [HistoryOperation]) {
    let (pinned, goOn) = (pinned, goOn)
    task = Task.detached {
      do {
        return try await store.read { reader in
          var answers: [String] = []
          for operation in operations { answers.append(try await operation.perform(on: reader)) }
          pinned.open()
          await goOn.wait()
          for operation in operations { answers.append(try await operation.perform(on: reader)) }
          return answers
        }
      } catch {
        pinned.open()
        throw error
      }
    }
  }
}

/// One operation with its arguments.
private enum HistoryOperation: Sendable {
  case get([UInt8])
  case getAll([[UInt8]])
  case scan(KeyRange, ScanOrder, limit: Int?, stopAfter: Int?)
  case put([UInt8], [UInt8])
  case delete([UInt8])
  case deleteRange(KeyRange)

  static func read(_ random: inout SplitMix) -> HistoryOperation {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .get(random.bytes(upTo: 3))
    case 1: return .getAll((0..<5).map { _ in random.bytes(upTo: 2) })
    default:
      return .scan(
        random.range(),
        random.oneIn(2) ? .ascending : .descending,
        limit: random.oneIn(2) ? nil : Int.random(in: 0...6, using: &random),
        stopAfter: random.oneIn(3) ? Int.random(in: 1...4, using: &random) : nil
      )
    }
  }

  static func change(_ random: inout SplitMix) -> HistoryOperation {
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<6: return .put(random.bytes(upTo: 4), random.bytes(upTo: 3))
    case 6..<8: return .delete(random.bytes(upTo: 3))
    case 8: return .deleteRange(random.range())
    default: return read(&random)
    }
  }

  /// Performs a read, or a change where the reader is a transaction; returns the answer with the question.
  func perform(on reader: any StoreReader) async throws -> String {
    switch self {
    case .get(let key):
      return "get \(key): \(describe(try await reader.get(key)))"
    case .getAll(let keys):
      return "get \(keys): \(try await reader.get(keys).map(describe))"
    case .scan(let range, let order, let limit, let stopAfter):
      return try await HistoryOperation.scan(range, order, limit, stopAfter, with: reader)
    case .put(let value, let key):
      try await (reader as? any StoreTransaction)?.put(value, for: key)
      return "put"
    case .delete(let key):
      try await (reader as? any StoreTransaction)?.delete(key)
      return "delete"
    case .deleteRange(let range):
      try await (reader as? any StoreTransaction)?.deleteRange(range)
      return "deleteRange"
    }
  }

  /// Scans, and continues once where the scan stopped: an engine may report a rest without entries or not.
  private static func scan(
    _ range: KeyRange,
    _ order: ScanOrder,
    _ limit: Int?,
    _ stopAfter: Int?,
    with reader: any StoreReader
  ) async throws -> String {
    var found: [StoreEntry] = []
    let end = try await reader.scan(range, order: order, limit: limit) { key, value in
      found.append(StoreEntry(key: key.bytes, value: value.bytes))
      return found.count == stopAfter ? .stop : .next
    }
    let rest = try await end.rest.asyncMap { try await reader.entries(in: $0, order: order) } ?? []
    return "scan \(range) \(order) \(end.visited): \(describe(found)), then \(describe(rest))"
  }
}

extension Optional {
  /// The value that a function makes of this one.
  fileprivate func asyncMap<Result>(_ transform: (Wrapped) async throws -> Result) async throws -> Result? {
    guard let self else { return nil }
    return try await transform(self)
  }
}

private func describe(_ value: [UInt8]?) -> String { value.map { "\($0)" } ?? "none" }

private func describe(_ entries: [StoreEntry]) -> String {
  entries.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
}
