import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

/// The parts that decide about commits, without a server.
@Suite struct CommitUnitTests {
  private func keys(_ random: inout SplitMix) -> [UInt8] { [UInt8.random(in: 0..<6, using: &random)] }

  private func range(_ random: inout SplitMix) -> KeyRange {
    KeyRange(from: keys(&random), to: Int.random(in: 0..<4, using: &random) == 0 ? nil : keys(&random))
  }

  @Test func `changed keys are read from their rows, and other bytes do no harm`() throws {
    var random = SplitMix(seed: 5)
    for _ in 0..<500 {
      var changed = ChangedKeys()
      for _ in 0..<Int.random(in: 0..<5, using: &random) { changed.add(keys(&random)) }
      for _ in 0..<Int.random(in: 0..<3, using: &random) { changed.add(range(&random)) }
      #expect(try ChangedKeys(changed.bytes()) == changed)
      let bytes = (0..<Int.random(in: 0..<12, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      _ = try? ChangedKeys(bytes)
      for count in changed.bytes().indices { _ = try? ChangedKeys(Array(changed.bytes()[..<count])) }
    }
  }

  @Test func `a row with too many keys says the range that has them all`() throws {
    var buffer = WriteBuffer()
    for index in 0..<200 { buffer.put([], for: [UInt8](repeating: UInt8(index), count: 4_000)) }
    let changed = try ChangedKeys(ChangedKeys(buffer).bytes())
    #expect(changed.keys.isEmpty && changed.ranges.count == 1)
    for key in buffer.values.keys { #expect(changed.ranges[0].contains(key)) }
  }

  @Test func `a row with too many keys and a range without an end says a range without an end`() throws {
    var buffer = WriteBuffer()
    for index in 10..<200 { buffer.put([], for: [UInt8](repeating: UInt8(index), count: 4_000)) }
    buffer.delete(KeyRange(from: [5], to: [6]))
    #expect(try ChangedKeys(ChangedKeys(buffer).bytes()).ranges.map(\.lower) == [[5]])
    buffer.delete(KeyRange(from: [220], to: nil))
    #expect(try ChangedKeys(ChangedKeys(buffer).bytes()).ranges == [KeyRange(from: [5], to: nil)])
  }

  @Test func `a range that is added twice is kept once, and an empty one is not`() {
    var changed = ChangedKeys()
    let range = KeyRange(from: [1], to: [3])
    for added in [range, range, KeyRange(from: [4], to: [4])] { changed.add(added) }
    #expect(changed.ranges == [range])
  }

  @Test func `an empty range meets no other`() {
    let (empty, around) = (KeyRange(from: [2], to: [2]), KeyRange(from: [1], to: [3]))
    #expect(!empty.meets(around) && !around.meets(empty) && around.meets(around))
  }

  /// The statements that commit one transaction.
  private func statements(of request: CommitRequest) -> [Statement] {
    let last = CommitState(version: 1, floor: 0, hasLong: false)
    return CommitUnit([request], last, log: ConflictLog(base: 1)).statements(
      in: Schema(prefix: "vesta", store: "test", directory: ""), unit: [1], last, forgettingBefore: nil)
  }

  private func statements(of changes: WriteBuffer) -> [Statement] {
    statements(of: CommitRequest(version: 2, changes: changes, reads: ChangedKeys(), readVersion: nil, since: .now))
  }

  @Test func `a unit has a statement for each kind of change, and none for the others`() {
    func verbs(_ statements: [Statement]) -> [String] { statements.map { String($0.sql.prefix { $0 != " " }) } }
    var (put, deleted, emptied) = (WriteBuffer(), WriteBuffer(), WriteBuffer())
    put.put([1], for: [1])
    deleted.delete([1])
    emptied.delete(KeyRange(from: [1], to: [2]))
    #expect(verbs(statements(of: put)) == ["INSERT", "INSERT", "UPDATE", "COMMIT"])
    #expect(verbs(statements(of: deleted)) == ["DELETE", "INSERT", "UPDATE", "COMMIT"])
    #expect(verbs(statements(of: emptied)) == ["DELETE", "INSERT", "UPDATE", "COMMIT"])
    #expect(verbs(statements(of: CommitRequest(floor: 2, since: .now))) == ["UPDATE", "COMMIT"])
  }

  @Test func `the entries of a large unit are put in parts, each entry once and in order`() {
    func parts(_ buffer: WriteBuffer) -> [[[UInt8]]] {
      statements(of: buffer).compactMap { statement in
        guard statement.sql.contains(".entries"), case .byteArrays(let keys)? = statement.parameters.first else {
          return nil
        }
        return keys
      }
    }
    var (many, large) = (WriteBuffer(), WriteBuffer())
    for index in 0..<12_000 { many.put([], for: key(index)) }
    for index in 0..<5 { large.put([UInt8](repeating: 0, count: 2_000_000), for: key(index)) }
    // Thousands of entries at most, and some megabytes.
    #expect(parts(many).count == 3 && parts(many).allSatisfy { $0.count < 6_000 })
    #expect(parts(many).flatMap { $0 } == (0..<12_000).map(key))
    #expect(parts(large).map(\.count) == [3, 2])
    #expect(parts(large).flatMap { $0 } == (0..<5).map(key))
  }

  @Test func `two sets meet where one key would show it`() {
    var random = SplitMix(seed: 6)
    for _ in 0..<2_000 {
      var sets = [ChangedKeys(), ChangedKeys()]
      for index in 0..<2 {
        for _ in 0..<Int.random(in: 0..<3, using: &random) { sets[index].add(keys(&random)) }
        for _ in 0..<Int.random(in: 0..<2, using: &random) { sets[index].add(range(&random)) }
      }
      // Keys of up to two bytes show what ranges between keys of one byte have in common.
      var all: [[UInt8]] = []
      for first in UInt8(0)..<6 { all += [[first], [first, 1]] }
      func has(_ set: ChangedKeys, _ key: [UInt8]) -> Bool {
        set.keys.contains(key) || set.ranges.contains { $0.contains(key) }
      }
      #expect(sets[0].meets(sets[1]) == all.contains { has(sets[0], $0) && has(sets[1], $0) })
    }
  }

  @Test func `changes laid over others give what one after the other gives`() {
    var random = SplitMix(seed: 7)
    for _ in 0..<500 {
      var (merged, model) = (WriteBuffer(), [[UInt8]: [UInt8]]())
      var base: [[UInt8]: [UInt8]] = [:]
      for index in 0..<6 { base[[UInt8(index)]] = [99] }
      model = base
      for _ in 0..<3 {
        var buffer = WriteBuffer()
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
          switch Int.random(in: 0..<3, using: &random) {
          case 0:
            let range = range(&random)
            buffer.delete(range)
            model = model.filter { !range.contains($0.key) }
          case 1:
            let key = keys(&random)
            buffer.delete(key)
            model[key] = nil
          default:
            let (key, value) = (keys(&random), keys(&random))
            buffer.put(value, for: key)
            model[key] = value
          }
        }
        merged.add(buffer)
      }
      var found = base.filter { merged.change(of: $0.key) == nil }
      for change in merged.changes(in: .all) { found[change.key] = change.value }
      #expect(found == model)
    }
  }

  @Test func `a request waits for lower versions that are running, and for a short time only`() {
    func request(_ version: Int64) -> CommitRequest {
      CommitRequest(version: version, changes: WriteBuffer(), reads: ChangedKeys(), readVersion: nil, since: .now)
    }
    let first = request(4)
    let queue = [first, request(2), request(9)]
    func ready(_ running: Set<Int64>, after wait: Duration) -> [Int64] {
      CommitQueue.ready(queue, running: running, now: first.since + wait).map(\.version)
    }
    #expect(ready([], after: .zero) == [2, 4, 9])
    #expect(ready([3, 7], after: .milliseconds(1)) == [2])
    #expect(ready([10], after: .milliseconds(1)) == [2, 4, 9])
    #expect(ready([1], after: .milliseconds(1)) == [])
    #expect(ready([1, 3], after: .seconds(1)) == [2, 4, 9])
    let many = (1...300).map { request($0) }
    #expect(CommitQueue.ready(many, running: [], now: .now).map(\.version) == Array(1...256))
    #expect(CommitQueue.ready(many, running: [290], now: many[0].since).count == 256)
  }

  /// Transactions that read some keys and write others: whatever a unit accepts could have run in the order of
  /// versions.
  @Test func `what units accept is serial`() {
    for seed in UInt64(1)...60 {
      var random = SplitMix(seed: seed)
      var log = ConflictLog(base: 0, tuning: seed % 2 == 0 ? .small(seed: seed) : PostgresTuning())
      // The value of a key is the version that wrote it.
      var history: [(version: Int64, values: [[UInt8]: Int64])] = [(0, [:])]
      var version: Int64 = 0
      var clock: Int64 = 0
      for _ in 0..<40 {
        var requests: [CommitRequest] = []
        var seen: [Int64: [[UInt8]: Int64]] = [:]
        for _ in 0..<Int.random(in: 1..<5, using: &random) {
          clock += 1
          let moment = history[Int.random(in: max(0, history.count - 4)..<history.count, using: &random)]
          var (buffer, reads) = (WriteBuffer(), ChangedKeys())
          var values: [[UInt8]: Int64] = [:]
          for _ in 0..<Int.random(in: 0..<3, using: &random) {
            let key = keys(&random)
            reads.add(key)
            values[key] = moment.values[key] ?? 0
          }
          buffer.put([1], for: keys(&random))
          let own = Int.random(in: 0..<6, using: &random) == 0 ? max(1, version) : clock + version
          if requests.contains(where: { $0.version == own }) { continue }
          seen[own] = values
          requests.append(
            CommitRequest(version: own, changes: buffer, reads: reads, readVersion: moment.version, since: .now))
        }
        let unit = CommitUnit(requests, CommitState(version: version, floor: 0, hasLong: false), log: log)
        #expect(unit.accepted.count + unit.refused.count == requests.count)
        for (request, commit) in zip(unit.accepted, unit.commits) {
          #expect(request.version == commit.version && commit.version > version, "seed \(seed)")
          var values = history[history.count - 1].values
          for (key, value) in seen[request.version] ?? [:] {
            #expect(values[key] ?? 0 == value, "seed \(seed): read what is not so any more")
          }
          for key in commit.changes.keys { values[key] = commit.version }
          version = commit.version
          history.append((version, values))
          log.add(version, commit.changes)
        }
      }
      #expect(history.count > 20)
    }
  }

  @Test func `what is older than the log counts as changed`() {
    var log = ConflictLog(base: 100)
    var (read, changed) = (ChangedKeys(), ChangedKeys())
    read.add([1])
    changed.add([2])
    log.add(200, changed)
    #expect(log.hasChanged(read, since: 99))
    #expect(!log.hasChanged(read, since: 100))
    #expect(log.hasChanged(changed, since: 100) && !log.hasChanged(changed, since: 200))
    for version in 0..<5_000 { log.add(1_000_000_000 * Int64(version + 1), changed) }
    #expect(log.base > 1_000_000_000)
    #expect(log.hasChanged(read, since: 300))
  }
}
