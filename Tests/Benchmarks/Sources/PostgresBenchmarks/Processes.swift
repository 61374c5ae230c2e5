import BenchmarkKit
import Foundation
import VestaStoreInterop

/// Reads of two processes beside those of one, with 1 ms added to each round trip: what a server has to give that one
/// process cannot take.
let processes = Benchmark(
  name: "postgres-get-two-processes", unit: .microseconds, bar: .ratio(atMost: 1 / 1.6),
  ours: ("two processes", { await costOfReads(processes: 2) }),
  other: ("one process", { await costOfReads(processes: 1) }))

private let reads = 6_000

/// Nanoseconds for one read, all processes together.
private func costOfReads(processes: Int) async -> Double {
  do {
    _ = try await PostgresBench.shared.store(0)
    let costs = try await withThrowingTaskGroup(of: Double.self) { group in
      for _ in 0..<processes { group.addTask { try await costInChild() } }
      return try await group.reduce(into: [Double]()) { $0.append($1) }
    }
    return 1 / costs.map { 1 / $0 }.reduce(0, +)
  } catch {
    preconditionFailure("the benchmark could not use its store: \(error)")
  }
}

private func costInChild() async throws -> Double {
  let (process, output) = (Process(), Pipe())
  process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
  process.arguments = ["read"]
  process.standardOutput = output
  try process.run()
  return await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      continuation.resume(returning: Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .infinity)
    }
  }
}

/// The work of a child process: it reads, and prints the cost of a read.
///
/// It has a proxy of its own that adds the latency, as each of two machines has its own connection to the server.
public func readAsChild() async {
  do {
    let store = try await PostgresBench.shared.open(1_000)
    let read: @Sendable (Int) async throws -> Void = { number in
      _ = try await store.get(PostgresBench.key(number &* 7_919 % PostgresBench.keys))
    }
    _ = await PostgresBench.cost(64, tasks: 32, read)
    print(await PostgresBench.cost(reads, tasks: 32, read))
    try await store.close()
  } catch {
    print("failed: \(error)")
  }
}
