import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let reading: [Contract<StoreSubject>] = [
    promise("an empty store has no entries and is at version zero") { store in
      try expect(try await store.everything(), equals: [], "entries")
      try expect(try await store.read { $0.version }, equals: .zero, "version")
      try expect(try await store.value(for: bytes("a")), equals: nil, "value of a missing key")
    },
    promise("get gives what was put") { store in
      try await store.put(bytes("one"), for: bytes("a"))
      try expect(try await store.value(for: bytes("a")), equals: bytes("one"), "value")
      try await store.put(bytes("two"), for: bytes("a"))
      try expect(try await store.value(for: bytes("a")), equals: bytes("two"), "value put in its place")
      try expect(try await store.value(for: bytes("ab")), equals: nil, "value of a longer key")
      try expect(try await store.value(for: []), equals: nil, "value of the empty key")
    },
    promise("multi-get answers in the order of the keys, repeats and gaps included") { store in
      try await store.fill(entries("a", "b", "c"))
      let keys = ["c", "x", "a", "c", "", "b", "c"].map(bytes)
      let expected = [bytes("c"), nil, bytes("a"), bytes("c"), nil, bytes("b"), bytes("c")]
      try expect(try await store.read { try await $0.get(keys) }, equals: expected, "values")
      try expect(try await store.read { try await $0.get([[UInt8]]()) }, equals: [], "values for no keys")
    },
    promise("a read that says what comes first reads what it asks for, right or wrong") { store in
      try await store.fill(entries("a", "b", "c", "d"))
      let (all, ends) = (KeyRange(from: [], to: nil), KeyRange(from: bytes("b"), to: bytes("d")))
      let guesses: [StoreFirstRead] = [
        .keys([]), .keys([bytes("a")]), .keys(["x", "b", "b", ""].map(bytes)),
        .scan(all, order: .ascending, limit: nil), .scan(all, order: .descending, limit: 2),
        .scan(ends, order: .ascending, limit: 0),
      ]
      for guess in guesses {
        try await store.read(expecting: guess) { reader in
          let values = try await reader.get(["a", "x", "b"].map(bytes))
          try expect(values, equals: [bytes("a"), nil, bytes("b")], "values")
          for order in [ScanOrder.ascending, .descending] {
            for limit in [nil, 2] as [Int?] {
              let found = try await reader.entries(in: all, order: order, limit: limit).map(\.key)
              let keys = ["a", "b", "c", "d"].map(bytes)
              let sorted = order == .ascending ? keys : keys.reversed()
              try expect(found, equals: Array(sorted.prefix(limit ?? 4)), "keys of \(guess)")
            }
          }
          try expect(try await reader.entries(in: ends).map(\.key), equals: ["b", "c"].map(bytes), "a part")
          try expect(try await reader.firstKey(in: ends), equals: bytes("b"), "first key of a part")
          try expect(try await reader.firstKey(in: KeyRange(from: bytes("x"), to: nil)), equals: nil, "no first key")
        }
      }
    },
    promise("a read that says what comes first sees what was committed before it") { store in
      for number in 0..<5 {
        let version = try await store.put([UInt8(number)], for: bytes("a"))
        try expect(try await store.get(bytes("a")), equals: [UInt8(number)], "value")
        try expect(try await store.first(in: .all)?.value, equals: [UInt8(number)], "first entry")
        let seen = try await store.read(expecting: .keys([bytes("a")])) { $0.version }
        try expect(seen, equals: version, "version")
      }
    },
    promise("the empty key and empty values are kept") { store in
      try await store.fill([StoreEntry(key: [], value: bytes("v")), StoreEntry(key: [0], value: [])])
      try expect(try await store.value(for: []), equals: bytes("v"), "value of the empty key")
      try expect(try await store.value(for: [0]), equals: [], "empty value")
      try expect(try await store.everything().map(\.key), equals: [[], [0]], "keys")
      try await store.write { try await $0.delete([]) }
      try expect(try await store.everything().map(\.key), equals: [[0]], "keys after deleting the empty one")
    },
    promise("keys come in unsigned byte order, a shorter key before the longer one it begins") { store in
      let single = (0...255).map { [UInt8($0)] }
      let keys = single + single.map { $0 + [0] } + single.map { $0 + [0xFF] }
      try await store.fill(keys.shuffled().map { StoreEntry(key: $0, value: $0) })
      let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
      try expect(try await store.everything(), equals: sorted.map { StoreEntry(key: $0, value: $0) }, "entries")
    },
    promise("values come back bit for bit, whatever the bytes") { store in
      let value = (0..<1024).map { UInt8(truncatingIfNeeded: $0 * 7) }
      try await store.put(value, for: value)
      try expect(try await store.value(for: value), equals: value, "value")
    },
    promise("arrays handed in and out are the caller's own") { store in
      let handedIn = bytes("value")
      try await store.write { transaction in
        var value = handedIn
        try await transaction.put(value, for: bytes("a"))
        value[0] = 0
        try expect(try await transaction.get(bytes("a")), equals: handedIn, "own value after the array was changed")
      }
      var handedOut = try expectValue(try await store.value(for: bytes("a")), "value")
      handedOut[0] = 0
      try expect(try await store.value(for: bytes("a")), equals: handedIn, "value after a change of a copy")
    },
    promise("a reader's version is that of the last commit it sees") { store in
      let first = try await store.put([1], for: bytes("a"))
      try expect(try await store.read { $0.version }, equals: first, "version")
      let second = try await store.put([2], for: bytes("a"))
      try expect(try await store.read { $0.version }, equals: second, "version after another commit")
      let basis = try await store.write { $0.version }
      try expect(basis.value, equals: second, "version that a transaction is based on")
    },
    promise("a read may hold other reads of the same store") { store in
      try await store.put([1], for: bytes("a"))
      try expect(try await nestedReads(of: store, depth: 20), equals: 20, "reads inside one another")
    },
  ]

  /// Reads inside reads; returns how many of them found the key.
  private static func nestedReads(of store: any OrderedStore, depth: Int) async throws -> Int {
    guard depth > 0 else { return 0 }
    return try await store.read { reader in
      let inner = try await nestedReads(of: store, depth: depth - 1)
      return try await reader.get(bytes("a")) == nil ? inner : inner + 1
    }
  }
}
