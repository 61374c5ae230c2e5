public import BenchmarkKit
import Foundation
import SQLiteBaseline
import VestaDatabaseBackend

/// The tree engine on its SQLite store, compared with SQLite by hand that writes rows of the same length.
///
/// `VESTA_BENCH_NODES` sets the size of the large tree (a million leaves).
public func databaseBenchmarks() -> [Benchmark] {
  [
    line("write-1", .ratio(atMost: 3), writes(tasks: 1, count: 2000), raw(perCommit: 1, count: 2000)),
    line("write-32", .ratio(atMost: 8), writes(tasks: 32, count: 10_000), raw(perCommit: 32, count: 10_016)),
    line("leaf-in-1m", .ratio(atMost: 1.5), leaf(in: largeTree, count: 1500), leaf(in: 1000, count: 1500)),
    line("fan-out-10-of-10k", .ratio(atMost: 1.3), fanOut(listeners: 10_000), fanOut(listeners: 10)),
    line("snapshot-10k", .ratio(atMost: 2), snapshot(), rowsByHand(10_000, rounds: 20)),
    line("value-10k", .ratio(atMost: 2), clientValue(), valueByHand()),
    line("update-500-paths", .ratio(atMost: 8), update(listeners: 100), raw(perCommit: 500, count: 5000)),
    line("update-500-beside-100", .ratio(atMost: 1.3), update(listeners: 100), update(listeners: 0)),
    line("p99-write-beside-readers", .ratio(atMost: 5), slowestWrite(readers: 2), slowestWrite(readers: 0)),
    line("build-1m-nodes", .ratio(atMost: 2), build(), buildByHand()),
    line("load-1m-nodes", .ratio(atMost: 2), load(), rowsByHand(100_000, rounds: 1)),
  ]
}

/// Removes the files that the benchmarks have made.
public func removeDatabaseBenchmarkFiles() async {
  do { try await DatabaseBench.remove() } catch { print("files of the benchmarks are left behind: \(error)") }
}

private let largeTree = ProcessInfo.processInfo.environment["VESTA_BENCH_NODES"].flatMap { Int($0) } ?? 1_000_000

/// One column of a line; returns nanoseconds for one operation.
typealias Side = (label: String, run: Benchmark.Run)

private func line(_ name: String, _ bar: Benchmark.Bar, _ ours: Side, _ other: Side) -> Benchmark {
  Benchmark(name: "database-\(name)", unit: .microseconds, bar: bar, ours: ours, other: other)
}

/// Times a body that does a given number of operations.
func side(
  _ label: String, count: Int, prepare: @escaping @Sendable (DatabaseBench) async throws -> Void = { _ in },
  _ body: @escaping @Sendable (DatabaseBench, _ seed: Int) async throws -> Void
) -> Side {
  (
    label,
    {
      do {
        let bench = try await DatabaseBench.shared()
        try await prepare(bench)
        // A separate seed for each run, or the written data would be there already.
        let seed = Int(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds)
        let start = ContinuousClock.now
        try await body(bench, seed)
        return (ContinuousClock.now - start) / .nanoseconds(1) / Double(count)
      } catch {
        preconditionFailure("the benchmark could not use its engine: \(error)")
      }
    }
  )
}

private func writes(tasks: Int, count: Int) -> Side {
  side("leaf writes from \(tasks)", count: count, prepare: { try await $0.fill("small", 100_000) }) { bench, seed in
    try await withThrowingTaskGroup { group in
      for task in 0..<tasks {
        group.addTask {
          let client = BenchClient(bench.engine, "small")
          for index in stride(from: task, to: count, by: tasks) {
            let number = Workload.mix(seed &+ index) % 100_000
            let path = DatabasePath("branch\(number / 1000)/leaf\(number % 1000)")
            try await client.call(.put(path, DatabaseNode(.int(Int64(seed &+ index))), hash: nil))
          }
          client.close()
        }
      }
      try await group.waitForAll()
    }
  }
}

