import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

/// The reads of a committed transaction, and its writes.
private struct Committed: Sendable {
  enum Read: Sendable, Equatable {
    case keys([Int], [Int?])
    case range(Int, Int, isDescending: Bool, limit: Int?, [Int], [Int])
  }

  var reads: [Read] = []
  /// In their order: a key with its value, or `nil`; a range that was emptied.
  var writes: [(range: Range<Int>, value: Int?)] = []
  var version: StoreVersion = .zero
  var isChange: Bool { !writes.isEmpty }
}

extension OneAtATime {
  /// Random transactions of two processes at once, replayed by an oracle that knows nothing of how they were run.
  @Suite struct HistoryTests {
    private static let keys = 12

    /// Runs one random transaction.
    private static func run(_ store: PostgresStore, seed: UInt64) async throws -> Committed {
      let commit = try await store.write { transaction in
        // The same each time the body runs.
        var random = SplitMix(seed: seed)
        var done = Committed()
        for _ in 0..<Int.random(in: 0...3, using: &random) {
          done.reads.append(try await read(transaction, &random))
          if Int.random(in: 0..<4, using: &random) == 0 { await Task.yield() }
        }
        if Int.random(in: 0..<3, using: &random) == 0 { _ = try await transaction.commitVersion() }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
          let first = Int.random(in: 0..<keys, using: &random)
          switch Int.random(in: 0..<8, using: &random) {
          case 0:
            let range = first..<min(keys, first + Int.random(in: 1...4, using: &random))
            try await transaction.deleteRange(KeyRange(from: key(range.lowerBound), to: key(range.upperBound)))
            done.writes.append((range, nil))
          case 1:
            try await transaction.delete(key(first))
            done.writes.append((first..<first + 1, nil))
          default:
            let value = Int.random(in: 1..<1_000_000, using: &random)
            try await transaction.put(number(value), for: key(first))
            done.writes.append((first..<first + 1, value))
          }
        }
        // One with nothing but deletions may change nothing, and has no separate version then.
        if done.isChange {
          try await transaction.put(number(Int(seed % 999_983)), for: key(keys))
          done.writes.append((keys..<keys + 1, Int(seed % 999_983)))
        }
        return done
      }
      var done = commit.value
      done.version = commit.version
      return done
    }

    private static func read(_ reader: any StoreReader, _ random: inout SplitMix) async throws -> Committed.Read {
      if Bool.random(using: &random) {
        let wanted = (0..<Int.random(in: 1...3, using: &random)).map { _ in Int.random(in: 0..<keys, using: &random) }
        return .keys(wanted, try await reader.get(wanted.map(key)).map { $0.map { number(in: $0) } })
      }
      let first = Int.random(in: 0..<keys, using: &random)
      let end = min(keys, first + Int.random(in: 1...6, using: &random))
      let (isDescending, limit) = (Bool.random(using: &random), [nil, 1, 2].randomElement(using: &random) ?? nil)
      let entries = try await reader.entries(
        in: KeyRange(from: key(first), to: key(end)), order: isDescending ? .descending : .ascending, limit: limit)
      return .range(
        first, end, isDescending: isDescending, limit: limit, entries.map { Int($0.key[1]) },
        entries.map { number(in: $0.value) })
    }

    /// The answer that a read would have had.
    private static func answer(_ read: Committed.Read, in state: [Int: Int]) -> Committed.Read {
      switch read {
      case .keys(let wanted, _): return .keys(wanted, wanted.map { state[$0] })
      case .range(let first, let end, let isDescending, let limit, _, _):
        var found = state.keys.filter { (first..<end).contains($0) }.sorted()
        if isDescending { found.reverse() }
        found = Array(found.prefix(limit ?? found.count))
        return .range(first, end, isDescending: isDescending, limit: limit, found, found.map { state[$0] ?? 0 })
      }
    }

