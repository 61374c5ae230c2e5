import Foundation
import SQLiteBaseline
@_spi(Benchmarking) import VestaSQLite
import VestaStoreInterop

/// One length of values: a store and SQLite by hand, with the same keys in them, and what both are asked to do.
final class StoreTable: Sendable {
  /// Does something a number of times; the seed gives each run separate keys and values.
  typealias Side = @Sendable (_ count: Int, _ seed: Int) async throws -> Void

  private let length: Int
  private let keys: Int
  private let directory: String
  private let raw: RawSQLite
  private let store: SQLiteStore

  /// Makes both and fills them.
  init(length: Int, keys: Int) async throws {
    (self.length, self.keys) = (length, keys)
    let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
    directory = "\(base)/vesta-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    raw = RawSQLite(path: "\(directory)/raw.sqlite")
    store = try await SQLiteStore.open(named: "bench", in: directory)
    for start in stride(from: 0, to: keys, by: 1_000) {
      let numbers = start..<min(start + 1_000, keys)
      raw.begin()
      for number in numbers { raw.put(Workload.value(number, length: length), for: Workload.key(number)) }
      raw.commit()
      try await store.write { transaction in
        for number in numbers {
          try await transaction.put(Workload.value(number, length: length), for: Workload.key(number))
        }
      }
    }
  }

  /// Makes every sync of the store take so much longer.
  func delaySyncs(microseconds: Int) async throws { try await store.delaySyncs(microseconds: microseconds) }

  /// Closes the store and removes the files.
  func remove() async throws {
    try await store.close()
    try FileManager.default.removeItem(atPath: directory)
  }

  // MARK: Work of both sides

  private func random(_ seed: Int, _ index: Int) -> [UInt8] {
    Workload.key(Workload.mix(seed &* 1_000_003 &+ index) % keys)
  }

  func rawGets(per body: Int) -> Side {
    { [self] count, seed in
      for start in stride(from: 0, to: count, by: body) {
        raw.beginRead()
        for index in start..<start + body { _ = raw.get(random(seed, index)) }
        raw.commit()
      }
    }
  }

  func rawAutocommitGets(_ count: Int, _ seed: Int) {
    for index in 0..<count { _ = raw.get(random(seed, index)) }
  }

  func storeGets(per body: Int) -> Side {
    { [self] count, seed in
      for start in stride(from: 0, to: count, by: body) {
        try await store.read { reader in
          for index in start..<start + body {
            guard try await reader.get(random(seed, index)) != nil else { preconditionFailure("a key is missing") }
          }
        }
      }
    }
  }

  func storeMultiGets(_ count: Int, _ seed: Int) async throws {
    for start in stride(from: 0, to: count, by: 100) {
      let keys = (start..<start + 100).map { random(seed, $0) }
      let values = try await store.read { try await $0.get(keys) }
      precondition(!values.contains { $0 == nil })
    }
  }

  func rawScans(_ count: Int, _ seed: Int) {
    var sum = 0
    for index in 0..<max(1, count / scanLength) {
      raw.beginRead()
      sum += raw.scan(from: scanStart(seed, index), count: scanLength)
      raw.commit()
    }
    precondition(sum > 0)
  }

  func storeScans(_ count: Int, _ seed: Int) async throws {
    var sum = 0
    for index in 0..<max(1, count / scanLength) {
      let range = KeyRange(from: scanStart(seed, index), to: nil)
      sum += try await store.read { reader in
        var sum = 0
        _ = try await reader.scan(range, order: .ascending, limit: scanLength) { key, value in
          sum += key.byteCount + value.byteCount + Int(value.unsafeLoad(as: UInt8.self))
          return .next
        }
        return sum
      }
    }
    precondition(sum > 0)
  }

  private var scanLength: Int { min(1_000, keys / 4) }

  private func scanStart(_ seed: Int, _ index: Int) -> [UInt8] {
    Workload.key(Workload.mix(seed &* 1_000_003 &+ index) % (keys - scanLength))
  }

  func rawPuts(per body: Int) -> Side {
    { [self] count, seed in
      for start in stride(from: 0, to: count, by: body) {
        raw.begin()
        for index in start..<start + body {
          raw.put(Workload.value(seed &* 31 &+ index, length: length), for: random(seed, index))
        }
        raw.commit()
      }
    }
  }

  func storePuts(per body: Int) -> Side {
    { [self] count, seed in
      let (keys, length) = (keys, length)
      for start in stride(from: 0, to: count, by: body) {
        try await store.write { transaction in
          for index in start..<start + body {
            let key = Workload.key(Workload.mix(seed &* 1_000_003 &+ index) % keys)
            try await transaction.put(Workload.value(seed &* 31 &+ index, length: length), for: key)
          }
        }
      }
    }
  }

  /// The design that was chosen: a leader runs the bodies of all that wait, one after the other.
  func updatesInTurn(_ count: Int, _ seed: Int) async throws {
    let (keys, length, store) = (keys, length, store)
    try await from32Tasks(count) { index in
      try await store.write { transaction in
        for part in 0..<10 {
          _ = try await transaction.get(Workload.key(Workload.mix(seed &+ index &* 10 &+ part) % keys))
        }
        let value = Workload.value(seed &* 37 &+ index, length: length)
        try await transaction.put(value, for: Workload.key(Workload.mix(seed &+ index) % keys))
      }
    }
  }

  /// The best that optimistic transactions could do.
  ///
  /// Bodies read in parallel on snapshots, and only their changes take the turn. Nothing is validated, nothing buffered
  /// and nothing run again, all of which would cost more.
  func optimisticUpdates(_ count: Int, _ seed: Int) async throws {
    let (keys, length, store) = (keys, length, store)
    try await from32Tasks(count) { index in
      try await store.read { reader in
        for part in 0..<10 { _ = try await reader.get(Workload.key(Workload.mix(seed &+ index &* 10 &+ part) % keys)) }
      }
      let value = Workload.value(seed &* 37 &+ index, length: length)
      try await store.write { try await $0.put(value, for: Workload.key(Workload.mix(seed &+ index) % keys)) }
    }
  }

  private func from32Tasks(_ count: Int, _ transaction: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      for task in 0..<32 {
        group.addTask {
          for index in stride(from: task, to: count, by: 32) { try await transaction(index) }
        }
      }
      try await group.waitForAll()
    }
  }

  func storePutsFromTasks(_ tasks: Int) -> Side {
    { [self] count, seed in
      let (keys, length, store) = (keys, length, store)
      try await withThrowingTaskGroup { group in
        for task in 0..<tasks {
          group.addTask {
            for index in stride(from: task, to: count, by: tasks) {
              let key = Workload.key(Workload.mix(seed &* 1_000_003 &+ index) % keys)
              let value = Workload.value(seed &* 37 &+ index, length: length)
              try await store.write { try await $0.put(value, for: key) }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}
