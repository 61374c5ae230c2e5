import Foundation
import StoreInterop
@_spi(Benchmarking) import VestaSQLite

/// The store against SQLite used by hand, in turns within one run.
///
/// `VESTA_BENCH_KEYS` sets the number of keys (a million), `VESTA_BENCH_ROUNDS` the rounds (5).
enum Benchmarks {
  static let keys = setting("VESTA_BENCH_KEYS", 1_000_000)
  static let rounds = setting("VESTA_BENCH_ROUNDS", 5)

  static func run() async {
    do {
      for (length, keys) in [(100, keys), (1_024, keys), (102_400, max(200, keys / 500))] {
        try await Table(length: length, keys: keys).run()
      }
    } catch {
      print("failed: \(error)")
      exit(1)
    }
  }

  static func setting(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }
}

/// Keys and values, the same for both sides.
struct Workload {
  static func key(_ number: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      for at in 0..<16 { buffer[at] = at < 8 ? UInt8(truncatingIfNeeded: number >> (56 - 8 * at)) : 7 }
      count = 16
    }
  }

  static func mix(_ number: Int) -> Int {
    var bits = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int(truncatingIfNeeded: (bits ^ (bits >> 31)) >> 1)
  }

  /// A value that differs from others in every stretch of it, as SQLite skips what has not changed.
  static func value(_ number: Int, length: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      var state = UInt64(truncatingIfNeeded: mix(number)) | 1
      let words = UnsafeMutableRawBufferPointer(buffer)
      for at in stride(from: 0, to: length, by: 8) {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        withUnsafeBytes(of: state) { word in
          words[at..<min(at + 8, length)].copyBytes(from: word.prefix(length - at))
        }
      }
      count = length
    }
  }
}

/// All measurements for one length of values.
struct Table {
  let length: Int
  let keys: Int
  let directory: String
  let raw: RawSQLite
  let store: SQLiteStore

  init(length: Int, keys: Int) async throws {
    self.length = length
    self.keys = keys
    let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
    directory = "\(base)/vesta-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    raw = RawSQLite(path: "\(directory)/raw.sqlite")
    store = try await SQLiteStore.open(named: "bench", in: directory)
  }

  func run() async throws {
    try await load()
    print(
      "\n\(length)-byte values, \(keys) keys, \(Benchmarks.rounds) rounds: per second, medians; ratio within a round")
    print("| | raw SQLite | store | ratio | bar |\n|---|---|---|---|---|")
    let many = length > 10_000 ? 200 : 10_000
    try await compare("get, 1000 in a body", 20 * many, 0.6, rawGets(per: 1_000), storeGets(per: 1_000))
    try await compare("get, one in a body", 10 * many, 0.6, rawAutocommitGets, storeGets(per: 1))
    try await compare("multi-get of 100", 20 * many, 0.6, rawGets(per: 100), storeMultiGets)
    try await compare("scan of 1000 (rows)", 50 * many, 0.5, rawScans, storeScans)
    try await compare(
      "batch of 1000 random puts", many, 0.7, rawPuts(per: length > 10_000 ? 100 : 1_000),
      storePuts(per: length > 10_000 ? 100 : 1_000))
    try await compare("durable put, 1 task", many / 5, 0.8, rawPuts(per: 1), storePuts(per: 1))
    try await compare("durable put, 32 tasks (against 1)", many / 2, 2, storePutsFromTasks(1), storePutsFromTasks(32))
    try await store.delaySyncs(microseconds: 2_000)
    try await compare("the same, syncs 2 ms longer", 320, 8, storePutsFromTasks(1), storePutsFromTasks(32))
    print("32 tasks, transactions of 10 gets and 1 put: bodies in turn (right) against bodies in parallel (left)")
    try await compare("the same, syncs 2 ms longer", 640, 1, optimisticUpdates, updatesInTurn)
    try await store.delaySyncs(microseconds: 0)
    try await compare("syncs of this disk", many / 2, 1, optimisticUpdates, updatesInTurn)
    try await store.close()
    try FileManager.default.removeItem(atPath: directory)
  }

  typealias Side = (_ count: Int, _ seed: Int) async throws -> Void

  /// Runs both sides in turns, and prints the medians.
  func compare(_ name: String, _ count: Int, _ bar: Double, _ raw: Side, _ ours: Side) async throws {
    if let only = ProcessInfo.processInfo.environment["VESTA_BENCH_ONLY"], !name.contains(only) { return }
    var rates: [(Double, Double)] = []
    for round in 0..<Benchmarks.rounds {
      // A seed of its own for each run, or values would be written that are there already.
      let seed = Workload.mix(round &+ name.utf8.reduce(0) { $0 &* 31 &+ Int($1) }) >> 20
      let first = try await rate(count) { try await raw(count, seed) }
      let second = try await rate(count) { try await ours(count, seed + 1) }
      rates.append((first, second))
    }
    let median = { (values: [Double]) in values.sorted()[values.count / 2] }
    let ratio = median(rates.map { $0.1 / $0.0 })
    let text = { (value: Double) in String(format: "%.0f", value) }
    print(
      "| \(name) | \(text(median(rates.map(\.0)))) | \(text(median(rates.map(\.1)))) |",
      String(format: "%.2f", ratio), "| \(bar)\(ratio < bar ? " MISSED" : "") |")
    fflush(nil)
  }

  func rate(_ count: Int, _ body: () async throws -> Void) async throws -> Double {
    let clock = ContinuousClock()
    let time = try await clock.measure { try await body() }
    return Double(count) / (Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)
  }

  func load() async throws {
    let length = length
    for start in stride(from: 0, to: keys, by: 1_000) {
      let end = min(start + 1_000, keys)
      raw.begin()
      for number in start..<end { raw.put(Workload.value(number, length: length), for: Workload.key(number)) }
      raw.commit()
      try await store.write { transaction in
        for number in start..<end {
          try await transaction.put(Workload.value(number, length: length), for: Workload.key(number))
        }
      }
    }
  }

  // MARK: The sides

  func random(_ seed: Int, _ index: Int) -> [UInt8] { Workload.key(Workload.mix(seed &* 1_000_003 &+ index) % keys) }

  func rawGets(per body: Int) -> Side {
    { count, seed in
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
    { count, seed in
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

  var scanLength: Int { min(1_000, keys / 4) }

  func scanStart(_ seed: Int, _ index: Int) -> [UInt8] {
    Workload.key(Workload.mix(seed &* 1_000_003 &+ index) % (keys - scanLength))
  }

  func rawPuts(per body: Int) -> Side {
    { count, seed in
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
    { count, seed in
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
  /// Bodies read in parallel on snapshots, and only their changes take the turn. Nothing is validated, nothing buffered and nothing run again, all of which would cost more.
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

  func from32Tasks(_ count: Int, _ transaction: @escaping @Sendable (Int) async throws -> Void) async throws {
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
    { count, seed in
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
