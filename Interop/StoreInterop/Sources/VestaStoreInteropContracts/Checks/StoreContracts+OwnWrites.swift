import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let ownWrites: [Contract<StoreSubject>] = [
    promise("a transaction's gets see its own puts and deletes") { store in
      try await store.fill(entries("a", "b"))
      try await store.write { transaction in
        try await transaction.put(bytes("new"), for: bytes("a"))
        try await transaction.delete(bytes("b"))
        try await transaction.put(bytes("c"), for: bytes("c"))
        let keys = ["a", "b", "c", "b"].map(bytes)
        let expected = [bytes("new"), nil, bytes("c"), nil]
        for (key, value) in zip(keys, expected) {
          try expect(try await transaction.get(key), equals: value, "value inside the transaction")
        }
        try expect(try await transaction.get(keys), equals: expected, "values inside the transaction")
        try await transaction.put(bytes("back"), for: bytes("b"))
        try expect(try await transaction.get(bytes("b")), equals: bytes("back"), "value put after its deletion")
        try await transaction.delete(bytes("c"))
        try expect(try await transaction.get(bytes("c")), equals: nil, "value deleted after it was put")
      }
      try expect(try await keys(in: store, .all), equals: ["a", "b"], "keys after the commit")
    },
    promise("a transaction's scans merge its own puts and deletes in both orders") { store in
      try await store.fill(entries("b", "d", "f", "h"))
      try await store.write { transaction in
        for added in ["a", "c", "i"] { try await transaction.put(bytes("new"), for: bytes(added)) }
        try await transaction.put(bytes("changed"), for: bytes("d"))
        try await transaction.delete(bytes("f"))
        let expected = [("a", "new"), ("b", "b"), ("c", "new"), ("d", "changed"), ("h", "h"), ("i", "new")]
          .map { StoreEntry(key: bytes($0.0), value: bytes($0.1)) }
        try expect(try await transaction.entries(in: .all), equals: expected, "entries, ascending")
        let descending = try await transaction.entries(in: .all, order: .descending)
        try expect(descending, equals: expected.reversed(), "entries, descending")
        let part = try await transaction.entries(in: KeyRange(from: bytes("c"), to: bytes("i")), order: .descending)
        try expect(part, equals: expected[2...4].reversed(), "entries of a range, descending")
      }
    },
    promise("a transaction's scans count only what is left of its own deletes") { store in
      try await store.fill((0..<20).map { StoreEntry(key: key($0), value: []) })
      try await store.write { transaction in
        for number in 0..<20 where number % 4 != 0 { try await transaction.delete(key(number)) }
        let upwards = try await transaction.entries(in: .all, limit: 3).map(\.key)
        try expect(upwards, equals: [0, 4, 8].map(key), "first three keys")
        let downwards = try await transaction.entries(in: .all, order: .descending, limit: 3).map(\.key)
        try expect(downwards, equals: [16, 12, 8].map(key), "last three keys")
      }
    },
    promise("deleteRange takes its lower bound and leaves its upper bound") { store in
      try await store.fill(entries("a", "b", "c", "d", "e"))
      try await store.write { try await $0.deleteRange(KeyRange(from: bytes("b"), to: bytes("d"))) }
      try expect(try await keys(in: store, .all), equals: ["a", "d", "e"], "keys")
      try await store.write { try await $0.deleteRange(KeyRange(from: bytes("dd"), to: nil)) }
      try expect(try await keys(in: store, .all), equals: ["a", "d"], "keys after a range without an end")
      try await store.write { try await $0.deleteRange(.all) }
      try expect(try await keys(in: store, .all), equals: [], "keys after deleting everything")
    },
    promise("deleteRange of an empty range, or one the wrong way round, takes nothing") { store in
      try await store.fill(entries("a", "b", "c"))
      try await store.write { transaction in
        try await transaction.deleteRange(KeyRange(from: bytes("b"), to: bytes("b")))
        try await transaction.deleteRange(KeyRange(from: bytes("c"), to: bytes("a")))
        try await transaction.deleteRange(KeyRange(from: bytes("x"), to: nil))
      }
      try expect(try await keys(in: store, .all), equals: ["a", "b", "c"], "keys")
    },
    promise("a transaction sees its own deleteRange, and what it puts into the range afterwards") { store in
      try await store.fill(entries("a", "b", "c", "d"))
      try await store.write { transaction in
        try await transaction.put([], for: bytes("bb"))
        try await transaction.deleteRange(KeyRange(from: bytes("b"), to: bytes("d")))
        try expect(try await transaction.get(bytes("b")), equals: nil, "value in the deleted range")
        try expect(try await transaction.get(bytes("bb")), equals: nil, "own value in the deleted range")
        try await transaction.put(bytes("new"), for: bytes("c"))
        let expected = [("a", "a"), ("c", "new"), ("d", "d")].map { StoreEntry(key: bytes($0), value: bytes($1)) }
        try expect(try await transaction.entries(in: .all), equals: expected, "entries, ascending")
        let descending = try await transaction.entries(in: .all, order: .descending)
        try expect(descending, equals: expected.reversed(), "entries, descending")
      }
      try expect(try await keys(in: store, .all), equals: ["a", "c", "d"], "keys after the commit")
    },
    promise("a scan of a transaction can be resumed after it has changed what lies ahead") { store in
      try await store.fill(entries("a", "c", "e"))
      try await store.write { transaction in
        let end = try await transaction.scan(.all, order: .ascending, limit: 1) { _, _ in .next }
        try await transaction.put([], for: bytes("b"))
        try await transaction.delete(bytes("c"))
        let rest = try expectValue(end.rest, "rest")
        let keys = try await transaction.entries(in: rest).map(\.key)
        try expect(keys, equals: ["b", "e"].map(bytes), "keys in the rest")
      }
    },
    promise("random changes and reads in one transaction agree with a sorted array") { store in
      var random = SplitMix(seed: 5)
      var model = StoreModel()
      for _ in 0..<60 { model.put(random.bytes(upTo: 2), for: random.bytes(upTo: 3)) }
      try await store.fill(model.entries)
      let start = model
      let result = try await store.write { transaction in
        var random = SplitMix(seed: 6)
        var model = start
        for step in 0..<120 {
          try await change(transaction, &model, &random)
          let range = random.range()
          let order: ScanOrder = random.oneIn(2) ? .ascending : .descending
          let limit = random.oneIn(2) ? nil : Int.random(in: 0...10, using: &random)
          let found = try await transaction.entries(in: range, order: order, limit: limit)
          let expected = model.entries(in: range, order: order, limit: limit)
          try expect(found, equals: expected, "step \(step): \(range), \(order)")
        }
        return model
      }
      try expect(try await store.everything(), equals: result.value.entries, "entries after the commit")
    },
  ]

  /// Makes one random change in a transaction and in the model of it.
  private static func change(
    _ transaction: any StoreTransaction,
    _ model: inout StoreModel,
    _ random: inout SplitMix
  ) async throws {
    let key = random.bytes(upTo: 3)
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      let range = random.range()
      try await transaction.deleteRange(range)
      model.deleteRange(range)
    case 1...3:
      try await transaction.delete(key)
      model.delete(key)
    default:
      let value = random.bytes(upTo: 2)
      try await transaction.put(value, for: key)
      model.put(value, for: key)
    }
  }
}
