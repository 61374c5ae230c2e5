import Foundation
import Testing
import VestaFirestoreBackend
import VestaFirestoreService
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import FirestoreCrashWorker

/// Kills a process that commits, at a random time, and looks at what it left behind.
///
/// 10 rounds; 100 with `VESTA_SOAK=1`.
@Suite struct CrashSoakTests {
  @Test func `what was acknowledged survives a kill, and the rest is whole or absent`() async throws {
    let rounds = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 100 : 10
    let seed = UInt64.random(in: 0...UInt64.max)
    print("CrashSoakTests: seed \(seed)")
    var random = SplitMix(seed: seed)
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-firestore-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    var state = State()
    for round in 0..<rounds {
      let tasks = round % 2 == 0 ? 1 : 8
      let worker = try WorkerProcess("FirestoreCrashWorker", directory.path, "\(round)", "\(state.first)", "\(tasks)")
      let delay = Int.random(in: 0...120_000, using: &random)
      let lines = try await worker.killAfter(
        microseconds: delay, afterLine: round % 5 == 4 ? nil : "ready", andMore: 4 + random.below(6))
      #expect(!lines.contains { $0.hasPrefix("error") }, "\(lines)")
      let engine = try await Worker.engine(in: directory.path)
      try await state.check(engine, round: round, tasks: tasks, acknowledged: lines)
      try await engine.close()
    }
    #expect(state.batches > rounds)
  }
}

/// The knowledge that is kept from one round to the next.
private struct State {
  /// The first number that is free.
  var first = 1
  /// How many batches have been found.
  var batches = 0
  private var highestVersion: Int64 = 0
  private var counter = Memory(StructuredQuery(from: [.init(collectionID: "counters")]))
  private var parts: Memory?

  mutating func check(_ engine: FirestoreEngine, round: Int, tasks: Int, acknowledged lines: [String]) async throws {
    let acknowledged = lines.compactMap(Acknowledgement.init)
    let found = try await engine.all(Batch.collection(round))
    let present = checkBatches(found, round: round, acknowledged: acknowledged)
    let marks = try await engine.all("marks\(round)")
    #expect(marks.count <= tasks, "round \(round): of each task one mark")
    #expect(marks.isEmpty == present.isEmpty, "round \(round)")
    batches += present.count
    try await checkCounter(engine, round: round)
    try await checkIndexes(engine, found, round: round)
    try await checkVersions(engine, acknowledged, found, round: round)
    try await checkTokens(engine, round: round)
    first = max(first, (present.max() ?? 0), (acknowledged.map(\.number).max() ?? 0)) + tasks
  }

  /// Every batch is whole or absent, and there if it was acknowledged.
  private func checkBatches(_ found: [Document], round: Int, acknowledged: [Acknowledgement]) -> Set<Int> {
    var byBatch: [Int: [Document]] = [:]
    for document in found {
      guard case .integer(let number)? = document.fields["batch"] else { continue }
      byBatch[Int(number), default: []].append(document)
    }
    for acknowledgement in acknowledged {
      #expect(byBatch[acknowledgement.number] != nil, "round \(round): \(acknowledgement) is lost")
    }
    for (number, documents) in byBatch {
      let batch = Batch(number: number, round: round, previous: nil)
      #expect(documents.count == Batch.parts, "round \(round): \(documents.count) parts of \(number)")
      #expect(Set(documents.map(\.updateTime)).count == 1, "round \(round): \(number) has one time")
      for part in 0..<Batch.parts {
        var fields = documents.first { $0.name == "\(root)/\(batch.path(part))" }?.fields
        #expect(fields?["at"] != nil, "round \(round): \(number)")
        fields?["at"] = nil
        #expect(fields == batch.fields(part), "round \(round): \(number)")
      }
    }
    return Set(byBatch.keys)
  }

  /// The document that all batches share has counted the existing ones, and no other.
  private func checkCounter(_ engine: FirestoreEngine, round: Int) async throws {
    let counter = try await engine.all("counters").first?.fields["count"] ?? .integer(0)
    #expect(counter == .integer(Int64(batches)), "round \(round)")
  }

  private func checkIndexes(_ engine: FirestoreEngine, _ found: [Document], round: Int) async throws {
    for (number, query) in Indexed.queries(round).enumerated() {
      let expected = Set(found.filter { Indexed.matches(number, $0.fields) })
      let early = try await engine.documents(query)
      #expect(Set(early) == expected, "round \(round), query \(number)")
      let indexed = try #require(try await engine.indexed(query), "round \(round), query \(number) has no index")
      #expect(indexed.count == expected.count && Set(indexed) == expected, "round \(round), query \(number)")
    }
  }

  /// Versions grow: in the order of acknowledgements of a task, and over the kill.
  private mutating func checkVersions(
    _ engine: FirestoreEngine, _ acknowledged: [Acknowledgement], _ found: [Document], round: Int
  ) async throws {
    let times = Dictionary(
      found.map { ($0.fields["batch"] ?? .null, $0.updateTime?.microseconds) }, uniquingKeysWith: { $1 })
    for acknowledgement in acknowledged {
      #expect(acknowledgement.version > highestVersion, "round \(round)")
      #expect(times[.integer(Int64(acknowledgement.number))] == acknowledgement.version, "round \(round)")
    }
    let last = found.compactMap { $0.updateTime?.microseconds }.max() ?? 0
    let next = try await engine.commit([.delete("\(root)/none/none")]).commitTime.microseconds ?? 0
    #expect(next > max(last, highestVersion), "round \(round)")
    highestVersion = next
  }

  /// A listener from before the kill receives what it has missed, without starting over.
  private mutating func checkTokens(_ engine: FirestoreEngine, round: Int) async throws {
    let isFirst = parts == nil
    var parts = self.parts ?? Memory(StructuredQuery(from: [.init(collectionID: Batch.collection(round))]))
    try await parts.catchUp(with: engine)
    try await counter.catchUp(with: engine)
    #expect(!parts.wasReset && !counter.wasReset, "round \(round)")
    for memory in isFirst ? [counter] : [parts, counter] {
      let found = try await engine.documents(memory.query)
      #expect(Set(memory.documents.values) == Set(found), "round \(round)")
    }
    var next = Memory(StructuredQuery(from: [.init(collectionID: Batch.collection(round + 1))]))
    try await next.catchUp(with: engine)
    self.parts = next
  }
}

/// A line that a batch was committed.
private struct Acknowledgement {
  let number: Int
  let version: Int64

  init?(_ line: String) {
    let words = line.split(separator: " ")
    guard words.count == 2, let number = Int(words[0]), let version = Int64(words[1]) else { return nil }
    (self.number, self.version) = (number, version)
  }
}
