import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let lifetime: [Contract<StoreSubject>] = [
    promise("a reader used after its body has returned throws ended") { store in
      try await store.put([1], for: bytes("a"))
      var kept: (any StoreReader)?
      try await store.read { kept = $0 }
      let reader = try expectValue(kept, "reader")
      try await expectCode(.ended, "get") { try await reader.get(bytes("a")) }
      try await expectCode(.ended, "multi-get") { try await reader.get([bytes("a")]) }
      try await expectCode(.ended, "scan") { try await reader.entries(in: .all) }
    },
    promise("a transaction used after its body has returned throws ended and changes nothing") { store in
      let kept = Guarded<(any StoreTransaction)?>(nil)
      try await store.write { transaction in
        try await transaction.put([1], for: bytes("a"))
        kept.withValue { $0 = transaction }
      }
      let transaction = try expectValue(kept.withValue { $0 }, "transaction")
      try await expectCode(.ended, "get") { try await transaction.get(bytes("a")) }
      try await expectCode(.ended, "scan") { try await transaction.entries(in: .all) }
      try await expectCode(.ended, "put") { try await transaction.put([2], for: bytes("a")) }
      try await expectCode(.ended, "delete") { try await transaction.delete(bytes("a")) }
      try await expectCode(.ended, "deleteRange") { try await transaction.deleteRange(.all) }
      try expect(try await store.everything(), equals: [StoreEntry(key: bytes("a"), value: [1])], "entries")
    },
    promise("a transaction of a failed body has ended too") { store in
      let kept = Guarded<(any StoreTransaction)?>(nil)
      _ = try await expectThrows(Failure.self, "a write whose body throws") {
        try await store.write { transaction in
          kept.withValue { $0 = transaction }
          throw Failure()
        }
      }
      let transaction = try expectValue(kept.withValue { $0 }, "transaction")
      try await expectCode(.ended, "put") { try await transaction.put([2], for: bytes("a")) }
      try expect(try await store.everything(), equals: [], "entries")
    },
    promise("a write inside a write throws nested instead of waiting for ever", when: \.seesNesting) { subject in
      let store = subject.store
      try await store.write { transaction in
        try await transaction.put([1], for: bytes("outer"))
        try await expectCode(.nested, "the inner write") { try await store.put([2], for: bytes("inner")) }
      }
      try expect(try await keys(in: store, .all), equals: ["outer"], "keys")
      try await store.put([3], for: bytes("later"))
      try expect(try await keys(in: store, .all), equals: ["later", "outer"], "keys after the next commit")
    },
    promise("everything after close throws closed") { store in
      try await store.put([1], for: bytes("a"))
      try await store.close()
      try await expectCode(.closed, "read") { try await store.everything() }
      try await expectCode(.closed, "write") { try await store.put([2], for: bytes("a")) }
      try await expectCode(.closed, "a write that changes nothing") { try await store.write { _ in } }
    },
    promise("closing twice, and from many tasks at once, does nothing more") { store in
      try await store.put([1], for: bytes("a"))
      _ = try await concurrently(8) { _ in try await store.close() }
      try await store.close()
      try await expectCode(.closed, "read") { try await store.everything() }
    },
    promise("close lets what is under way finish, and refuses what comes after", when: { _ in true }) { subject in
      let store = subject.store
      try await store.fill(entries("a"))
      let (reading, writing, goOn) = (Gate(), Gate(), Gate())
      let reader = Task.detached {
        try await store.read { reader in
          _ = try await reader.get(bytes("a"))
          reading.open()
          await goOn.wait()
          return try await reader.entries(in: .all).count
        }
      }
      let writer = Task.detached {
        try await store.write { transaction in
          try await transaction.put([1], for: bytes("b"))
          writing.open()
          await goOn.wait()
          try await transaction.put([2], for: bytes("c"))
        }
      }
      await reading.wait()
      await writing.wait()
      let closing = Task.detached { try await store.close() }
      goOn.open()
      let (seen, written) = (await reader.result, await writer.result)
      try await closing.value
      try expectDoneOrClosed(seen, "the read under way")
      try expectDoneOrClosed(written, "the write under way")
      if case .success(let count) = seen { try expect(count, equals: 1, "entries that the reader saw") }
      try await expectCode(.closed, "a read after close") { try await store.everything() }
      guard let reopen = subject.reopen else { return }
      let again = try await reopen()
      let kept = try await keys(in: again, .all)
      try await again.close()
      if case .success = written { try expect(kept, equals: ["a", "b", "c"], "keys after a write that returned") }
      if case .failure = written { try expect(kept, equals: ["a"], "keys after a write that threw") }
    },
    promise("close in the middle of many transactions leaves each whole or absent", when: { $0.reopen != nil }) {
      subject in
      let store = subject.store
      let begun = Gate()
      let tasks = (0..<32).map { index in
        Task.detached {
          if index == 8 { begun.open() }
          try await store.write { transaction in
            try await transaction.put([], for: key(index * 2))
            await Task.yield()
            try await transaction.put([], for: key(index * 2 + 1))
          }
        }
      }
      await begun.wait()
      try await store.close()
      var expected: [[UInt8]] = []
      for (index, task) in tasks.enumerated() {
        let result = await task.result
        try expectDoneOrClosed(result, "write \(index)")
        if case .success = result { expected += [key(index * 2), key(index * 2 + 1)] }
      }
      let again = try await expectValue(subject.reopen, "reopen")()
      let found = try await again.everything().map(\.key)
      try await again.close()
      try expect(found, equals: expected, "keys of the writes that returned")
    },
    promise("commits survive reopening, failed ones do not", when: { $0.reopen != nil }) { subject in
      try await subject.store.fill(entries("a", "b", "c"))
      try await subject.store.write { try await $0.delete(bytes("b")) }
      _ = try? await subject.store.write { transaction in
        try await transaction.put([], for: bytes("x"))
        throw Failure()
      }
      let before = try await subject.store.everything()
      try await subject.store.close()
      let again = try await expectValue(subject.reopen, "reopen")()
      let after = try await again.everything()
      try await again.close()
      try expect(after, equals: before, "entries")
    },
    promise("versions go on growing after reopening", when: { $0.reopen != nil }) { subject in
      let reopen = try expectValue(subject.reopen, "reopen")
      var last = try await subject.store.put([0], for: bytes("a"))
      try await subject.store.close()
      for round in 0..<3 {
        let store = try await reopen()
        try expect(try await store.read { $0.version }, equals: last, "version right after reopening")
        let next = try await store.put(number(round), for: bytes("a"))
        try expect(next > last, "\(next) after \(last)")
        last = next
        try await store.close()
      }
    },
  ]

  /// Expects an operation to throw a `StoreError` of a kind.
  static func expectCode<Value>(
    _ code: StoreError.Code,
    _ what: String,
    line: Int = #line,
    _ operation: () async throws -> Value
  ) async throws {
    let error = try await expectThrows(StoreError.self, what, line: line, operation)
    try expect(error.code, equals: code, "code of \(what)", line: line)
  }

  /// Expects what was under way while a store was closed to have succeeded, or to have been refused.
  private static func expectDoneOrClosed<Value>(_ result: Result<Value, any Error>, _ what: String) throws {
    guard case .failure(let error) = result else { return }
    guard case StoreError.Code.closed = error else { throw ContractViolation("\(what) threw \(error)") }
  }
}
