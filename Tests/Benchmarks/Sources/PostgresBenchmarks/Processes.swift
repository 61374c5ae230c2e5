import BenchmarkKit
import Foundation
import PostgresBaseline
import VestaPostgres
import VestaStoreInterop

/// Reads of two processes compared with one: the capacity of a server that one process cannot use.
///
/// A process has a fixed number of connections, and each waits for its answer: that limits one process, and two have
/// twice as many. Four milliseconds are added to each round trip, so that this is what limits them here too. With
/// less, the server, both processes and what adds the latency want more than the two cores that they share. The line by
/// hand has as many threads as a store has connections, and the same latency.
let processes = [
  Benchmark(
    name: "postgres-get-two-processes", unit: .microseconds, bar: .ratio(atMost: 1 / 1.6),
    ours: ("two processes", { await costOfReads("read", processes: 2) }),
    other: ("one process", { await costOfReads("read", processes: 1) })),
  Benchmark(
    name: "postgres-get-two-processes-by-hand", unit: .microseconds, bar: .none,
    ours: ("two processes by hand", { await costOfReads("read-by-hand", processes: 2) }),
    other: ("one process by hand", { await costOfReads("read-by-hand", processes: 1) })),
]

private let latency = 4_000

private let reads = 6_000

/// Reads before the measured ones, so that every connection is open and its server warm.
private let firstReads = 1_000

/// Nanoseconds for one read, all processes together.
private func costOfReads(_ work: String, processes: Int) async -> Double {
  do {
    _ = try await PostgresBench.shared.store(0)
    let costs = await withTaskGroup(of: Double.self) { group in
      for _ in 0..<processes { group.addTask { await costInChild(work) } }
      return await group.reduce(into: [Double]()) { $0.append($1) }
    }
    return 1 / costs.map { 1 / $0 }.reduce(0, +)
  } catch {
    preconditionFailure("the benchmark could not use its store: \(error)")
  }
}

private func costInChild(_ work: String) async -> Double {
  let (process, output) = (Process(), Pipe())
  process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
  process.arguments = [work]
  process.standardOutput = output
  do { try process.run() } catch { preconditionFailure("the benchmark could not start itself: \(error)") }
  return await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      continuation.resume(returning: Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .infinity)
    }
  }
}

/// The work of a child process, if the arguments are its: it reads, and prints the cost of a read.
///
/// It has a separate proxy that adds the latency, as each of two machines has its own connection to the server.
public func workAsChild(_ arguments: [String]) async -> Bool {
  guard let work = arguments.first, arguments.count == 1, work == "read" || work == "read-by-hand" else { return false }
  do {
    if work == "read" { try await readByStore() } else { try await readByHand() }
  } catch {
    print("failed: \(error)")
  }
  return true
}

private func key(_ number: Int) -> [UInt8] { PostgresBench.key(number &* 7_919 % PostgresBench.keys) }

private func readByStore() async throws {
  let store = try await PostgresBench.shared.open(latency)
  let read: @Sendable (Int) async throws -> Void = { _ = try await store.get(key($0)) }
  _ = await PostgresBench.cost(firstReads, tasks: 32, read)
  print(await PostgresBench.cost(reads, tasks: 32, read))
  try await store.close()
}

private func readByHand() async throws {
  let url = try await PostgresBench.shared.url(latency)
  let read: @Sendable (RawPostgres, Int) -> Void = { _ = $0.get(key($1)) }
  _ = await PostgresBench.rawCost(url, firstReads, threads: PostgresOptions().connections, read)
  print(await PostgresBench.rawCost(url, reads, threads: PostgresOptions().connections, read))
}
