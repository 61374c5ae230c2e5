import BenchmarkKit
import Foundation
import VestaConcurrency
import VestaFirestoreBackend

/// All documents of a large collection: the time to the first one, and the memory on the way to the last one.
func streamLines() -> [Benchmark] {
  [
    line("first-of-all-1m", .figure(atMost: 10_000), firstOfAll(documentCount), firstOfAll(1_000)),
    Benchmark(
      name: "firestore-memory-of-all-1m", unit: .kibibytes, bar: .figure(atMost: 32_768),
      ours: ("anonymous memory beyond the start", { await memory(ofAll: documentCount) }),
      other: ("the same for 1,000", { await memory(ofAll: 1_000) })),
  ]
}

/// Begins a query and gives it up at its first result.
private func firstOfAll(_ size: Int) -> Side {
  let name = "reads-\(size)"
  return Side("first of \(size)", count: 20, prepare: { try await $0.fill(name, size) }) { bench, count, _ in
    for _ in 0..<count {
      do { try await bench.runAll(in: name) { throw Enough() } } catch is Enough {}
    }
  }
}

private struct Enough: Error {}

/// How much more anonymous memory the process has at most while it reads all documents and keeps none, in bytes.
///
/// Pages of the store's file do not count: the system takes them back when it needs to. A first run fills the caches.
private func memory(ofAll size: Int) async -> Double {
  let name = "reads-\(size)"
  do {
    let bench = try await FirestoreBench.shared()
    try await bench.fill(name, size)
    var most = 0.0
    for _ in 0..<2 {
      let before = anonymousBytes()
      let state = Locked((seen: 0, most: before))
      try await bench.runAll(in: name) {
        state.withLock { state in
          state.seen += 1
          if state.seen % 1_000 == 0 { state.most = max(state.most, anonymousBytes()) }
        }
      }
      most = state.withLock { $0.most } - before
    }
    return most
  } catch {
    preconditionFailure("the benchmark could not use its engine: \(error)")
  }
}

/// The anonymous memory of the process; zero on systems that have no such file.
private func anonymousBytes() -> Double {
  guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
  for line in status.split(separator: "\n") where line.hasPrefix("RssAnon:") {
    let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
    return words.dropFirst().first.flatMap { Double($0) }.map { $0 * 1_024 } ?? 0
  }
  return 0
}
