public import BenchmarkKit
import Foundation
import VestaBytes
import VestaConcurrency
import VestaCrypto
import VestaCryptoInterop
import VestaServiceInterop
import VestaStorage
import VestaStorageBackend

/// The cost of Storage, compared with the file system under it.
///
/// Times of whole files are given for each MiB.
public func storageBenchmarks() -> [Benchmark] {
  [
    Benchmark(
      name: "storage: upload of 1 GiB with CRC-32C, each MiB", unit: .microseconds, bar: .ratio(atMost: 1 / 0.6),
      ours: ("putFile", { await perMiB { try await $0.upload() } }),
      other: ("cp and sync", { await perMiB { try RawFiles.copy($0.source, to: $0.target) } })),
    Benchmark(
      name: "storage: upload of 256 MiB with MD5 too, each MiB", unit: .microseconds, bar: .none,
      ours: ("putFile", { await perMiB(of: StorageBench.digestedLength) { try await $0.uploadDigested() } }),
      other: (
        "cp and sync",
        { await perMiB(of: StorageBench.digestedLength) { try RawFiles.copy($0.digested, to: $0.target) } }
      )),
    Benchmark(
      name: "storage: hashing of 1 GiB, each MiB", unit: .microseconds, bar: .none,
      ours: ("MD5 and CRC-32C", { await perMiB { try $0.hash() } }),
      other: ("cp and sync", { await perMiB { try RawFiles.copy($0.source, to: $0.target) } })),
    Benchmark(
      name: "storage: download of 1 GiB, each MiB", unit: .microseconds, bar: .ratio(atMost: 1 / 0.6),
      ours: ("write(toFile:)", { await perMiB { try await $0.download() } }),
      other: ("cp and sync", { await perMiB { try RawFiles.copy($0.source, to: $0.target) } })),
    Benchmark(
      name: "storage: 10,000 objects of 4 KiB, 16 at once, each", unit: .microseconds, bar: .ratio(atMost: 1 / 0.6),
      ours: ("putData", { await perObject { try await $0.putSmall($1) } }),
      other: ("write, sync, rename", { await perObject { try RawFiles.put($0.small, in: $0.directory, $1) } })),
    Benchmark(
      name: "storage: list of 1,000 in a bucket of \(StorageBench.largeCount)", unit: .microseconds,
      bar: .ratio(atMost: 1.5),
      ours: ("a large bucket", { await list(in: StorageBench.large) }),
      other: ("a bucket of 1,000", { await list(in: StorageBench.little) })),
  ]
}

private func perMiB(
  of length: Int = StorageBench.fileLength, _ work: @Sendable (StorageBench) async throws -> Void
) async -> Double {
  await timed { bench in try await work(bench) } / Double(length >> 20)
}

/// 10,000 objects in 16 lanes.
private func perObject(_ work: @escaping @Sendable (StorageBench, Int) async throws -> Void) async -> Double {
  await timed { bench in
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<16 {
        group.addTask { for number in 0..<625 { try await work(bench, lane * 625 + number) } }
      }
      try await group.waitForAll()
    }
  } / 10_000
}

private func list(in bucket: String) async -> Double {
  let request = ListRequest(bucket: bucket, prefix: "5", delimiter: "/", maximumResults: 1000)
  return await timed { bench in
    for _ in 0..<20 { keep(try await bench.backend.listObjects(request, context: CallContext()).items.count) }
  } / 20
}

private func timed(_ work: (StorageBench) async throws -> Void) async -> Double {
  do {
    let bench = try await StorageBench.shared()
    let clock = ContinuousClock()
    let start = clock.now
    try await work(bench)
    return (clock.now - start) / .nanoseconds(1)
  } catch {
    preconditionFailure("the benchmark failed: \(error)")
  }
}
