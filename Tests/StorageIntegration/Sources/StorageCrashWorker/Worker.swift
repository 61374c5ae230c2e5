import Foundation
import StorageHarness
import VestaStorage
import VestaTesting

/// Uploads and replaces objects until it is killed, and says what has been acknowledged.
enum Worker {
  /// - Parameter arguments: The directory, the seed, and the file that is uploaded.
  static func run(_ arguments: [String]) async {
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

  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
