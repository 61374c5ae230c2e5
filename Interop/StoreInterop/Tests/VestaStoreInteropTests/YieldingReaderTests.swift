import Testing
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStoreInterop

/// A reader that yields reads the same as the one below it.
struct YieldingReaderTests {
  private static func key(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }

  private static func filled(_ count: Int) async throws -> ModelStore {
    let store = ModelStore()
    _ = try await store.write { transaction in
      for number in 0..<count { try await transaction.put([UInt8(number & 255)], for: key(number)) }
    }
    return store
  }

  private struct Outcome: Equatable {
    var entries: [StoreEntry] = []
    var end: ScanEnd?
    var hasFailed = false
  }

  private struct Refusal: Error {}

  /// Scans, and stops or fails at the given entry.
  private static func scan(
    _ reader: any StoreReader, _ range: KeyRange, _ order: ScanOrder, limit: Int?, stop: Int, fails: Bool
  ) async -> Outcome {
    var outcome = Outcome()
    do {
      outcome.end = try await reader.scan(range, order: order, limit: limit) { key, value in
        if outcome.entries.count == stop, fails { throw Refusal() }
        outcome.entries.append(StoreEntry(key: key.bytes, value: value.bytes))
        return outcome.entries.count == stop ? .stop : .next
      }
    } catch {
      outcome.hasFailed = error is Refusal
    }
    return outcome
  }

  @Test func `a scan in pieces visits what a scan visits, and ends as it does`() async throws {
    let store = try await Self.filled(6_000)
    var random = SplitMix(seed: 21)
    let edges = [0, 1, 255, 256, 2_047, 2_048, 2_049, 4_096, 5_999, 6_000, 7_000]
    for round in 0..<300 {
      let bounds = [random, random].map { _ in Self.key(random.below(6_100)) }.sorted {
        $0.lexicographicallyPrecedes($1)
      }
      let range = random.oneIn(3) ? KeyRange.all : KeyRange(from: bounds[0], to: random.oneIn(4) ? nil : bounds[1])
      let order: ScanOrder = random.oneIn(2) ? .ascending : .descending
      let limit = random.oneIn(2) ? edges[random.below(edges.count)] : nil
      let stop = random.oneIn(2) ? edges[random.below(edges.count)] : -1
      let fails = random.oneIn(4)
      try await store.read { reader in
        let whole = await Self.scan(reader, range, order, limit: limit, stop: stop, fails: fails)
        let pieces = await Self.scan(YieldingReader(reader), range, order, limit: limit, stop: stop, fails: fails)
        #expect(pieces.entries == whole.entries && pieces.hasFailed == whole.hasFailed, "round \(round)")
        // A scan that stops at its last entry may report a rest with nothing in it.
        #expect(pieces.end?.visited == whole.end?.visited, "round \(round)")
        if pieces.end?.rest != whole.end?.rest {
          let rests = [pieces, whole].compactMap { $0.end?.rest }
          for rest in rests {
            let left = try await reader.entries(in: rest)
            #expect(left.isEmpty, "round \(round)")
          }
        }
      }
    }
  }

  @Test func `gets are passed to the other reader, in their order`() async throws {
    let store = try await Self.filled(1_000)
    try await store.read { reader in
      let yielding = YieldingReader(reader)
      let keys = [999, 3, 3, 1_000, 0].map(Self.key)
      let together = try await yielding.get(keys)
      #expect(together == [[231], [3], [3], nil, [0]])
      let (absent, last) = (try await yielding.get(keys[3]), try await yielding.get(keys[0]))
      #expect(absent == nil && last == [231])
      #expect(yielding.version == reader.version)
    }
  }

  @Test(arguments: ["a scan", "gets", "gets together"])
  func `others run during`(_ what: String) async throws {
    let store = try await Self.filled(6_000)
    let visits = try await OneThread.visits {
      try await store.read { reader in
        let reader = YieldingReader(reader)
        switch what {
        case "a scan": _ = try await reader.scan(.all, order: .ascending, limit: nil) { _, _ in .next }
        case "gets": for number in 0..<2_560 { _ = try await reader.get(Self.key(number)) }
        default: for start in 0..<10 { _ = try await reader.get((0..<256).map { Self.key($0 + start) }) }
        }
      }
    }
    #expect(visits >= (what == "a scan" ? 3 : 10))
  }

  @Test func `no other task runs before 256 rows were read`() async throws {
    let store = try await Self.filled(255)
    let visits = try await OneThread.visits {
      try await store.read {
        _ = try await YieldingReader($0).scan(.all, order: .ascending, limit: nil) { _, _ in .next }
      }
    }
    #expect(visits == 0)
  }

  @Test func `a reader that suspends by itself is left as it is`() async throws {
    let store = try await Self.filled(1)
    try await store.read { reader in
      #expect(reader.answersInPlace && reader.yielding is YieldingReader)
      // It is not wrapped again.
      #expect(!reader.yielding.answersInPlace)
    }
    // Others wait for a transaction to end.
    _ = try await store.write { #expect(!$0.answersInPlace && !($0.yielding is YieldingReader)) }
  }

  @Test func `pieces of any size visit what one scan visits`() async throws {
    let store = ModelStore()
    _ = try await store.write { transaction in
      for number in 0..<40 { try await transaction.put([UInt8(number)], for: [UInt8(number / 7), UInt8(number)]) }
    }
    for seed in UInt64(0)..<400 {
      var random = SplitMix(seed: seed)
      let (piece, rows) = (Int.random(in: 1...9, using: &random), Int.random(in: 1...9, using: &random))
      let range = KeyRange(
        from: [UInt8.random(in: 0...6, using: &random)], to: Bool.random(using: &random) ? nil : [5, 38])
      let order = Bool.random(using: &random) ? ScanOrder.ascending : .descending
      let limit = Bool.random(using: &random) ? nil : Int.random(in: 0...45, using: &random)
      let stop = Int.random(in: 1...60, using: &random)
      try await store.read { reader in
        func visited(_ reader: any StoreReader) async throws -> ([[UInt8]], ScanEnd) {
          var keys: [[UInt8]] = []
          let end = try await reader.scan(range, order: order, limit: limit) { key, _ in
            keys.append(key.withUnsafeBytes { Array($0) })
            return keys.count == stop ? .stop : .next
          }
          return (keys, end)
        }
        let (expected, found) = (
          try await visited(reader), try await visited(YieldingReader(reader, piece: piece, rows: rows))
        )
        #expect(
          found.0 == expected.0 && found.1.visited == expected.1.visited, "seed \(seed), piece \(piece), rows \(rows)")
        #expect((found.1.rest == nil) == (expected.1.rest == nil) || limit == found.1.visited, "seed \(seed)")
      }
    }
  }
}
