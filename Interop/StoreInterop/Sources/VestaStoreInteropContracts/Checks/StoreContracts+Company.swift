import VestaConcurrency
import VestaStoreInterop
import VestaTesting

/// Callers do not disturb one another: many readers, errors and cancellation of others.
extension StoreContracts {
  static let company: [Contract<StoreSubject>] = [
    promise("40 open readers each stay at the version they state while 8 writers commit") { store in
      // Two versions before the readers: a store that shows the one before the last has one to show.
      try await store.fill((0..<3).map { StoreEntry(key: key($0), value: number(-2)) })
      let first = try await store.fill((0..<3).map { StoreEntry(key: key($0), value: number(-1)) })
      let history = Guarded<[StoreVersion: Int]>([first: -1])
      let (opened, goOn) = (Counter(), Gate())
      let readers = (0..<40).map { index in
        Task.detached {
          try await store.read { reader in
            let version = reader.version
            var seen: [Int] = []
            for round in 0..<5 {
              seen.append(number(in: try await reader.get(key((index + round) % 3))))
              if round == 1 {
                await opened.increment()
                await goOn.wait()
              }
              await Task.yield()
            }
            let scanned = try await reader.entries(in: .all).map { number(in: $0.value) }
            return (version, seen + scanned, reader.version)
          }
        }
      }
      let writers = Task.detached {
        _ = try await concurrently(8) { task in
          for round in 0..<12 {
            let value = task * 100 + round + 1
            let commit = try await store.write { transaction in
              for account in 0..<3 { try await transaction.put(number(value), for: key(account)) }
            }
            history.withValue { $0[commit.version] = value }
            await Task.yield()
          }
        }
      }
      // A store may let in fewer at a time.
      await opened.reaches(40)
      try await writers.value
      // New readers see the last commit although many others are open, if need be after waiting for them.
      let rounds = Counter()
      let late = Task.detached {
        for round in 0..<5 {
          let last = try await store.fill((0..<3).map { StoreEntry(key: key($0), value: number(10_000 + round)) })
          history.withValue { $0[last] = 10_000 + round }
          let (version, seen) = try await store.read { reader in
            let values = try await reader.get((0..<3).map { key($0) }).map { number(in: $0) }
            return (reader.version, values + [number(in: try await reader.get(key(round % 3)))])
          }
          try expect(version, equals: last, "version of a reader beside 40 others")
          try expect(seen, equals: [Int](repeating: 10_000 + round, count: 4), "values beside 40 open readers")
          await rounds.increment()
        }
      }
      await rounds.reaches(5)
      goOn.open()
      try await late.value
      for reader in readers {
        let (version, seen, after) = try await reader.value
        try expect(after, equals: version, "version of a reader, before and after")
        let value = try expectValue(history.withValue { $0[version] }, "a commit of the version \(version)")
        try expect(seen, equals: [Int](repeating: value, count: 8), "values seen at \(version)")
      }
    },
    promise(
      "a cancellation between commit and return does not turn a kept write into an error", when: \.observesCommits
    ) {
      subject in
      let store = try subject.observable()
      for round in 0..<20 {
        let task = Guarded<Task<StoreVersion, any Error>?>(nil)
        let ready = Gate()
        let told = CommitRecord()
        let observation = store.observeCommits { version in
          task.withValue { $0 }?.cancel()
          told.add(version)
        }
        task.withValue {
          $0 = Task.detached {
            await ready.wait()
            return try await store.put(number(round), for: bytes("a"))
          }
        }
        ready.open()
        let result = await task.withValue { $0 }?.result
        observation.cancel()
        let kept = number(in: try await store.get(bytes("a"))) == round
        switch result {
        case .success: try expect(kept, "a write returned, and is not there")
        default: throw ContractViolation("a write that was committed threw \(String(describing: result))")
        }
      }
    },
    promise("a body that throws fails its own caller and nobody else") { store in
      let results = try await concurrently(32) { index -> Result<StoreVersion, any Error> in
        do {
          let commit = try await store.write { transaction in
            try await transaction.put(number(index), for: key(index))
            await Task.yield()
            if index % 3 == 0 { throw Failure(number: index) }
            if index % 3 == 1 {
              let long = [UInt8](repeating: 1, count: StoreLimits.maximumKeyLength + 1)
              try? await transaction.put([], for: long)
            }
          }
          return .success(commit.version)
        } catch {
          return .failure(error)
        }
      }
      for (index, result) in results.enumerated() {
        switch result {
        case .success: try expect(index % 3 != 0, "write \(index) succeeded, and its body threw")
        case .failure(let error):
          try expect(index % 3 == 0 && error as? Failure == Failure(number: index), "write \(index) threw \(error)")
        }
      }
      let kept = try await store.everything().map(\.key)
      try expect(kept, equals: (0..<32).filter { $0 % 3 != 0 }.map(key), "keys")
    },
    promise("the cancellation of one writer is not seen by the body of another") { store in
      for _ in 0..<30 {
        try await store.write { try await $0.deleteRange(.all) }
        let (firstInside, firstGoesOn, secondInside, secondGoesOn) = (Gate(), Gate(), Gate(), Gate())
        let runs = Guarded(0)
        let first = Task.detached {
          try await store.write { transaction in
            try await transaction.put([1], for: bytes("first"))
            firstInside.open()
            await firstGoesOn.wait()
          }
        }
        await firstInside.wait()
        let second = Task.detached {
          try await store.write { transaction in
            let run = runs.withValue { runs in
              runs += 1
              return runs
            }
            // Loops as a body does that ends early when its own caller has lost interest.
            for index in 0..<10 {
              if Task.isCancelled { break }
              try await transaction.put([2], for: key(index))
              if index == 4, run == 1 {
                secondInside.open()
                await secondGoesOn.wait()
              }
            }
          }
        }
        for _ in 0..<50 { await Task.yield() }
        firstGoesOn.open()
        await secondInside.wait()
        first.cancel()
        secondGoesOn.open()
        _ = await first.result
        _ = try await second.value
        let kept = try await store.read { try await $0.entries(in: KeyRange(prefix: [0])).count }
        try expect(kept, equals: 10, "entries of a body whose caller nobody cancelled")
      }
    },
    promise("a long scan ends when its task is cancelled") { store in
      let count = 5_000
      try await store.fill((0..<count).map { StoreEntry(key: key($0), value: []) })
      for order in [ScanOrder.ascending, .descending] {
        for isTransaction in [false, true] {
          let visited = Guarded(0)
          let (ready, cancel) = (Gate(), Guarded<@Sendable () -> Void>({}))
          @Sendable func scan(_ reader: any StoreReader) async throws {
            _ = try await reader.scan(.all, order: order, limit: nil) { _, _ in
              let isTenth = visited.withValue { visited in
                visited += 1
                return visited == 10
              }
              if isTenth { cancel.withValue { $0 }() }
              return .next
            }
          }
          let task = Task.detached {
            await ready.wait()
            if isTransaction {
              try await store.write { try await scan($0) }
            } else {
              try await store.read { try await scan($0) }
            }
          }
          cancel.withValue { $0 = { task.cancel() } }
          ready.open()
          _ = try await expectThrows(CancellationError.self, "a scan of a cancelled task") { try await task.value }
          try expect(visited.withValue { $0 } < count / 2, "a cancelled scan went on")
        }
      }
    },
    promise(
      "transactions of two stores that wait for each other end, one of them with nested", when: { $0.other != nil }
    ) {
      subject in
      let (one, two) = (subject.store, try expectValue(subject.other, "another store"))
      for _ in 0..<10 {
        let meeting = Meeting(of: 2)
        let tasks = [(one, two), (two, one)].map { outer, inner in
          Task.detached {
            try await outer.write { transaction in
              try await transaction.put([1], for: bytes("outer"))
              await meeting.arrive()
              try await inner.write { try await $0.put([1], for: bytes("inner")) }
            }
          }
        }
        var refused = 0
        for task in tasks {
          do { _ = try await task.value } catch StoreError.Code.nested { refused += 1 }
        }
        try expect(refused <= 1, "both transactions were refused")
      }
      try await one.put([2], for: bytes("a"))
      try await two.put([2], for: bytes("a"))
      try await two.close()
    },
    promise("a transaction inside a transaction of another store works", when: { $0.other != nil }) { subject in
      let (one, two) = (subject.store, try expectValue(subject.other, "another store"))
      _ = try await concurrently(8) { index in
        try await one.write { transaction in
          try await transaction.put([], for: key(index))
          try await two.write { try await $0.put([], for: key(index)) }
        }
      }
      for store in [one, two] { try expect(try await store.everything().count, equals: 8, "entries") }
      try await two.close()
    },
    promise("deleting what is not there takes no version") { store in
      let version = try await store.fill(entries("a", "b"))
      try expect(try await store.delete(bytes("x")), equals: version, "version of deleting an absent key")
      let range = KeyRange(from: bytes("c"), to: bytes("d"))
      let commit = try await store.write { transaction in
        try await transaction.deleteRange(range)
        try await transaction.deleteRange(KeyRange(from: bytes("b"), to: bytes("a")))
        try await transaction.delete([])
      }
      try expect(commit.version, equals: version, "version of deleting empty ranges")
      try expect(try await store.read { $0.version }, equals: version, "version afterwards")
    },
    promise("calls return and throw on the executor of their caller") { store in
      try await store.put([1], for: bytes("a"))
      let caller = QueueActor()
      let wrong = await caller.stepsOffTheQueue(store)
      try expect(wrong, equals: [], "steps that left the caller's executor")
      try await store.close()
      let closed = await caller.stepsOffTheQueue(store)
      try expect(closed, equals: [], "steps that left the caller's executor, on a closed store")
    },
  ]
}