    /// One order by versions explains every answer, the reads before the writes of each.
    private static func check(_ history: [Committed], _ kept: [Int: Int], _ seed: UInt64) {
      // A transaction that changes nothing has read at its version, so it follows the one that has that version.
      let ordered = history.sorted { ($0.version, $0.isChange ? 0 : 1) < ($1.version, $1.isChange ? 0 : 1) }
      var state: [Int: Int] = [:]
      var last = StoreVersion.zero
      for transaction in ordered {
        for read in transaction.reads {
          #expect(answer(read, in: state) == read, "seed \(seed), version \(transaction.version)")
        }
        #expect(!transaction.isChange || transaction.version > last, "seed \(seed): two of one version")
        for write in transaction.writes {
          for key in write.range { state[key] = write.value }
        }
        last = transaction.version
      }
      #expect(state == kept, "seed \(seed)")
    }

    private func expectSerial(seed: UInt64, _ stores: [PostgresStore], rounds: Int) async throws {
      let history = try await withThrowingTaskGroup(of: [Committed].self) { group in
        for task in 0..<8 {
          group.addTask {
            var done: [Committed] = []
            for round in 0..<rounds {
              let own = seed &* 1_000_003 &+ UInt64(task * 10_000 + round)
              done.append(try await Self.run(stores[task % stores.count], seed: own))
            }
            return done
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      let entries = try await stores[0].read { try await $0.entries(in: .all) }
      var kept: [Int: Int] = [:]
      for entry in entries { kept[Int(entry.key[1])] = number(in: entry.value) }
      Self.check(history, kept, seed)
      #expect(history.count { $0.isChange } > 8 * rounds / 3)
    }

    @Test(arguments: UInt64(1)...3)
    func `transactions of one process are serial in the order of their versions`(seed: UInt64) async throws {
      let tuning = PostgresTuning.small(seed: seed)
      let store = try await Server.open(Server.newSpace()) {
        $0.connections = 3
        $0.tuning = tuning
      }
      try await expectSerial(seed: seed, [store], rounds: 25)
      try await store.close()
    }

    @Test(arguments: UInt64(11)...14)
    func `transactions of two processes are serial in the order of their versions`(seed: UInt64) async throws {
      let space = Server.newSpace()
      let tuning = PostgresTuning.small(seed: seed)
      let stores = [
        try await Server.open(space) { $0.tuning = tuning }, try await Server.open(space) { $0.tuning = tuning },
      ]
      try await expectSerial(seed: seed, stores, rounds: 20)
      for store in stores { try await store.close() }
    }

    @Test(arguments: UInt64(21)...22)
    func `they are serial too while connections are cut`(seed: UInt64) async throws {
      let space = Server.newSpace()
      let tuning = PostgresTuning.small(seed: seed)
      let stores = [
        try await Server.open(space) { $0.tuning = tuning }, try await Server.open(space) { $0.tuning = tuning },
      ]
      let cutter = Task {
        for _ in 0..<40 { try await Server.cutConnections() }
      }
      // A body whose snapshot is cut three times gets an error; it has kept nothing, and is run again here.
      let again = stores
      let history = try await withThrowingTaskGroup(of: [Committed].self) { group in
        for task in 0..<6 {
          group.addTask {
            var done: [Committed] = []
            for round in 0..<10 {
              let own = seed &* 1_000_003 &+ UInt64(task * 10_000 + round)
              while true {
                do {
                  done.append(try await Self.run(again[task % 2], seed: own))
                  break
                } catch StoreError.Code.inputOutput {
                  continue
                }
              }
            }
            return done
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      _ = await cutter.result
      let entries = try await stores[0].read { try await $0.entries(in: .all) }
      var kept: [Int: Int] = [:]
      for entry in entries { kept[Int(entry.key[1])] = number(in: entry.value) }
      Self.check(history, kept, seed)
      for store in stores { try await store.close() }
    }
  }
}
