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
        let next = size.next(limit: .max)
        #expect(next.entries <= 4_096 && next.bytes <= 1_048_576 && next.entries >= size.entries)
        size = next
      }
      #expect(PageSize(limit: 1).entries == 1)
      #expect(PageSize(limit: .max).entries < 1_000)
      #expect(PageSize(limit: 3).next(limit: 2).entries == 2)
    }

    @Test func `a scan over large values asks for few at once, and comes to its end in both directions`() async throws {
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

    @Test func `a read that says what comes first is one round trip, and answers the same`() async throws {
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
            // Once more, and another one: what came first is handed out once.
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
  }
}
