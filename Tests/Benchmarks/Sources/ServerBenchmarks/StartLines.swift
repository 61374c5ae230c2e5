import BenchmarkKit
import Foundation

/// From the start of the process until all ports are open, and the memory of a server without calls.
func startLines(_ bench: ServerBench) -> [Benchmark] {
  let empty = bench.directory.appending(path: "empty")
  let copy = bench.directory.appending(path: "copy")

  @Sendable func starting(_ folder: URL, from source: URL?) async -> Double {
    do {
      try? FileManager.default.removeItem(at: folder)
      if let source {
        try FileManager.default.copyItem(at: source, to: folder)
      } else {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      }
      let server = try await VestaProcess.start(folder)
      defer { server.kill() }
      return server.startNanoseconds
    } catch {
      print("failed: \(error)")
      return .nan
    }
  }

  return [
    Benchmark(
      name: "server-start-empty", unit: .microseconds, bar: .figure(atMost: 100_000),
      ours: ("all ports answer", { await starting(empty, from: nil) }),
      other: ("a process of python3", { await pythonStart() })),
    Benchmark(
      name: "server-start-filled", unit: .microseconds, bar: .figure(atMost: 150_000),
      ours: ("with 100,000 documents", { await starting(copy, from: bench.directory.appending(path: "served")) }),
      other: ("empty", { await starting(empty, from: nil) })),
    Benchmark(
      name: "server-memory", unit: .kibibytes, bar: .figure(atMost: 40 * 1_024),
      ours: (
        "idle",
        {
          try? FileManager.default.removeItem(at: empty)
          try? FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
          guard let server = try? await VestaProcess.start(empty) else { return .nan }
          defer { server.kill() }
          return Memory.resident(server.id)
        }
      ),
      other: ("this process", { Memory.resident() })),
  ]
}

/// A measure of the machine: an interpreter that does nothing.
private func pythonStart() async -> Double {
  let clock = ContinuousClock()
  let start = clock.now
  _ = await Program.output("/usr/bin/python3", "-c", "pass")
  return (clock.now - start) / .nanoseconds(1)
}
