import VestaStoreInterop
import VestaTesting

// The anomalies have the names that the literature gives them (Berenson and others 1995; Fekete and others 2004).
extension StoreContracts {
  static let isolation: [Contract<StoreSubject>] = [
    promise("no dirty read: nobody sees a change before its commit, and writers do not block readers") { store in
      try await store.put(bytes("old"), for: bytes("a"))
      let (changed, goOn) = (Gate(), Gate())
      let writer = Task.detached {
        try await store.write { transaction in
          try await transaction.put(bytes("new"), for: bytes("a"))
          try await transaction.put(bytes("new"), for: bytes("b"))
          changed.open()
          await goOn.wait()
        }
      }
      await changed.wait()
      let seen = try await store.everything()
      goOn.open()
      _ = try await writer.value
      try expect(seen, equals: [StoreEntry(key: bytes("a"), value: bytes("old"))], "entries before the commit")
      try expect(try await keys(in: store, .all), equals: ["a", "b"], "keys after the commit")
    },
    promise("no non-repeatable read: a snapshot stays as it is while 100 commits happen, and does not block them") {
      store in
      try await store.fill(entries("a", "b", "c"))
      let (pinned, goOn) = (Gate(), Gate())
      let reader = Task.detached {
        try await store.read { reader in
          let before = (reader.version, try await reader.entries(in: .all))
          pinned.open()
          await goOn.wait()
          let again = try await reader.get([bytes("a"), bytes("new")])
          try expect(again, equals: [bytes("a"), nil], "values read again")
          try expect(try await reader.get(bytes("b")), equals: bytes("b"), "value read for the first time")
          try expect(try await reader.entries(in: .all), equals: before.1, "entries scanned again")
          let descending = try await reader.entries(in: .all, order: .descending)
          try expect(descending, equals: before.1.reversed(), "entries scanned again, descending")
          try expect(reader.version, equals: before.0, "version")
        }
      }
      await pinned.wait()
      for round in 0..<100 {
        try await store.write { transaction in
          try await transaction.put(number(round), for: bytes("a"))
          try await transaction.put(number(round), for: bytes("new"))
          try await transaction.delete(bytes("b"))
        }
      }
      try expect(try await store.value(for: bytes("a")), equals: number(99), "value that a new reader sees")
      goOn.open()
      try await reader.value
    },
    promise("no torn read: a snapshot sees all of a transaction or none of it") { store in
      try await store.fill((0..<4).map { StoreEntry(key: key($0), value: number(100)) })
      let done = Gate()
      let writers = Task.detached {
        _ = try await concurrently(2) { task in
          var random = SplitMix(seed: UInt64(task))
          for _ in 0..<60 {
            let (from, to) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<4, using: &random))
            try await transfer(1, from: key(from), to: key(to), in: store)
          }
        }
        done.open()
      }
      for _ in 0..<120 {
        let sum = try await store.read { reader in
          var sum = 0
          for account in 0..<4 {
            sum += number(in: try await reader.get(key(account)))
            await Task.yield()
          }
          return sum
        }
        try expect(sum, equals: 400, "sum of the accounts")
      }
      await done.wait()
      try await writers.value
      let sum = try await store.everything().reduce(0) { $0 + number(in: $1.value) }
      try expect(sum, equals: 400, "sum at the end")
    },
    promise("a transaction reads at one version") { store in
      try await store.fill((0..<2).map { StoreEntry(key: key($0), value: number(0)) })
      for round in 0..<20 {
        let meeting = Meeting(of: 2)
        let reader = Task.detached {
          try await store.write { transaction in
            let first = number(in: try await transaction.get(key(0)))
            await meeting.arrive()
            let second = number(in: try await transaction.get(key(1)))
            try await transaction.put(number(second - first), for: bytes("difference"))
          }
        }
        await meeting.arrive()
        try await store.write { transaction in
          for account in 0..<2 { try await transaction.put(number(round + 1), for: key(account)) }
        }
        _ = try await reader.value
        let difference = number(in: try await store.value(for: bytes("difference")))
        try expect(difference, equals: 0, "difference of two values that always change together")
      }
    },
    promise("no lost update: of two transactions that read and change one key, the second sees the first") { store in
      for round in 0..<20 {
        let meeting = Meeting(of: 2)
        _ = try await concurrently(2) { _ in
          try await store.write { transaction in
            let value = count(in: try await transaction.get(bytes("a")))
            await meeting.arrive()
            try await transaction.put(number(value + 1), for: bytes("a"))
          }
        }
        try expect(number(in: try await store.value(for: bytes("a"))), equals: round * 2 + 2, "counter")
      }
    },
    promise("no write skew: transactions that read what the other changes do not both go by the old state") { store in
      for _ in 0..<20 {
        try await store.fill([StoreEntry(key: key(0), value: number(1)), StoreEntry(key: key(1), value: number(1))])
        let meeting = Meeting(of: 2)
        _ = try await concurrently(2) { mine in
          try await store.write { transaction in
            let values = try await transaction.get([key(0), key(1)])
            await meeting.arrive()
            guard values.reduce(0, { $0 + number(in: $1) }) == 2 else { return }
            try await transaction.put(number(0), for: key(mine))
          }
        }
        let sum = try await store.everything().reduce(0) { $0 + number(in: $1.value) }
        try expect(sum, equals: 1, "how many stay on duty")
      }
    },
    promise("no phantom: a range that a transaction found empty has not been filled by another meanwhile") { store in
      for round in 0..<20 {
        try await store.write { try await $0.deleteRange(.all) }
        let meeting = Meeting(of: 2)
        _ = try await concurrently(2) { mine in
          try await store.write { transaction in
            let order: ScanOrder = round % 2 == 0 ? .ascending : .descending
            let found = try await transaction.entries(in: KeyRange(prefix: bytes("room/")), order: order)
            await meeting.arrive()
            guard found.isEmpty else { return }
            try await transaction.put([], for: bytes("room/\(mine)"))
          }
        }
        try expect(try await store.everything().count, equals: 1, "entries that claim to be the only one")
      }
    },
    promise("no phantom after a limit: what a limited scan saw first is still first at the commit") { store in
      for _ in 0..<20 {
        try await store.write { transaction in
          try await transaction.deleteRange(.all)
          try await transaction.put([], for: key(100))
        }
        let meeting = Meeting(of: 2)
        _ = try await concurrently(2) { _ in
          try await store.write { transaction in
            let first = try await transaction.entries(in: .all, limit: 1)
            await meeting.arrive()
            guard let lowest = first.first?.key, let low = lowest.last else { return }
            try await transaction.put([], for: [lowest[0], low - 1])
          }
        }
        let keys = try await store.everything().map(\.key)
        try expect(keys, equals: [98, 99, 100].map(key), "keys, each put below the lowest one")
      }
    },
    promise("no read-only transaction anomaly: what a reader saw fits the order of the versions") { store in
      for _ in 0..<20 {
        try await store.fill([
          StoreEntry(key: bytes("x"), value: number(0)), StoreEntry(key: bytes("y"), value: number(0)),
        ])
        let (haveRead, haveSeen) = (Meeting(of: 2), Meeting(of: 2))
        let withdrawal = Task.detached {
          try await store.write { transaction in
            let values = try await transaction.get([bytes("x"), bytes("y")])
            await haveRead.arrive()
            await haveSeen.arrive()
            let sum = values.reduce(0) { $0 + number(in: $1) }
            try await transaction.put(number(sum < 10 ? -11 : -10), for: bytes("x"))
          }
        }
        await haveRead.arrive()
        try await store.put(number(20), for: bytes("y"))
        let seen = try await store.read { try await $0.get([bytes("x"), bytes("y")]) }
        await haveSeen.arrive()
        _ = try await withdrawal.value
        let x = number(in: try await store.value(for: bytes("x")))
        let sawOnlyTheDeposit = number(in: seen[0]) == 0 && number(in: seen[1]) == 20
        try expect(!(sawOnlyTheDeposit && x == -11), "the reader saw the deposit alone, the withdrawal did not see it")
      }
    },
    promise("a read inside a transaction's body sees the committed state and does not wait") { store in
      try await store.put(bytes("old"), for: bytes("a"))
      let commit = try await store.write { transaction in
        try await transaction.put(bytes("new"), for: bytes("a"))
        return try await store.value(for: bytes("a"))
      }
      try expect(commit.value, equals: bytes("old"), "value read beside the transaction")
    },
    promise("a reader that came before a transaction's commit keeps its snapshot, one that comes after sees it all") {
      store in
      let (pinned, goOn) = (Gate(), Gate())
      let early = Task.detached {
        try await store.read { reader in
          try expect(try await reader.entries(in: .all), equals: [], "entries at the beginning")
          pinned.open()
          await goOn.wait()
          try expect(try await reader.entries(in: .all), equals: [], "entries after the commit of another")
        }
      }
      await pinned.wait()
      try await store.fill(entries("a", "b", "c"))
      try expect(try await keys(in: store, .all), equals: ["a", "b", "c"], "keys that a later reader sees")
      goOn.open()
      try await early.value
    },
  ]

  /// Moves an amount from one account to another.
  private static func transfer(
    _ amount: Int,
    from: [UInt8],
    to: [UInt8],
    in store: any OrderedStore
  ) async throws {
    try await store.write { transaction in
      try await transaction.put(number(number(in: try await transaction.get(from)) - amount), for: from)
      await Task.yield()
      try await transaction.put(number(number(in: try await transaction.get(to)) + amount), for: to)
    }
  }
}
