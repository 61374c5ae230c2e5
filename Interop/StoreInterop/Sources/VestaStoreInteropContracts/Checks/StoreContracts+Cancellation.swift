import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let cancellation: [Contract<StoreSubject>] = [
    promise("a write of a task that is cancelled already changes nothing") { store in
      let begin = Gate()
      let task = Task.detached {
        await begin.wait()
        try await store.put([1], for: bytes("a"))
      }
      task.cancel()
      begin.open()
      _ = try await expectThrows(CancellationError.self, "a write of a cancelled task") { try await task.value }
      try expect(try await store.everything(), equals: [], "entries")
    },
    promise("cancelling in the middle ends the transaction at its next operation") { store in
      for operation in 0..<5 {
        let reached = try await cancelInTheMiddle(of: store) { transaction in
          switch operation {
          case 0: try await transaction.put([2], for: bytes("b"))
          case 1: try await transaction.delete(bytes("a"))
          case 2: try await transaction.deleteRange(.all)
          case 3: _ = try await transaction.get(bytes("a"))
          default: _ = try await transaction.entries(in: .all)
          }
        }
        try expect(!reached, "operation \(operation) of a cancelled transaction went through")
      }
    },
    promise("a body that swallows its cancellation commits nothing all the same") { store in
      _ = try await cancelInTheMiddle(of: store) { transaction in
        try? await transaction.put([2], for: bytes("b"))
      }
    },
    promise("a cancelled transaction that waits for another ends, and the other is kept") { store in
      let (inside, goOn) = (Gate(), Gate())
      let first = Task.detached {
        try await store.write { transaction in
          try await transaction.put([1], for: bytes("first"))
          inside.open()
          await goOn.wait()
        }
      }
      await inside.wait()
      let begun = Gate()
      let second = Task.detached {
        try await store.write { transaction in
          _ = try await transaction.get(bytes("first"))
          await begun.wait()
          try await transaction.put([2], for: bytes("second"))
        }
      }
      await Task.yield()
      second.cancel()
      begun.open()
      goOn.open()
      _ = try await first.value
      _ = try await expectThrows(CancellationError.self, "the cancelled transaction") { try await second.value }
      try expect(try await keys(in: store, .all), equals: ["first"], "keys")
      try await store.put([3], for: bytes("third"))
      try expect(try await keys(in: store, .all), equals: ["first", "third"], "keys after the next commit")
    },
    promise("cancelling after the commit changes nothing") { store in
      let (committed, goOn) = (Gate(), Gate())
      let task = Task.detached {
        try await store.put([1], for: bytes("a"))
        committed.open()
        await goOn.wait()
      }
      await committed.wait()
      task.cancel()
      goOn.open()
      try await task.value
      try expect(try await store.value(for: bytes("a")), equals: [1], "value")
    },
    promise("many cancellations at random moments: each write is kept if it returned, and gone if it threw") { store in
      let kept = Guarded<Set<[UInt8]>>([])
      let tasks = (0..<64).map { index in
        Task.detached {
          try await store.write { transaction in
            try await transaction.put([], for: key(index * 2))
            await Task.yield()
            try await transaction.put([], for: key(index * 2 + 1))
          }
          kept.withValue { $0.formUnion([key(index * 2), key(index * 2 + 1)]) }
        }
      }
      for (index, task) in tasks.enumerated() {
        if index % 3 == 0 { await Task.yield() }
        if index % 2 == 0 { task.cancel() }
      }
      for task in tasks {
        do { try await task.value } catch is CancellationError {}
      }
      let found = Set(try await store.everything().map(\.key))
      try expect(found, equals: kept.withValue { $0 }, "keys")
    },
  ]

  /// Cancels a write while its body is at a gate, and checks that nothing of it is kept; returns whether the operation
  /// after the gate went through.
  private static func cancelInTheMiddle(
    of store: any OrderedStore,
    _ operation: @escaping @Sendable (any StoreTransaction) async throws -> Void
  ) async throws -> Bool {
    let before = try await store.everything()
    let (inside, goOn) = (Gate(), Gate())
    let reached = Guarded(false)
    let task = Task.detached {
      try await store.write { transaction in
        try await transaction.put([1], for: bytes("a"))
        inside.open()
        await goOn.wait()
        try await operation(transaction)
        reached.withValue { $0 = true }
      }
    }
    await inside.wait()
    task.cancel()
    goOn.open()
    _ = try await expectThrows(CancellationError.self, "a write cancelled in the middle") { try await task.value }
    try expect(try await store.everything(), equals: before, "entries after the cancellation")
    return reached.withValue { $0 }
  }
}
