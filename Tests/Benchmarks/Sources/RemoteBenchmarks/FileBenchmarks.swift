import BenchmarkKit
import Foundation
import VestaConcurrency
import VestaCore
import VestaStorage
import VestaStorageRemote
import VestaTransport

/// A gibibyte from a server to a file, compared with curl; the bar is 0.8 of its speed.
let download = Benchmark(
  name: "remote-download", unit: .microseconds, bar: .ratio(atMost: 1.25),
  ours: ("1 GiB by writeAsync", figure { try await FileBench.shared().download() }),
  other: ("curl", figure { try await FileBench.shared().curl() }))

/// The size of a program with Auth and Firestore by their remote backends, without symbols; 12 MB.
let binary = Benchmark(
  name: "remote-binary", unit: .kibibytes, bar: .figure(atMost: 12_000_000 / 1_024),
  ours: ("stripped", figure { try await sizeOfProgram() }), other: ("nothing", { .nan }))

private func sizeOfProgram() async throws -> Double {
  let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
  let program = folder.appendingPathComponent("vesta-remote-program")
  let copy = FileManager.default.temporaryDirectory.appendingPathComponent("vesta-bench-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: copy) }
  _ = await Program.output("/usr/bin/env", arguments: ["strip", "-o", copy.path, program.path])
  let attributes = try FileManager.default.attributesOfItem(atPath: copy.path)
  return (attributes[.size] as? NSNumber)?.doubleValue ?? .nan
}

/// An object of a gibibyte at a server whose data is on the disk.
private final class FileBench: Sendable {
  private static let made = Locked<FileBench?>(nil)
  private static let making = SingleFlight<Bool, FileBench>()
  private static let size = 1 << 30

  private let directory: URL
  private let object: StorageReference
  private let address: String

  static func shared() async throws -> FileBench {
    if let made = made.withLock({ $0 }) { return made }
    return try await making.value(for: true) {
      let bench = try await FileBench()
      made.withLock { $0 = bench }
      return bench
    }
  }

  private init() async throws {
    let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
    directory = URL(fileURLWithPath: "\(base)/vesta-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let port = try RemoteServer.port(data: directory.appendingPathComponent("data").path)
    let options = VestaOptions(projectID: "bench", backend: .emulator(host: "127.0.0.1", port: port))
    options.storageBucket = "bench.appspot.com"
    let app = try VestaApp.configure(
      name: "files", options: options,
      libraries: [StorageLibrary.self, StorageRemoteLibrary.self, TransportLibrary.self])
    object = try Storage.instance(for: app).reference(withPath: "large")
    address = "http://127.0.0.1:\(port)/v0/b/bench.appspot.com/o/large?alt=media"
    let source = directory.appendingPathComponent("source")
    _ = FileManager.default.createFile(atPath: source.path, contents: nil)
    let handle = try FileHandle(forWritingTo: source)
    let piece = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    for _ in 0..<Self.size / piece.count { try handle.write(contentsOf: piece) }
    try handle.close()
    _ = try await object.putFileAsync(from: source)
    try FileManager.default.removeItem(at: source)
  }

  func download() async throws -> Double {
    try await timed { file in _ = try await self.object.writeAsync(toFile: file) }
  }

  func curl() async throws -> Double {
    try await timed { file in
      _ = await Program.output("/usr/bin/curl", arguments: ["-s", "-S", "-o", file.path, self.address])
    }
  }

  private func timed(_ body: (URL) async throws -> Void) async throws -> Double {
    let file = directory.appendingPathComponent("copy")
    let clock = ContinuousClock(), start = clock.now
    try await body(file)
    let time = (clock.now - start) / .nanoseconds(1)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    guard (attributes[.size] as? NSNumber)?.intValue == Self.size else { return .nan }
    try FileManager.default.removeItem(at: file)
    return time
  }
}
