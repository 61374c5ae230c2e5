import BenchmarkKit
import Foundation
import VestaBytes
import VestaFirestoreWire

/// Calls of Firestore by the server compared with calls of an engine in this process.
func callLines(_ bench: ServerBench) throws -> [Benchmark] {
  let query = try RunQueryRequestWire.bytes(of: ServerBench.query(77))
  let json = try RunQueryRequestWire.json(of: ServerBench.query(77))
  return [
    // Half of the rate of the engine with 32 tasks, and 12,000 in a second.
    Benchmark(
      name: "server-sets", unit: .microseconds, bar: .both(figure: 83.33, ratio: 2),
      ours: (
        "64 over gRPC",
        {
          let seed = bench.nextSeed()
          return await together(64, 12_800) { try await bench.setByWire($0, seed: seed) }
        }
      ),
      other: (
        "32 tasks",
        {
          let seed = bench.nextSeed()
          return await together(32, 12_800) { try await bench.setByEngine($0, seed: seed) }
        }
      )),
    Benchmark(
      name: "server-gets", unit: .microseconds, bar: .figure(atMost: 33.33),
      ours: (
        "64 over gRPC",
        {
          await H2Load.calls(bench.authority, ServerBench.path("GetDocument"), ServerBench.get(4_711), count: 60_000)
        }
      ),
      other: ("32 tasks", { await together(32, 60_000) { try await bench.getByEngine($0) } })),
    Benchmark(
      name: "server-get-one", unit: .microseconds, bar: .figure(atMost: 150),
      ours: (
        "over the engine's",
        {
          let wire = await medianTime(4_000) { try await bench.getByWire($0) }
          return await wire - medianTime(4_000) { try await bench.getByEngine($0) }
        }
      ),
      other: ("the engine's", { await medianTime(4_000) { try await bench.getByEngine($0) } })),
    Benchmark(
      name: "server-query", unit: .microseconds, bar: .figure(atMost: 100),
      ours: (
        "64 over gRPC",
        { await H2Load.calls(bench.authority, ServerBench.path("RunQuery"), query, count: 10_000) }
      ),
      other: ("32 tasks", { await together(32, 10_000) { _ in try await bench.queryByEngine(77) } })),
    Benchmark(
      name: "server-query-rest", unit: .microseconds, bar: .figure(atMost: 200),
      ours: (
        "64 over HTTP/1.1",
        {
          await H2Load.run(
            "http://\(bench.authority)/v1/\(ServerBench.root):runQuery", json, count: 10_000,
            fields: ["content-type: application/json"], arguments: ["--h1", "-c64"])
        }
      ),
      other: ("32 tasks", { await together(32, 10_000) { _ in try await bench.queryByEngine(77) } })),
  ]
}