/// The slowest hundredth of leaf writes concurrent with callers that read 100,000 leaves again and again.
private func slowestWrite(readers: Int) -> Side {
  let run = side("", count: 1, prepare: { try await $0.fill("small", 100_000) }) { _, _ in }.run
  return (
    "p99 of writes beside \(readers) readers",
    {
      _ = await run()
      do { return try await slowestWrite(beside: readers) } catch { preconditionFailure("a write failed: \(error)") }
    }
  )
}

private func slowestWrite(beside readers: Int) async throws -> Double {
  let bench = try await DatabaseBench.shared()
  let readers = (0..<readers).map { _ in
    Task {
      let client = BenchClient(bench.engine, "small")
      while !Task.isCancelled { try await client.call(.get(.root, .all)) }
      client.close()
    }
  }
  let client = BenchClient(bench.engine, "other")
  var times: [Double] = []
  for number in 0..<500 {
    let start = ContinuousClock.now
    try await client.call(.put(DatabasePath("leaf\(number)"), DatabaseNode(.int(Int64(number))), hash: nil))
    times.append((ContinuousClock.now - start) / .nanoseconds(1))
  }
  client.close()
  for reader in readers { reader.cancel() }
  for reader in readers { _ = await reader.result }
  return times.sorted()[times.count * 99 / 100]
}

private func raw(perCommit: Int, count: Int) -> Side {
  side("raw put, \(perCommit) a commit", count: count) { bench, seed in
    for first in stride(from: 0, to: count, by: perCommit) {
      bench.raw.begin()
      for index in first..<(first + perCommit) {
        bench.raw.put(
          Workload.value(seed &+ index, length: 12), for: Workload.key(Workload.mix(seed &+ index) % 100_000))
      }
      bench.raw.commit()
    }
  }
}

private func leaf(in size: Int, count: Int) -> Side {
  side("leaf write in \(size)", count: count, prepare: { try await $0.fill("tree\(size)", size) }) { bench, seed in
    let client = BenchClient(bench.engine, "tree\(size)")
    for index in 0..<count {
      let number = Workload.mix(seed &+ index) % size
      let path = DatabasePath("branch\(number / 1000)/leaf\(number % 1000)")
      try await client.call(.put(path, DatabaseNode(.int(Int64(seed &+ index))), hash: nil))
    }
    client.close()
  }
}

/// Writes that ten listeners are notified of, among `listeners`.
private func fanOut(listeners: Int) -> Side {
  let name = "fan\(listeners)"
  let prepare: @Sendable (DatabaseBench) async throws -> Void = { bench in
    let reader = bench.client(name)
    for index in reader.listenCount..<listeners {
      try await reader.listen(DatabasePath("rooms/\(index / 10)/l\(index % 10)"))
    }
  }
  return side("ten of \(listeners) hear", count: 500, prepare: prepare) { bench, seed in
    let reader = bench.client(name), writer = BenchClient(bench.engine, name)
    var expected = reader.dataCount
    for index in 0..<500 {
      let children = (0..<10).map { (DatabaseKey("l\($0)"), DatabaseNode(.int(Int64(seed &+ index)))) }
      try await writer.call(.put("rooms/0", DatabaseNode(children: children), hash: nil))
      expected += 10
      await reader.waitForData(expected)
    }
    writer.close()
  }
}

private func snapshot(_ take: @escaping @Sendable (DatabaseNode) -> Void = { _ in }) -> Side {
  side(
    "read of 10k children", count: 20,
    prepare: { bench in
      let client = BenchClient(bench.engine, "snapshot")
      let children = (0..<10_000).map { (DatabaseKey("k\($0)"), DatabaseNode(.int(Int64($0)))) }
      try await client.call(.put("all", DatabaseNode(children: children), hash: nil))
      client.close()
    }
  ) { bench, _ in
    let client = BenchClient(bench.engine, "snapshot")
    for _ in 0..<20 { take(try await client.call(.get(.root, .all)).node) }
    client.close()
  }
}

