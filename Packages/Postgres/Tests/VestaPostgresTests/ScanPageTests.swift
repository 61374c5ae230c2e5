import Testing
@_spi(Benchmarking) import VestaPostgres
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

extension OneAtATime {
  /// How much scans ask for.
  @Suite struct ScanPageTests {
    @Test func `pages grow with what was taken, up to a bound`() {
      var size = PageSize()
      for _ in 0..<20 {
        let next = size.next
        #expect(next.entries <= 4_096 && next.bytes <= 1_048_576 && next.entries >= size.entries)
        size = next
      }
      #expect(PageSize(limit: 1).entries == 1)
      #expect(PageSize(limit: .max).entries < 1_000)
      #expect(PageSize(limit: 3).next.upTo(2).entries == 2)
    }

    @Test func `a page has others after it where it has what was asked for`() {
      let entries = [StoreEntry(key: [1], value: [2, 3]), StoreEntry(key: [2], value: [])]
      #expect(Page(entries, PageSize(limit: 2)).hasMore)
      #expect(!Page(entries, PageSize(limit: 3)).hasMore)
      #expect(!Page([], PageSize(limit: 1)).hasMore)
      let large = StoreEntry(key: [1], value: [UInt8](repeating: 0, count: 200_000))
      #expect(Page([large], PageSize(limit: 3)).hasMore)
    }

