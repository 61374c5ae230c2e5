import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// Many tasks at once; meant for Thread Sanitizer as well.
  @Suite struct SQLiteStoreStressTests {
    @Test func `transfers between accounts keep their sum during all other work`() async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.readerLimit = 6
      tuning.checkpointPages = 20
      tuning.logLimit = 100
      let store = try directory.open(.relaxed, tuning: tuning)
      let accounts = 10
      try await store.write { transaction in
        for account in 0..<accounts { try await transaction.put([100], for: key(account)) }
      }
      let told = Locked<[StoreVersion]>([])
      let observation = store.observeCommits { version in told.withLock { $0.append(version) } }
      let sums = Locked<Set<Int>>([])
      try await withThrowingTaskGroup { group in
        for task in 0..<8 {
          group.addTask {
            var random = SplitMix(seed: UInt64(task))
            for round in 0..<30 {
              let (from, to) = (
                Int.random(in: 0..<accounts, using: &random), Int.random(in: 0..<accounts, using: &random)
              )
              let transfer = Task { try await Self.transfer(from, to, in: store) }
              if round % 10 == task { transfer.cancel() }
              do { try await transfer.value } catch is CancellationError {} catch is Failure {}
            }
          }
          group.addTask {
            for _ in 0..<30 {
              let sum = try await store.read { reader in
                try await reader.get((0..<accounts).map(key)).reduce(0) { $0 + Int($1?.first ?? 0) }
              }
              sums.withLock { _ = $0.insert(sum) }
            }
          }
        }
        group.addTask { for _ in 0..<3 { try await store.backup(to: "\(directory.path)/copy.sqlite") } }
        group.addTask {
          for _ in 0..<3 {
            let problems = try await store.checkIntegrity()
            #expect(problems == [])
          }
        }
        try await group.waitForAll()
      }
      observation.cancel()
      #expect(sums.withLock { $0 } == [accounts * 100])
      let versions = told.withLock { $0 }
      #expect(versions == versions.sorted() && Set(versions).count == versions.count)
      try await store.close()
    }

    private static func transfer(_ from: Int, _ to: Int, in store: SQLiteStore) async throws {
      try await store.write { transaction in
        guard let left = try await transaction.get(key(from))?.first, left > 0 else { throw Failure() }
        try await transaction.put([left - 1], for: key(from))
        await Task.yield()
        guard let right = try await transaction.get(key(to))?.first, right < 255 else { throw Failure() }
        try await transaction.put([right + 1], for: key(to))
      }
    }

    @Test func `closing while everything is under way ends everything`() async throws {
      for _ in 0..<10 {
        let directory = try TemporaryDirectory()
        let store = try directory.open(.relaxed)
        let stream = store.commits
        let consumer = Task.detached { await stream.reduce(0) { count, _ in count + 1 } }
        let tasks = (0..<16).map { task in
          Task.detached {
            var count = 0
            while true {
              try await store.put([UInt8(count % 256)], for: key(task))
              _ = try await store.everything()
              count += 1
            }
          }
        }
        for _ in 0..<200 { await Task.yield() }
        try await store.close()
        for task in tasks {
          let error = await code { _ = try await task.value }
          #expect(error == .closed)
        }
        _ = await consumer.value
      }
    }
  }
}
