import Foundation
import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  @Suite struct MaintenanceTests {
    @Test func `a backup is one version of the store and can be restored`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      for number in 0..<300 { try await store.put(value(number, length: number * 20), for: key(number)) }
      // A writer that moves an entry with every commit; a consistent snapshot holds exactly one.
      let writer = Task.detached {
        for number in 0... {
          try await store.write { transaction in
            try await transaction.delete(Array("moving/".utf8) + key(number - 1))
            try await transaction.put([], for: Array("moving/".utf8) + key(number))
          }
        }
      }
      let restored = try TemporaryDirectory()
      try FileManager.default.createDirectory(atPath: "\(restored.path)/test", withIntermediateDirectories: true)
      for _ in 0..<3 { try await store.backup(to: restored.database) }
      writer.cancel()
      _ = await writer.result
      let copy = try restored.open()
      let entries = try await copy.everything()
      #expect(entries.prefix(300).map(\.value) == (0..<300).map { value($0, length: $0 * 20) })
      #expect(entries.count == 301)
      let problems = try await copy.checkIntegrity()
      #expect(problems == [])
      let files = try FileManager.default.contentsOfDirectory(atPath: "\(restored.path)/test").sorted()
      #expect(files.filter { $0.contains("partial") } == [])
      try await copy.close()
      try await store.close()
    }

    @Test func `a backup that cannot be written is an error and leaves nothing`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let error = await code { try await store.backup(to: "\(directory.path)/missing/copy.sqlite") }
      #expect(error == .inputOutput)
      try await store.put([1], for: [1])
      try await store.close()
    }

    @Test func `the integrity check finds lost and loose large values`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      for number in 0..<3 { try await store.put(value(number, length: 9_000), for: key(number)) }
      let intruder = try Connection(path: directory.database, operation: "test")
      try intruder.execute("UPDATE large SET id = id + 100 WHERE id = 2", operation: "test")
      intruder.close()
      let problems = try await store.checkIntegrity()
      #expect(problems.count == 2)
      #expect(await code { _ = try await store.everything() } == .corrupt)
      try await store.close()
    }

    @Test func `the log stays within its bound under constant reads`() async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.checkpointPages = 50
      tuning.logLimit = 200
      // Readers get as long as the machine takes; they end by themselves.
      tuning.logPatience = .seconds(600)
      let store = try directory.open(.relaxed, tuning: tuning)
      try await store.put([1], for: key(0))
      // Readers that overlap, so that there is always one on an older snapshot.
      let readers = (0..<3).map { _ in
        Task.detached {
          while !Task.isCancelled {
            try await store.read { reader in
              _ = try await reader.get(key(0))
              for _ in 0..<20 { await Task.yield() }
              _ = try await reader.get(key(0))
            }
          }
        }
      }
      var longest = 0
      for number in 0..<1_500 {
        try await store.put(value(number, length: 3_000), for: key(number % 40))
        longest = max(longest, try await store.logPages())
      }
      for reader in readers { reader.cancel() }
      for reader in readers { _ = await reader.result }
      #expect(longest >= tuning.checkpointPages)
      #expect(longest < 2 * tuning.logLimit)
      let log = try FileManager.default.attributesOfItem(atPath: directory.database + "-wal")[.size] as? Int
      #expect((log ?? .max) < 2 * tuning.logLimit * 8_220)
      try await store.close()
    }

    @Test func `the log is written back more rarely while readers hold it`() {
      var policy = LogPolicy(checkpointPages: 100, limit: 1_000)
      #expect(policy.decide(pages: 99) == .nothing)
      #expect(policy.decide(pages: 100) == .writeBack)
      #expect(policy.decide(pages: 101) == .nothing)
      #expect(policy.decide(pages: 125) == .writeBack)
      #expect(policy.decide(pages: 1_000) == .startOver)
      #expect(policy.decide(pages: 1_001) == .writeBack)
      #expect(policy.decide(pages: 1_002) == .nothing)
      #expect(policy.decide(pages: 1_250) == .startOver)
      #expect(policy.decide(pages: 2) == .nothing)
      #expect(policy.decide(pages: 100) == .writeBack)
    }
  }
}
