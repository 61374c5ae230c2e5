import Foundation
import Testing
import VestaStoreInteropCrashTesting
import VestaTesting

/// The memory of a process that transfers a large file.
///
/// 160 MiB; 2 GiB with `VESTA_SOAK=1`.
@Suite struct MemorySoakTests {
  @Test func `a large file is uploaded and downloaded in less than 64 MiB of memory`() async throws {
    let isSoak = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1"
    let length: UInt64 = isSoak ? 2 << 30 : 160 << 20
    let directory = try TemporaryDirectory()
    let path = directory.path(of: "file")
    try sparseFile(path, length)
    let lines = try await WorkerProcess("StorageCrashWorker", "memory", directory.path, path).finish()
    print("MemorySoakTests: \(length >> 20) MiB with \(lines)")
    #expect(lines.count == 1 && lines[0].hasPrefix("peak "), "\(lines)")
    // Where the system does not say it, the content is compared all the same.
    if let peak = Int(lines.last?.dropFirst(5) ?? "") { #expect(peak < 64) }
    #expect(FileManager.default.contentsEqual(atPath: path, andPath: path + ".back"))
  }

  /// A file that takes little space, with some bytes here and there.
  private func sparseFile(_ path: String, _ length: UInt64) throws {
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    var random = SplitMix(seed: 1)
    for index in 0..<64 {
      try file.seek(toOffset: length / 64 * UInt64(index) + random.next() % 100_000)
      try file.write(contentsOf: Data(random.bytes(10_000)))
    }
    try file.truncate(atOffset: length)
    try file.close()
  }
}