/// Counts, and lets tasks wait a while for a count.
private actor Counter {
  private var count = 0

  func increment() { count += 1 }

  func reaches(_ target: Int) async {
    for _ in 0..<3_000 where count < target { await Task.yield() }
  }
}

/// An actor on a separate queue, which knows when it has been left.
private actor QueueActor {
  private let queue = WorkQueue(label: "vesta.store.contracts.caller")

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  /// The names of the calls after which, or in whose catch, the code was elsewhere.
  func stepsOffTheQueue(_ store: any OrderedStore) async -> [String] {
    var wrong: [String] = []
    func note(_ step: String) { if !queue.isCurrent { wrong.append(step) } }
    for fails in [false, true] {
      do {
        try await store.write { transaction in
          try await transaction.put([2], for: bytes("b"))
          if fails { throw Failure() }
        }
        note("write")
      } catch { note("failed write") }
      do {
        try await store.read { reader in
          _ = try await reader.get(bytes("a"))
          if fails { throw Failure() }
        }
        note("read")
      } catch { note("failed read") }
      do {
        try await store.raiseFloor(to: fails ? StoreVersion(rawValue: .max) : nil)
        note("raiseFloor")
      } catch { note("failed raiseFloor") }
      do {
        try await store.write { transaction in
          if fails { try await store.write { _ in } } else { _ = try await transaction.commitVersion() }
        }
        note("nested write")
      } catch { note("failed nested write") }
    }
    return wrong
  }
}