/// Rows of SQLite made into dictionaries of dictionaries by hand, without an order and without an engine.
///
/// The cost is that of a round of ten thousand rows, or of one row.
private func rowsByHand(_ rows: Int, rounds: Int) -> Side {
  side("\(rows) rows into dictionaries", count: rounds > 1 ? rounds : rows) { bench, _ in
    for _ in 0..<rounds { precondition(bench.readByHand(rows).count == rows / 1000) }
  }
}

/// A read of the engine, and its children put into a dictionary of what Foundation has for numbers.
private func valueByHand() -> Side {
  let (label, run) = snapshot { node in
    var values: [String: Any] = [:]
    node["all" as DatabaseKey].forEachChild { key, child in
      values[key.text] = NSNumber(value: child.leaf?.number ?? 0)
    }
    precondition(values.count == 10_000)
  }
  return (label + " into a dictionary", run)
}

/// One write to 500 places while listeners of as many rooms run; the cost is that of one place.
private func update(listeners: Int) -> Side {
  let name = "update\(listeners)"
  let prepare: @Sendable (DatabaseBench) async throws -> Void = { bench in
    let reader = bench.client(name)
    for index in reader.listenCount..<listeners { try await reader.listen(DatabasePath("r\(index)")) }
  }
  return side("500 places, \(listeners) listeners", count: 5000, prepare: prepare) { bench, seed in
    let writer = BenchClient(bench.engine, name)
    for round in 0..<10 {
      let values = (0..<500).map { index in
        DatabasePathValue(DatabasePath("r\(index)/v"), DatabaseNode(.int(Int64(seed &+ round))))
      }
      try await writer.call(.merge(.root, values))
    }
    writer.close()
  }
}

/// The whole large tree from the store into memory; the cost is that of one leaf.
private func load() -> Side {
  side("load of \(largeTree)", count: largeTree, prepare: { try await $0.fill("tree\(largeTree)", largeTree) }) {
    bench, _ in
    let client = BenchClient(bench.engine, "tree\(largeTree)")
    let before = residentBytes()
    let reply = try await client.call(.get(.root, .all))
    print(
      "database-load-1m-nodes: \((residentBytes() - before) >> 20) MiB for \(reply.node.childCount) branches of 1000")
    client.close()
  }
}

private func build() -> Side {
  side("nodes, each", count: 1_000_000) { _, seed in
    let before = residentBytes()
    var branches: [(DatabaseKey, DatabaseNode)] = []
    for branch in 0..<1000 {
      let leaves = (0..<1000).map { (DatabaseKey("leaf\($0)"), DatabaseNode(.int(Int64(seed &+ $0)))) }
      branches.append((DatabaseKey("branch\(branch)"), DatabaseNode(children: leaves)))
    }
    let tree = DatabaseNode(children: branches)
    print("database-build-1m-nodes: \((residentBytes() - before) >> 20) MiB for \(tree.childCount) branches of 1000")
  }
}

/// A place of a tree by hand: one object for each leaf, as a tree that shares its parts has to have.
private final class HandNode: Sendable {
  let key: String
  let value: Int
  let left, right: HandNode?
  let count: Int

  init?(_ leaves: ArraySlice<(key: String, value: Int)>) {
    guard !leaves.isEmpty else { return nil }
    let middle = leaves.startIndex + leaves.count / 2
    (key, value) = leaves[middle]
    left = HandNode(leaves[..<middle])
    right = HandNode(leaves[(middle + 1)...])
    count = 1 + (left?.count ?? 0) + (right?.count ?? 0)
  }
}

/// Leaves by hand: sorted by their keys, then made into balanced trees.
private func buildByHand() -> Side {
  side("trees by hand, each", count: 1_000_000) { _, seed in
    var branches: [String: HandNode] = [:]
    for branch in 0..<1000 {
      let leaves = (0..<1000).map { (key: "leaf\($0)", value: seed &+ $0) }
      branches["branch\(branch)"] = HandNode(leaves.sorted { $0.key < $1.key }[...])
    }
    precondition(branches.count == 1000)
  }
}

/// The memory of this process, where the system says it.
private func residentBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * 4096
}