    @Test func `keys as long as the index can have, and one byte longer, are found like others`() async throws {
      let store = try await Server.open(Server.newSpace())
      let keys = [2_047, 2_048, 2_049].map { [UInt8](repeating: 1, count: $0) }
      func values() async throws -> [[[UInt8]?]] {
        [try await store.get(keys), try await store.read { try await $0.get(keys) }]
      }
      // That a key is missing is known with the beginning, or needs no question.
      let before = store.roundTrips
      for key in keys { #expect(try await store.get(key) == nil) }
      #expect(store.roundTrips - before == 3)
      try await store.write { for key in keys.prefix(2) { try await $0.put([1], for: key) } }
      #expect(try await values() == [[[1], [1], nil], [[1], [1], nil]])
      try await store.write { for key in keys { try await $0.put([2], for: key) } }
      #expect(try await values() == [[[2], [2], [2]], [[2], [2], [2]]])
      #expect(try await store.read { try await $0.entries(in: .all) }.map(\.key) == keys)
      try await store.write { for key in keys { try await $0.delete(key) } }
      #expect(try await values() == [[nil, nil, nil], [nil, nil, nil]])
      try await store.close()
    }

    @Test func `a transaction that empties a range with one long key has changed the store`() async throws {
      let store = try await Server.open(Server.newSpace())
      let long = [UInt8](repeating: 9, count: 3_000)
      let version = try await store.put([1], for: long)
      let commit = try await store.write { try await $0.deleteRange(KeyRange(from: [9], to: [10])) }
      #expect(commit.version > version)
      #expect(try await store.get(long) == nil)
      // Now there is nothing in it.
      let again = try await store.write { try await $0.deleteRange(KeyRange(from: [9], to: [10])) }
      #expect(again.version == commit.version)
      try await store.close()
    }

    @Test func `a scan over large values asks for few at once, and ends in both directions`() async throws {
      let store = try await Server.open(Server.newSpace())
      var random = SplitMix(seed: 4)
      var model: [StoreEntry] = []
      for index in 0..<40 {
        let size = [0, 10, 5_000, 60_000, 180_000].randomElement(using: &random) ?? 0
        model.append(StoreEntry(key: key(index), value: [UInt8](repeating: UInt8(index), count: size)))
      }
      for entry in model { try await store.put(entry.value, for: entry.key) }
      for limit in [nil, 1, 2, 7, 39, 40, 41] as [Int?] {
        let forward = try await store.read { try await $0.entries(in: .all, limit: limit) }
        #expect(forward == Array(model.prefix(limit ?? 100)))
        let backward = try await store.read { try await $0.entries(in: .all, order: .descending, limit: limit) }
        #expect(backward == Array(model.reversed().prefix(limit ?? 100)))
      }
      // A page ends with the entry that fills it.
      let snapshot = try await PostgresSnapshot.begin(store.core.pool, store.core.schema, isInside: false, reading: nil)
      let page = try await snapshot.page(of: .all, .ascending, PageSize(limit: 256))
      let bytes = page.entries.map { $0.key.count + $0.value.count }
      #expect(bytes.dropLast().reduce(0, +) < 131_072 && page.hasMore)
      snapshot.end()
      try await store.close()
    }

    @Test func `a read that names the first keys is one round trip, and answers the same`() async throws {
      let store = try await Server.open(Server.newSpace())
      try await store.write { transaction in
        for index in 0..<300 { try await transaction.put(number(index), for: key(index)) }
        try await transaction.put([7], for: [UInt8](repeating: 9, count: 5_000))
      }
      func trips(_ body: () async throws -> Void) async throws -> Int {
        let before = store.roundTrips
        try await body()
        return store.roundTrips - before
      }
      let (first, last) = (KeyRange(from: key(0), to: key(300)), [UInt8](repeating: 9, count: 5_000))
      let one = try await trips {
        let value = try await store.get(key(7))
        #expect(number(in: value) == 7)
      }
      let several = try await trips {
        let values = try await store.get([key(1), key(999), key(2), key(1)])
        #expect(values.map { number(in: $0) } == [1, 0, 2, 1])
      }
      let alone = try await trips { try await store.put([1], for: key(1)) }
      let readFirst = try await trips {
        try await store.write { try await $0.put(try await $0.get(key(1)) ?? [], for: key(2)) }
      }
      #expect([one, several, alone, readFirst] == [1, 1, 1, 2])
      // Whether there are long keys is learnt with the beginning.
      let long = try await trips {
        let values = try await store.get([key(3), last])
        #expect(values == [number(3), [7]])
      }
      let scanned = try await trips {
        let entry = try await store.first(in: first)
        #expect(entry?.value == number(0))
      }
      #expect([long, scanned] == [2, 2])
      // The announced and the actual reads may differ.
      try await store.put(number(2), for: key(2))
      let other = try await store.read(expecting: .keys([key(3)])) { reader in
        (
          try await reader.get(key(4)), try await reader.get([key(3), key(5)]),
          try await reader.entries(in: first, limit: 2)
        )
      }
      #expect(other.0 == number(4) && other.1 == [number(3), number(5)] && other.2.count == 2)
      for limit in [nil, 2, 500] as [Int?] {
        for order in [ScanOrder.ascending, .descending] {
          let said = try await store.read(expecting: .scan(first, order: order, limit: limit)) { reader in
            let entries = try await reader.entries(in: first, order: order, limit: limit)
            // Once more, and another one: the first entries are handed out once.
            let again = try await reader.entries(in: first, order: order, limit: limit)
            #expect(again == entries)
            return entries
          }
          let plain = try await store.read { try await $0.entries(in: first, order: order, limit: limit) }
          #expect(said == plain)
        }
      }
      try await store.close()
    }

    @Test func `scans pass long keys in order, page by page, whatever a transaction has changed`() async throws {
      let store = try await Server.open(Server.newSpace())
      var random = SplitMix(seed: 9)
      // Long keys with one beginning of more than the index has, in the midst of short ones.
      let stem = [UInt8](repeating: 5, count: 2_060)
      var model: [[UInt8]: [UInt8]] = [:]
      for index in 0..<300 {
        let long = (random.oneIn(2) ? stem : [UInt8(random.below(10))] + stem) + key(index)
        model[random.oneIn(3) ? [UInt8(random.below(10))] + key(index) : long] = number(index)
      }
      let first = model
      try await store.write { for (key, value) in first { try await $0.put(value, for: key) } }
      func sorted(_ entries: [[UInt8]: [UInt8]], in range: KeyRange) -> [StoreEntry] {
        entries.filter { range.contains($0.key) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
          .map { StoreEntry(key: $0.key, value: $0.value) }
      }
      let ranges: [KeyRange] = [
        .all, KeyRange(from: stem + key(40), to: stem + key(260)), KeyRange(from: stem, to: nil),
        KeyRange(from: [3], to: stem + [0]), KeyRange(from: [5, 5], to: [6]),
      ]
      for range in ranges {
        for limit in [nil, 1, 70, 299] as [Int?] {
          let expected = sorted(first, in: range)
          let forward = try await store.read { try await $0.entries(in: range, limit: limit) }
          #expect(forward == Array(expected.prefix(limit ?? 1_000)))
          let backward = try await store.read { try await $0.entries(in: range, order: .descending, limit: limit) }
          #expect(backward == Array(expected.reversed().prefix(limit ?? 1_000)))
        }
      }
      // Changes of a transaction, at long keys and short ones, with a range that is cleared.
      let (gone, keys) = (
        KeyRange(from: stem + key(100), to: stem + key(140)), model.keys.sorted { $0.count < $1.count }
      )
      var changes: [[UInt8]: [UInt8]?] = [:]
      for key in keys where random.oneIn(4) { changes[key] = .some(random.oneIn(2) ? nil : [1]) }
      changes[stem + [0, 0, 0]] = .some([2])
      var after = model.filter { !gone.contains($0.key) }
      for (key, value) in changes { after[key] = value }
      let (done, result) = (changes, after)
      for order in [ScanOrder.ascending, .descending] {
        let expected = order == .ascending ? sorted(result, in: .all) : sorted(result, in: .all).reversed()
        let seen = try await store.write { transaction in
          try await transaction.deleteRange(gone)
          for (key, value) in done {
            if let value { try await transaction.put(value, for: key) } else { try await transaction.delete(key) }
          }
          return try await transaction.entries(in: .all, order: order)
        }.value
        #expect(seen == expected)
      }
      // A page is no more than what was asked for.
      let snapshot = try await PostgresSnapshot.begin(store.core.pool, store.core.schema, isInside: false, reading: nil)
      let page = try await snapshot.page(of: .all, .ascending, PageSize(limit: 2), isLong: true)
      #expect(page.entries.count == 2 && page.hasMore)
      snapshot.end()
      try await store.close()
    }
  }
}
