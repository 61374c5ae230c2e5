import Foundation
import StorageHarness
import VestaCore
import VestaStorage
import VestaTesting

/// Uploads and replaces objects until it is killed, and says what has been acknowledged.
enum Worker {
  /// - Parameter arguments: The directory, the seed, and the file that is uploaded; `full` and the directory; `memory`,
  ///   the directory and a file; `many`, the directory and a file; or `oracle`, the directory, a name, the seed and the
  ///   number of the first call.
  static func run(_ arguments: [String]) async {
    if arguments.count == 2, arguments[0] == "full" { return await fill(arguments[1]) }
    if arguments.count == 3, arguments[0] == "memory" { return await transfer(arguments[2], in: arguments[1]) }
    if arguments.count == 3, arguments[0] == "many" { return await uploadMany(arguments[2], in: arguments[1]) }
    if arguments.first == "oracle" { return await OracleProgram.run(Array(arguments.dropFirst())) }
    guard arguments.count == 3, let seed = UInt64(arguments[1]) else { exit(2) }
    do {
      let harness = try StorageHarness(directory: arguments[0], name: "crash")
      say("ready")
      await withTaskGroup(of: Void.self) { group in
        for lane in 0..<3 { group.addTask { await replace(lane, seed, harness.storage) } }
        group.addTask { await upload(arguments[2], harness.storage) }
      }
    } catch {
      say("error \(error)")
    }
  }

  /// Replaces one object again and again, small and large in turn.
  private static func replace(_ lane: Int, _ seed: UInt64, _ storage: Storage) async {
    var random = SplitMix(seed: seed &+ UInt64(lane))
    let reference = storage.reference(withPath: "lane\(lane)")
    while true {
      let version = random.next() >> 1
      let length = random.oneIn(2) ? random.below(20_000) : 300_000 + random.below(900_000)
      do {
        say("begin \(lane) \(version) \(length)")
        _ = try await reference.putDataAsync(content(version, length))
        say("done \(lane) \(version) \(length)")
      } catch {
        say("error \(error)")
        return
      }
    }
  }

  private static func upload(_ path: String, _ storage: Storage) async {
    do {
      _ = try await storage.reference(withPath: "file").putFileAsync(from: URL(fileURLWithPath: path))
      say("file")
    } catch {
      say("error \(error)")
    }
  }

  /// The content of a version of an object.
  static func content(_ version: UInt64, _ length: Int) -> Data {
    var random = SplitMix(seed: version)
    var data = Data(capacity: length + 8)
    while data.count < length {
      withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) }
    }
    return data.prefix(length)
  }

  // MARK: Memory

  /// Uploads and downloads a file, and says how much memory that took at the most.
  private static func transfer(_ path: String, in directory: String) async {
    do {
      let harness = try StorageHarness(directory: directory, name: "memory", checkpointInterval: 64 << 20)
      let reference = harness.storage.reference(withPath: "file")
      _ = try await reference.putFileAsync(from: URL(fileURLWithPath: path))
      _ = try await reference.writeAsync(toFile: URL(fileURLWithPath: path + ".back"))
      await harness.app.delete()
      say("peak \(peakMemory().map { "\($0 / 1024)" } ?? "unknown")")
    } catch {
      say("error \(error)")
    }
  }

  /// The most memory of the machine that the process has had so far, in KiB, where the system says it.
  private static func peakMemory() -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
  }

  // MARK: File descriptors

  /// Starts 1,000 uploads at once where the process may have 256 files open, and says how many have arrived.
  private static func uploadMany(_ path: String, in directory: String) async {
    guard limitDescriptors(to: 256) else { exit(2) }
    do {
      let harness = try StorageHarness(directory: directory, name: "many")
      let root = harness.storage.reference(withPath: "many")
      let tasks = (0..<1_000).map { root.child("\($0)").putFile(from: URL(fileURLWithPath: path)) }
      var failures: Set<String> = []
      for task in tasks {
        do {
          for try await _ in task.progressUpdates {}
        } catch {
          failures.insert("\(error)")
        }
      }
      for failure in failures { say("failed \(failure)") }
      say("arrived \(try await root.listAll().items.count)")
      let target = URL(fileURLWithPath: directory + "/back")
      let downloads = (0..<1_000).map { root.child("\($0)").write(toFile: target.appendingPathExtension("\($0)")) }
      var count = 0
      for download in downloads {
        for try await _ in download.progressUpdates {}
        count += 1
      }
      say("fetched \(count)")
      await harness.app.delete()
      say("done")
    } catch {
      say("error \(error)")
    }
  }

  // MARK: A disk that is full

  /// Uploads an object that does not fit, and prints the result.
  ///
  /// The system refuses files above 3 MiB, as a full disk does, for the whole process: blobs and the store's own file.
  private static func fill(_ directory: String) async {
    guard limitFiles(toBytes: 3 << 20) else { exit(2) }
    do {
      let harness = try StorageHarness(directory: directory, name: "full")
      let root = harness.storage.reference()
      _ = try await root.child("a").putDataAsync(content(1, 1_000_000))
      for round in 0..<4 {
        do {
          _ = try await root.child(round % 2 == 0 ? "a" : "b").putDataAsync(content(2, 5_000_000))
          say("uploaded")
        } catch let error as StorageError {
          say("\(error.code)")
        }
      }
      say("kept \(try await root.child("a").data(maxSize: 10_000_000) == content(1, 1_000_000))")
      _ = try await root.child("a").putDataAsync(content(3, 2_000_000))
      say("replaced \(try await root.child("a").data(maxSize: 10_000_000) == content(3, 2_000_000))")
      try await root.child("a").delete()
      await harness.app.delete()
      say("done")
    } catch {
      say("error \(error)")
    }
  }

  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
