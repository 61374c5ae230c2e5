import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let transactions: [Contract<StoreSubject>] = [
    promise("write gives what its body returned") { store in
      let commit = try await store.write { transaction in
        try await transaction.put([1], for: [1])
        return "done"
      }
      try expect(commit.value, equals: "done", "result")
      try expect(commit.version > .zero, "a commit at version zero")
    },
    promise("a failed body leaves nothing behind, and its error comes out unchanged") { store in
      try await store.fill(entries("a", "b", "c"))
      let before = try await store.everything()
      let version = try await store.read { $0.version }
      let failure = try await expectThrows(Failure.self, "a write whose body throws") {
        try await store.write { transaction in
          try await transaction.put(bytes("changed"), for: bytes("a"))
          try await transaction.delete(bytes("b"))
          try await transaction.put(bytes("new"), for: bytes("x"))
          try await transaction.deleteRange(KeyRange(from: bytes("c"), to: nil))
          throw Failure(number: 3)
        }
      }
      try expect(failure, equals: Failure(number: 3), "error")
      try expect(try await store.everything(), equals: before, "entries after the failure")
      try expect(try await store.read { $0.version }, equals: version, "version after the failure")
      try await store.put([], for: bytes("d"))
      try expect(try await keys(in: store, .all), equals: ["a", "b", "c", "d"], "keys after the next commit")
    },
    promise("every commit has a version above the one before") { store in
      var last = StoreVersion.zero
      for round in 0..<50 {
        let version = try await store.put(number(round), for: bytes("a"))
        try expect(version > last, "\(version) after \(last)")
        last = version
      }
      try expect(try await store.read { $0.version }, equals: last, "version that a reader sees")
    },
    promise("a body that changes nothing takes no version") { store in
      let version = try await store.put([1], for: bytes("a"))
      let commit = try await store.write { try await $0.get(bytes("a")) }
      try expect(commit.version, equals: version, "version of a transaction that only reads")
      try expect(try await store.read { $0.version }, equals: version, "version afterwards")
      try expect(commit.value, equals: [1], "value read")
    },
    promise("the last change of a key in a transaction wins") { store in
      try await store.fill(entries("a", "b"))
      try await store.write { transaction in
        for round in 0..<10 { try await transaction.put(number(round), for: bytes("a")) }
        try await transaction.delete(bytes("b"))
        try await transaction.put(bytes("again"), for: bytes("b"))
        try await transaction.put(bytes("gone"), for: bytes("c"))
        try await transaction.delete(bytes("c"))
      }
      let expected = [
        StoreEntry(key: bytes("a"), value: bytes("9")), StoreEntry(key: bytes("b"), value: bytes("again")),
      ]
      try expect(try await store.everything(), equals: expected, "entries")
    },
    promise("a transaction of ten thousand keys is kept whole") { store in
      let count = 10_000
      try await store.write { transaction in
        for index in 0..<count { try await transaction.put(number(index), for: key(index * 7919 % count)) }
      }
      let (found, ordered) = try await store.read { reader in
        var found = 0
        var ordered = true
        _ = try await reader.scan(.all, order: .ascending, limit: nil) { bytes, _ in
          ordered = ordered && bytes.bytes == key(found)
          found += 1
          return .next
        }
        return (found, ordered)
      }
      try expect(found, equals: count, "entries")
      try expect(ordered, "the keys are not in order")
      _ = try await expectThrows(Failure.self, "a write whose body throws at its end") {
        try await store.write { transaction in
          for index in 0..<count { try await transaction.delete(key(index)) }
          throw Failure()
        }
      }
      let left = try await store.read {
        try await $0.scan(.all, order: .ascending, limit: nil) { _, _ in .next }.visited
      }
      try expect(left, equals: count, "entries after a failed transaction over all of them")
    },
    promise("32 tasks that increment one counter lose no increment") { store in
      _ = try await concurrently(32) { _ in
        for _ in 0..<5 { try await increment(bytes("counter"), in: store) }
      }
      try expect(number(in: try await store.value(for: bytes("counter"))), equals: 160, "counter")
    },
    promise("the order of versions is an order in which the transactions could have run alone") { store in
      let commits = try await concurrently(16) { _ in
        var commits: [StoreCommit<Int>] = []
        for _ in 0..<4 { commits.append(try await increment(bytes("counter"), in: store)) }
        return commits
      }
      let values = commits.flatMap { $0 }.sorted { $0.version < $1.version }.map(\.value)
      try expect(values, equals: Array(1...64), "values in the order of versions")
    },
    promise("concurrent transactions on keys of their own are all kept") { store in
      let versions = try await concurrently(16) { task in
        var versions: [StoreVersion] = []
        for round in 0..<8 { versions.append(try await store.put(number(round), for: key(task * 8 + round))) }
        return versions
      }
      try expect(try await store.everything().map(\.key), equals: (0..<128).map(key), "keys")
      try expect(Set(versions.flatMap { $0 }).count, equals: 128, "different versions")
    },
    promise("a read that begins after a write has returned sees it, on any task") { store in
      for round in 1...30 {
        try await store.put(number(round), for: bytes("a"))
        let seen = try await concurrently(2) { _ in number(in: try await store.value(for: bytes("a"))) }
        try expect(seen, equals: [round, round], "value read by other tasks")
      }
    },
  ]

  /// Adds one to a counter; returns its new value.
  @discardableResult
  static func increment(_ key: [UInt8], in store: any OrderedStore) async throws -> StoreCommit<Int> {
    try await store.write { transaction in
      let value = count(in: try await transaction.get(key)) + 1
      await Task.yield()
      try await transaction.put(number(value), for: key)
      return value
    }
  }
}
