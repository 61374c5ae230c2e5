import BenchmarkKit
import SQLiteBaseline
import VestaConcurrency
import VestaFirestoreBackend

/// Documents at a past time.
func pastLines() -> [Benchmark] {
  [
    line("get-in-the-past", .ratio(atMost: 3), pastGets(changed: true), presentGets),
    line("get-in-the-past-unchanged", .ratio(atMost: 3), pastGets(changed: false), presentGets),
  ]
}

private let documents = 10_000

/// The time before the first half of the documents was changed three times.
private let past = Locked<Timestamp?>(nil)

@Sendable private func prepare(_ bench: FirestoreBench) async throws {
  try await bench.fill("past", documents)
  guard past.withLock({ $0 }) == nil else { return }
  let time = try await bench.commitTime(in: "past")
  let root = FirestoreBench.root("past")
  for round in 1...3 {
    for number in 0..<documents / 2 {
      try await bench.commit([.update(Items.document(number, in: root, seed: round))], in: "past")
    }
  }
  past.withLock { $0 = time }
}

/// Gets of two documents at the time before the changes.
private func pastGets(changed: Bool) -> Side {
  Side(changed ? "get before three changes" : "get, unchanged since", count: 2_000, prepare: prepare) {
    bench, count, seed in
    guard let time = past.withLock({ $0 }) else { preconditionFailure("there is no past") }
    try await twos(bench, count, seed, in: changed ? 0..<documents / 2 : documents / 2..<documents, .readTime(time))
  }
}

/// Gets of two documents at the latest version; of one it might be answered from memory.
private let presentGets = Side("get, latest", count: 2_000, prepare: prepare) { bench, count, seed in
  try await twos(bench, count, seed, in: 0..<documents, .latest)
}

private func twos(
  _ bench: FirestoreBench, _ count: Int, _ seed: Int, in range: Range<Int>, _ consistency: ReadConsistency
) async throws {
  let root = FirestoreBench.root("past")
  for index in 0..<count {
    let first = Workload.mix(seed &+ index) % (range.count - 1) + range.lowerBound
    let names = [first, first + 1].map { "\(root)/\(Items.collection)/\(Items.id($0))" }
    let found = try await bench.getAll(names, in: "past", consistency: consistency)
    precondition(found == 2, "\(found) of 2 were there")
  }
}
