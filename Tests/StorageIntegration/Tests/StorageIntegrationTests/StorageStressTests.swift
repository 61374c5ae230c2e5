import Foundation
import StorageHarness
import Testing
import VestaCore
import VestaStorage
import VestaTesting

/// Many transfers, pauses, cancellations and listeners at once; runs under Thread Sanitizer.
@Suite struct StorageStressTests {
  @Test func `objects are whole whatever many tasks do to them`() async throws {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path + "/data")
    let storage = harness.storage
    storage.uploadChunkSizeBytes = 256 * 1024
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<8 {
        group.addTask {
          var random = SplitMix(seed: UInt64(lane))
          for _ in 0..<12 {
            let reference = storage.reference(withPath: "shared\(random.below(3))")
            // Every content says how long it is, so that half of one cannot be taken for a whole one.
            let length = [100, 70_000, 700_000][random.below(3)]
            let data = Data(repeating: UInt8(length % 251), count: length)
            switch random.below(5) {
            case 0, 1:
              let task = reference.putData(data)
              let listener = Task { for try await _ in task.progressUpdates {} }
              if random.oneIn(3) { task.pause() }
              if random.oneIn(4) { task.cancel() }
              task.resume()
              _ = await listener.result
            case 2:
              guard let read = try? await reference.data(maxSize: 1_000_000) else { continue }
              #expect(read == Data(repeating: UInt8(read.count % 251), count: read.count))
            case 3:
              let task = reference.write(toFile: URL(fileURLWithPath: directory.path(of: "out\(lane)")))
              if random.oneIn(2) { task.pause() }
              task.resume()
              do { for try await _ in task.progress {} } catch {}
            default: try? await reference.delete()
            }
          }
        }
      }
    }
    await harness.app.delete()
  }
}
