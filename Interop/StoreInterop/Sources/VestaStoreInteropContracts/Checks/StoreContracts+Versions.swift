import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  private static let second: Int64 = 1_000_000
  private static let hour = 3_600 * second
  private static let year = 8_766 * hour

  static let versions: [Contract<StoreSubject>] = [
    promise("versions are commit times in microseconds", when: { _ in true }) { subject in
      for step in 0..<5 {
        let before = (subject.clock?.now ?? StoreClock.system.now).wall
        let version = try await subject.store.put(number(step), for: bytes("a"))
        let distance = version.microseconds - before
        // The clock of another machine may differ by some minutes.
        try expect(
          subject.clock == nil ? abs(distance) < 600 * second : (0..<1_000).contains(distance),
          "\(version) at \(before)")
        subject.clock?.advance(by: 7 * second)
      }
    },
    promise("a transaction knows its commit version: the one that write returns, above what it is based on") { store in
      let commits = try await concurrently(8) { task in
        try await concurrently(4) { round in
          try await store.write { transaction in
            let first = try await transaction.commitVersion()
            try expect(first > transaction.version, "\(first) after \(transaction.version)")
            try await transaction.put(number(in: first), for: key(task * 4 + round))
            try expect(try await transaction.commitVersion(), equals: first, "asked a second time")
            return first
          }
        }
      }.flatMap { $0 }
      for commit in commits { try expect(commit.value, equals: commit.version, "version known in the body") }
      try expect(Set(commits.map(\.version)).count, equals: 32, "different versions")
      let kept = try await store.everything().map(\.value)
      try expect(Set(kept), equals: Set(commits.map { number(in: $0.version) }), "versions kept by the bodies")
      try expect(try await store.read { $0.version }, equals: commits.map(\.version).max(), "version of a reader")
    },
    promise("asking for the commit version is no change") { store in
      let last = try await store.put([1], for: bytes("a"))
      let commit = try await store.write { _ = try await $0.commitVersion() }
      try expect(commit.version, equals: last, "version of a body that only asks")
      try expect(try await store.read { $0.version }, equals: last, "version of a reader")
      let failed = Guarded<StoreVersion?>(nil)
      _ = try await expectThrows(Failure.self, "a write whose body throws") {
        try await store.write { transaction in
          let version = try await transaction.commitVersion()
          failed.withValue { $0 = version }
          throw Failure()
        }
      }
      let next = try await store.put([2], for: bytes("a"))
      try expect(next > last, "\(next) after \(last)")
    },
    promise("a commit version asked for after the body has returned throws ended") { store in
      let kept = Guarded<(any StoreTransaction)?>(nil)
      try await store.write { transaction in kept.withValue { $0 = transaction } }
      let transaction = try expectValue(kept.withValue { $0 }, "transaction")
      try await expectCode(.ended, "commitVersion") { try await transaction.commitVersion() }
    },
    promise("no commit gets a version at or below a raised floor") { store in
      let first = try await store.put([0], for: bytes("a"))
      try expect(try await store.raiseFloor(to: first), equals: first, "floor")
      let floor = StoreVersion(microseconds: first.microseconds + 20 * second)
      try expect(try await store.raiseFloor(to: floor), equals: floor, "a floor in the near future")
      let commit = try await store.write { transaction in
        try await transaction.put([1], for: bytes("a"))
        return try await transaction.commitVersion()
      }
      try expect(commit.version > floor, "\(commit.version) is not above the floor \(floor)")
      try expect(commit.value, equals: commit.version, "version known in the body")
      try await store.raiseFloor(to: first)
      let next = try await store.put([2], for: bytes("a"))
      try expect(next > commit.version, "\(next) after a lower floor")
    },
    promise("a read at a raised floor is one snapshot, whatever runs beside it") { store in
      let done = Gate()
      let writers = Task.detached {
        _ = try await concurrently(4) { task in
          for round in 0..<25 {
            try await store.write { transaction in
              let version = try await transaction.commitVersion()
              await Task.yield()
              try await transaction.put(number(in: version), for: key(task * 25 + round))
            }
          }
        }
        done.open()
      }
      var seen: [(floor: StoreVersion, rows: Set<[UInt8]>)] = []
      for round in 0..<40 {
        let newest = try await store.read { $0.version }
        let floor = try await store.raiseFloor(to: round % 2 == 0 ? nil : newest.next)
        seen.append((floor, try await rows(in: store, upTo: floor)))
        await Task.yield()
      }
      await done.wait()
      try await writers.value
      for (floor, before) in seen {
        let after = try await rows(in: store, upTo: floor)
        try expect(before, equals: after, "keys with a version up to \(floor), at first and later")
      }
    },
    promise("a floor waits for transactions that were given a version at or below it") { store in
      for _ in 0..<10 {
        let (inside, goOn) = (Gate(), Gate())
        let told = Guarded(StoreVersion.zero)
        let writer = Task.detached {
          try await store.write { transaction in
            let version = try await transaction.commitVersion()
            try await transaction.put(number(in: version), for: bytes("a"))
            told.withValue { $0 = version }
            inside.open()
            await goOn.wait()
          }.version
        }
        await inside.wait()
        let floor = told.withValue { $0 }
        let reader = Task.detached {
          try await store.read(atLeast: floor) { reader in
            (reader.version, try await reader.get(bytes("a")))
          }
        }
        for _ in 0..<100 { await Task.yield() }
        goOn.open()
        let version = try await writer.value
        let (seenVersion, value) = try await reader.value
        guard version <= floor else { continue }
        try expect(seenVersion >= version, "a read at \(floor) stood at \(seenVersion), before \(version)")
        try expect(value, equals: number(in: version), "value read at \(floor)")
      }
    },
    promise("a floor that waits ends when its task is cancelled") { store in
      let (inside, goOn) = (Gate(), Gate())
      let writer = Task.detached {
        try await store.write { transaction in
          try await transaction.put([1], for: bytes("a"))
          _ = try await transaction.commitVersion()
          inside.open()
          await goOn.wait()
        }
      }
      await inside.wait()
      let waiting = Task.detached { try await store.raiseFloor(to: nil) }
      await Task.yield()
      waiting.cancel()
      do { _ = try await waiting.value } catch is CancellationError {}
      goOn.open()
      _ = try await writer.value
      try expect(try await keys(in: store, .all), equals: ["a"], "keys")
    },
    promise("a floor far in the future is refused and changes nothing") { store in
      let first = try await store.put([1], for: bytes("a"))
      let future = StoreVersion(microseconds: first.microseconds + hour)
      try await expectCode(.futureVersion, "raiseFloor") { try await store.raiseFloor(to: future) }
      try await expectCode(.futureVersion, "raiseFloor") {
        try await store.raiseFloor(to: StoreVersion(rawValue: .max))
      }
      let next = try await store.put([2], for: bytes("a"))
      try expect(next < future, "\(next) after a refused floor")
    },
    promise("a floor raised inside a transaction throws nested", when: \.seesNesting) { subject in
      let store = subject.store
      try await store.write { transaction in
        try await transaction.put([1], for: bytes("a"))
        let version = try await transaction.commitVersion()
        try await expectCode(.nested, "raiseFloor") { try await store.raiseFloor(to: version) }
      }
      try expect(try await keys(in: store, .all), equals: ["a"], "keys")
    },
    promise("a floor raised after close throws closed") { store in
      try await store.close()
      try await expectCode(.closed, "raiseFloor") { try await store.raiseFloor(to: nil) }
    },
    promise("a clock set back does not set versions back, and is made up for", when: { $0.clock != nil }) { subject in
      let clock = try expectValue(subject.clock, "clock")
      let store = subject.store
      var last = try await store.put([0], for: bytes("a"))
      clock.setAhead(by: -10 * second)
      for round in 0..<30 {
        clock.advance(by: second)
        let version = try await store.put(number(round), for: bytes("a"))
        try expect(version > last, "\(version) after \(last)")
        try expect(version.microseconds - last.microseconds >= second / 2, "time stands still at \(version)")
        last = version
      }
      try expect(abs(last.microseconds - clock.now.wall) < second, "\(last) thirty seconds later, at \(clock.now.wall)")
    },
    promise("a clock that jumps ahead by a year and returns leaves no drift", when: { $0.clock != nil }) { subject in
      let clock = try expectValue(subject.clock, "clock")
      let store = subject.store
      try await store.put([0], for: bytes("a"))
      for jump in [year, -year, 30 * hour, -30 * hour] {
        clock.setAhead(by: jump)
        for round in 0..<10 {
          clock.advance(by: second)
          try await store.put(number(round), for: bytes("a"))
        }
      }
      let version = try await store.put([1], for: bytes("b"))
      try expect(abs(version.microseconds - clock.now.wall) < second, "\(version) at \(clock.now.wall)")
    },
    promise("a clock that stays ahead is followed in the end", when: { $0.clock != nil }) { subject in
      let clock = try expectValue(subject.clock, "clock")
      try await subject.store.put([0], for: bytes("a"))
      clock.setAhead(by: 3 * hour)
      for round in 0..<60 {
        clock.advance(by: 60 * second)
        try await subject.store.put(number(round), for: bytes("a"))
      }
      let version = try await subject.store.put([1], for: bytes("b"))
      try expect(abs(version.microseconds - clock.now.wall) < second, "\(version) at \(clock.now.wall)")
    },
    promise("an hour with a clock a year ahead is made up for in some hours", when: { $0.clock != nil }) { subject in
      let clock = try expectValue(subject.clock, "clock")
      try await subject.store.put([0], for: bytes("a"))
      clock.setAhead(by: year)
      for round in 0..<60 {
        clock.advance(by: 60 * second)
        try await subject.store.put(number(round), for: bytes("a"))
      }
      clock.setAhead(by: -year)
      for round in 0..<120 {
        clock.advance(by: 360 * second)
        try await subject.store.put(number(round), for: bytes("a"))
      }
      let version = try await subject.store.put([1], for: bytes("b"))
      try expect(abs(version.microseconds - clock.now.wall) < second, "\(version) at \(clock.now.wall)")
    },
    promise(
      "versions and floors outlive a restart, with the clock set back too",
      when: { $0.clock != nil && $0.reopen != nil }
    ) { subject in
      let (clock, reopen) = try (expectValue(subject.clock, "clock"), expectValue(subject.reopen, "reopen"))
      let last = try await subject.store.put([0], for: bytes("a"))
      let floor = try await subject.store.raiseFloor(
        to: StoreVersion(microseconds: last.microseconds + 30 * second))
      try await subject.store.close()
      clock.setAhead(by: -24 * hour)
      let store = try await reopen()
      try expect(try await store.read { $0.version }, equals: last, "version right after reopening")
      let next = try await store.put([1], for: bytes("a"))
      try expect(next > floor, "\(next) after a floor of \(floor)")
      let present = try await store.raiseFloor(to: nil)
      try expect(present >= next, "the present, \(present), after \(next)")
      try await store.close()
    },
  ]

  /// The keys of the rows whose value is a version up to a floor.
  private static func rows(in store: any OrderedStore, upTo floor: StoreVersion) async throws -> Set<[UInt8]> {
    Set(try await store.everything().filter { number(in: $0.value) <= Int(floor.microseconds) }.map(\.key))
  }
}
