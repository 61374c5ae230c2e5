import VestaStoreInterop
import VestaTesting

/// Sizes and numbers at which engines change their ways: powers of two, pages, and the bounds of their batches.
extension StoreContracts {
  static let sizes: [Contract<StoreSubject>] = [
    promise("values of every size around powers of two and pages are kept, and replace each other") { store in
      var random = SplitMix(seed: 21)
      let lengths = interestingLengths
      try await store.fill(lengths.enumerated().map { StoreEntry(key: key($0), value: patterned($1)) })
      for (index, length) in lengths.enumerated() {
        try expectSame(try await store.get(key(index)), patterned(length), "value of \(length) bytes")
      }
      // Each of the values takes the place of another one, large ones of small ones and the other way round.
      for round in 0..<3 {
        let replacing = lengths.shuffled(using: &random)
        try await store.write { transaction in
          for (index, length) in replacing.enumerated() {
            try await transaction.put(patterned(length, round), for: key(index))
            let own = try await transaction.get(key(index))
            try expectSame(own, patterned(length, round), "own value of \(length) bytes over another one")
          }
        }
        let found = try await store.get(replacing.indices.map(key))
        for (value, length) in zip(found, replacing) {
          try expectSame(value, patterned(length, round), "value of \(length) bytes over another one")
        }
      }
    },
    promise("keys of every length around powers of two are kept apart and in order") { store in
      let lengths = [1, 2, 3, 4, 5].flatMap { power in (-1...1).map { (1 << (power * 2)) + $0 } }
      let keys = lengths.flatMap { length in
        [[UInt8](repeating: 0x61, count: length), [UInt8](repeating: 0x61, count: length) + [0]]
      }
      let sorted = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
      try await store.fill(sorted.shuffled().map { StoreEntry(key: $0, value: number($0.count)) })
      try expect(try await store.everything().map(\.key), equals: sorted, "keys")
      for key in sorted {
        try expect(try await store.get(key), equals: number(key.count), "value of a key of \(key.count)")
      }
    },
    promise("a prefix whose keys go on with FF is scanned and deleted as a whole") { store in
      for prefix in [bytes("b"), [0x61, 0xFF], [0xFF], [0xFF, 0xFF], []] {
        let tails: [[UInt8]] = [
          [], [0], [0xFE], [0xFF], [0xFF, 0], [0xFF, 0xFF], [UInt8](repeating: 0xFF, count: 20),
        ]
        let inside = tails.map { prefix + $0 }
        let outside = [bytes("a"), bytes("c"), [0x61, 0xFE], [0x62]].filter { !$0.starts(with: prefix) }
        try await store.write { try await $0.deleteRange(.all) }
        try await store.fill((inside + outside).map { StoreEntry(key: $0, value: []) })
        let range = KeyRange(prefix: prefix)
        let found = try await store.read { try await $0.entries(in: range).map(\.key) }
        try expect(Set(found), equals: Set(inside), "keys with the prefix \(prefix)")
        let down = try await store.read { try await $0.entries(in: range, order: .descending).map(\.key) }
        try expect(down, equals: found.reversed(), "keys with the prefix \(prefix), descending")
        try await store.write { try await $0.deleteRange(range) }
        let left = try await store.everything().map(\.key)
        try expect(Set(left), equals: Set(outside), "keys after deleting the prefix \(prefix)")
      }
    },
    promise("thousands of keys go through every call") { store in
      let count = 2_600
      let all = (0..<count).map { StoreEntry(key: key($0), value: number($0)) }
      let unseen = try await store.write { transaction in
        for entry in all.shuffled() { try await transaction.put(entry.value, for: entry.key) }
        let own = try await transaction.entries(in: .all)
        let down = try await transaction.entries(in: .all, order: .descending)
        let gets = try await transaction.get(all.map(\.key))
        return [own == all, down == all.reversed(), gets == all.map(\.value)]
      }.value
      try expect(unseen, equals: [true, true, true], "own entries scanned, scanned descending, and got")
      let keys = all.map(\.key)
      try expect(try await store.get(keys + [key(count)]) == all.map(\.value) + [nil], "a multi-get of \(count + 1)")
      for limit in [499, 500, 501, 999, 1_000, 1_001, 1_024, 2_048, count - 1] {
        for order in [ScanOrder.ascending, .descending] {
          try await expectLimited(store, all, limit, order)
        }
      }
      try await store.write { transaction in
        for index in stride(from: 0, to: count, by: 2) { try await transaction.delete(key(index)) }
      }
      let odd = all.filter { number(in: $0.value) % 2 == 1 }
      try expect(try await store.everything() == odd, "the odd keys are left of \(count)")
      try await store.write { try await $0.deleteRange(KeyRange(from: key(3), to: key(count - 3))) }
      try expect(
        try await store.everything().map(\.key), equals: [1, count - 3, count - 1].map(key), "keys around a range")
      try await store.fill(all)
      try await store.write { try await $0.deleteRange(.all) }
      try expect(try await store.everything(), equals: [], "entries after deleting all")
    },
  ]

  private static var interestingLengths: [Int] {
    let powers = (0...14).flatMap { power in (-1...1).map { (1 << power) + $0 } }
    let pages = [3, 5].flatMap { pages in (-1...1).map { pages * 4_096 + $0 } }
    return Set(powers + pages + [8_192 * 2, 8_192 * 3, 1_900, 2_000, 2_010]).sorted()
  }

  /// Bytes that differ along the way and from round to round.
  private static func patterned(_ length: Int, _ round: Int = 7) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ round &* 17) }
  }

  /// As `expect`, without the bytes in the message.
  private static func expectSame(_ found: [UInt8]?, _ expected: [UInt8], _ what: String, line: Int = #line) throws {
    try expect(found?.count, equals: expected.count, "length of a \(what)", line: line)
    try expect(found == expected, "the bytes of a \(what) have changed", line: line)
  }

  private static func expectLimited(
    _ store: any OrderedStore, _ all: [StoreEntry], _ limit: Int, _ order: ScanOrder
  ) async throws {
    let ordered = order == .ascending ? all : all.reversed()
    try await store.read { reader in
      var found: [StoreEntry] = []
      let end = try await reader.scan(.all, order: order, limit: limit) { key, value in
        found.append(StoreEntry(key: key.bytes, value: value.bytes))
        return .next
      }
      try expect(end.visited, equals: limit, "entries visited with a limit of \(limit), \(order)")
      try expect(found == Array(ordered.prefix(limit)), "the first \(limit) entries, \(order)")
      let rest = try expectValue(end.rest, "rest after \(limit) entries, \(order)")
      try expect(
        try await reader.entries(in: rest, order: order) == Array(ordered.dropFirst(limit)),
        "entries after \(limit), \(order)")
    }
  }
}
