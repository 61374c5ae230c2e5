import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let scanning: [Contract<StoreSubject>] = [
    promise("a range holds its lower bound and not its upper bound") { store in
      try await store.fill(entries("a", "b", "c", "d"))
      let range = KeyRange(from: bytes("b"), to: bytes("d"))
      try expect(try await keys(in: store, range), equals: ["b", "c"], "keys, ascending")
      try expect(try await keys(in: store, range, .descending), equals: ["c", "b"], "keys, descending")
      let between = KeyRange(from: bytes("aa"), to: bytes("cc"))
      try expect(try await keys(in: store, between), equals: ["b", "c"], "keys between bounds that are no keys")
      try expect(try await keys(in: store, between, .descending), equals: ["c", "b"], "the same, descending")
    },
    promise("a range without an end reaches the last key") { store in
      try await store.fill(entries("a", "b") + [StoreEntry(key: [0xFF, 0xFF], value: [])])
      let range = KeyRange(from: bytes("b"), to: nil)
      for order in [ScanOrder.ascending, .descending] {
        let found = try await store.read { try await $0.entries(in: range, order: order) }
        let expected = [bytes("b"), [0xFF, 0xFF]]
        try expect(found.map(\.key), equals: order == .ascending ? expected : expected.reversed(), "keys, \(order)")
      }
    },
    promise("empty ranges, and those the wrong way round, visit nothing") { store in
      try await store.fill(entries("a", "b", "c"))
      for (lower, upper) in [("b", "b"), ("c", "a"), ("bb", "bc"), ("d", "e"), ("", "")] {
        for order in [ScanOrder.ascending, .descending] {
          let range = KeyRange(from: bytes(lower), to: bytes(upper))
          try expect(try await keys(in: store, range, order), equals: [], "keys in \(range), \(order)")
        }
      }
    },
    promise("a prefix range finds the prefix and what begins with it") { store in
      try await store.fill(entries("a", "b", "b1", "b2x", "c"))
      let range = KeyRange(prefix: bytes("b"))
      try expect(try await keys(in: store, range), equals: ["b", "b1", "b2x"], "keys")
      try expect(try await keys(in: store, range, .descending), equals: ["b2x", "b1", "b"], "keys, descending")
    },
    promise("a limit stops the scan, and a limit of zero visits nothing") { store in
      try await store.fill(entries("a", "b", "c"))
      for (limit, count) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (Int.max, 3)] {
        for order in [ScanOrder.ascending, .descending] {
          try await store.read { reader in
            var visited = 0
            let end = try await reader.scan(.all, order: order, limit: limit) { _, _ in
              visited += 1
              return .next
            }
            try expect(visited, equals: count, "entries visited with a limit of \(limit), \(order)")
            try expect(end.visited, equals: count, "count told with a limit of \(limit), \(order)")
            try expect(end.rest != nil || limit >= 3, "a scan that was cut short tells no rest")
            try expect(limit <= 3 || end.rest == nil, "a scan that came to its end tells a rest")
          }
        }
      }
    },
    promise("a scan can be resumed where it stopped, in both orders") { store in
      let all = (0..<40).map { StoreEntry(key: key($0 * 3), value: number($0)) }
      try await store.fill(all)
      for order in [ScanOrder.ascending, .descending] {
        for page in [1, 2, 3, 7, 40, 41] {
          let pages = try await store.read { try await entriesInPages($0, of: page, order: order) }
          try expect(pages, equals: order == .ascending ? all : all.reversed(), "entries in pages of \(page), \(order)")
        }
      }
    },
    promise("a scan can be resumed in a later snapshot") { store in
      try await store.fill(entries("a", "c", "e", "g"))
      let (up, down) = try await store.read { reader in
        (
          try await reader.scan(.all, order: .ascending, limit: 2) { _, _ in .next }.rest,
          try await reader.scan(.all, order: .descending, limit: 2) { _, _ in .next }.rest
        )
      }
      try await store.write { transaction in
        try await transaction.delete(bytes("c"))
        try await transaction.delete(bytes("e"))
        for added in ["b", "c0", "d", "f"] { try await transaction.put([], for: bytes(added)) }
      }
      let upwards = try expectValue(up, "rest of the ascending scan")
      try expect(try await keys(in: store, upwards), equals: ["c0", "d", "f", "g"], "keys after c")
      let downwards = try expectValue(down, "rest of the descending scan")
      try expect(try await keys(in: store, downwards, .descending), equals: ["d", "c0", "b", "a"], "keys before e")
    },
    promise("a visitor that stops gets no further entry") { store in
      try await store.fill(entries("a", "b", "c", "d"))
      for (order, expected, rest) in [
        (ScanOrder.ascending, ["a", "b"], ["c", "d"]), (.descending, ["d", "c"], ["b", "a"]),
      ] {
        let (seen, end) = try await store.read { reader in
          var seen: [String] = []
          let end = try await reader.scan(.all, order: order, limit: nil) { key, _ in
            seen.append(String(decoding: key.bytes, as: UTF8.self))
            return seen.count == 2 ? .stop : .next
          }
          return (seen, end)
        }
        try expect(seen, equals: expected, "keys before the stop, \(order)")
        try expect(end.visited, equals: 2, "count told, the last entry among them")
        let range = try expectValue(end.rest, "rest after a stop")
        try expect(try await keys(in: store, range, order), equals: rest, "keys in the rest, \(order)")
      }
    },
    promise("a visitor's error ends the scan, comes out unchanged, and leaves the reader usable") { store in
      try await store.fill(entries("a", "b", "c"))
      try await store.read { reader in
        var visited = 0
        let failure = try await expectThrows(Failure.self, "a scan whose visitor throws") {
          try await reader.scan(.all, order: .ascending, limit: nil) { _, _ in
            visited += 1
            throw Failure(number: 7)
          }
        }
        try expect(failure, equals: Failure(number: 7), "error")
        try expect(visited, equals: 1, "entries visited")
        try expect(try await reader.get(bytes("b")), equals: bytes("b"), "value read afterwards")
        try expect(try await reader.entries(in: .all).count, equals: 3, "entries scanned afterwards")
      }
    },
    promise("scans of random ranges agree with a sorted array") { store in
      var random = SplitMix(seed: 11)
      var model = StoreModel()
      for _ in 0..<200 { model.put(random.bytes(upTo: 3), for: random.bytes(upTo: 4)) }
      try await store.fill(model.entries)
      for round in 0..<150 {
        let range = random.range()
        let order: ScanOrder = random.oneIn(2) ? .ascending : .descending
        let limit = random.oneIn(2) ? nil : Int.random(in: 0...20, using: &random)
        let found = try await store.read { try await $0.entries(in: range, order: order, limit: limit) }
        let expected = model.entries(in: range, order: order, limit: limit)
        try expect(found, equals: expected, "round \(round): \(range), \(order), limit \(String(describing: limit))")
      }
    },
  ]

  /// The keys of a range as strings.
  static func keys(
    in store: any OrderedStore,
    _ range: KeyRange,
    _ order: ScanOrder = .ascending
  ) async throws -> [String] {
    try await store.read { try await $0.entries(in: range, order: order) }
      .map { String(decoding: $0.key, as: UTF8.self) }
  }

  /// All entries, read a page at a time.
  private static func entriesInPages(
    _ reader: any StoreReader,
    of page: Int,
    order: ScanOrder
  ) async throws -> [StoreEntry] {
    var entries: [StoreEntry] = []
    var rest: KeyRange? = .all
    while let range = rest {
      let end = try await reader.scan(range, order: order, limit: page) { key, value in
        entries.append(StoreEntry(key: key.bytes, value: value.bytes))
        return .next
      }
      try expect(end.visited <= page, "\(end.visited) entries in a page of \(page)")
      try expect(end.rest != range, "the rest of a scan is the whole range again")
      rest = end.rest
    }
    return entries
  }
}
