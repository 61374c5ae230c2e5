import BenchmarkKit
import Foundation

/// 256 MiB up and down by curl, compared with a copy of the file with its checksum.
func storageLines(_ bench: ServerBench) throws -> [Benchmark] {
  let port = try bench.server.port(of: "storage")
  let file = bench.directory.appending(path: "large")
  let object = "http://127.0.0.1:\(port)/v0/b/bench.appspot.com/o"
  let mebibytes = 256

  @Sendable func perMiB(_ program: String, _ arguments: [String], succeeds: @Sendable (String) -> Bool) async -> Double
  {
    if !FileManager.default.fileExists(atPath: file.path) {
      _ = await Program.output("/bin/sh", "-c", "head -c \(mebibytes)M /dev/urandom > '\(file.path)' && sync")
    }
    let clock = ContinuousClock()
    let start = clock.now
    let output = await Program.output(program, arguments: arguments)
    guard succeeds(output) else {
      print(output)
      return .nan
    }
    return ((clock.now - start) / .nanoseconds(1)) / Double(mebibytes)
  }
  @Sendable func upload() async -> Double {
    await perMiB(
      "/usr/bin/curl",
      [
        "-s", "-X", "POST", "-T", file.path, "-H", "Authorization: Bearer owner", "-H", "X-Goog-Upload-Protocol: raw",
        "-H", "Content-Type: application/octet-stream", "-H", "Expect:", "\(object)?name=large",
      ]
    ) { $0.contains("\"size\"") }
  }
  @Sendable func download() async -> Double {
    await perMiB(
      "/usr/bin/curl",
      [
        "-s", "-o", "/dev/null", "-w", "%{size_download}", "-H", "Authorization: Bearer owner",
        "\(object)/large?alt=media",
      ]
    ) { $0 == "\(mebibytes << 20)" }
  }
  // The same work as an upload's: the file is read, summed up, written and synced.
  @Sendable func copy() async -> Double {
    let target = bench.directory.appending(path: "copy-of-large").path
    return await perMiB(
      "/bin/sh", ["-c", "tee '\(target)' < '\(file.path)' | md5sum && sync '\(target)' && echo done"]
    ) { $0.contains("done") }
  }
  // A download reads, and the client has the checksum.
  @Sendable func read() async -> Double {
    await perMiB("/bin/sh", ["-c", "md5sum '\(file.path)' && echo done"]) { $0.contains("done") }
  }
  @Sendable func memory(_ transfer: @Sendable () async -> Double) async -> Double {
    let before = Memory.resident(bench.server.id)
    Memory.forgetPeak(bench.server.id)
    guard await transfer().isFinite else { return .nan }
    return max(0, Memory.peak(bench.server.id) - before)
  }
  return [
    Benchmark(
      name: "server-upload", unit: .microseconds, bar: .ratio(atMost: 1 / 0.6),
      ours: ("curl, 1 MiB", { await upload() }), other: ("copy and checksum", { await copy() })),
    Benchmark(
      name: "server-download", unit: .microseconds, bar: .ratio(atMost: 1 / 0.6),
      ours: ("curl, 1 MiB", { await download() }), other: ("read and checksum", { await read() })),
    Benchmark(
      name: "server-upload-memory", unit: .kibibytes, bar: .figure(atMost: 8 * 1_024),
      ours: ("more than before", { await memory(upload) }), other: ("idle", { Memory.resident(bench.server.id) })),
    Benchmark(
      name: "server-download-memory", unit: .kibibytes, bar: .figure(atMost: 8 * 1_024),
      ours: ("more than before", { await memory(download) }), other: ("idle", { Memory.resident(bench.server.id) })),
  ]
}
