import VestaConcurrency
import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let commits: [Contract<StoreSubject>] = [
    promise("each commit is reported once, in the order of versions, by one call at a time", when: \.observesCommits) {
      subject in
      let store = try subject.observable()
      let record = CommitRecord()
      let observation = store.observeCommits { record.add($0) }
      let versions = try await concurrently(16) { task in
        var versions: [StoreVersion] = []
        for round in 0..<4 { versions.append(try await store.put(number(round), for: key(task))) }
        return versions
      }
      let last = try await store.put([], for: bytes("last"))
      let told = await record.versions(upTo: last)
      observation.cancel()
      try expect(told, equals: versions.flatMap { $0 }.sorted() + [last], "versions reported")
      try expect(!record.overlapped, "the observer was called twice at the same time")
    },
    promise("where commits are reported before they are acknowledged, they have been", when: \.observesCommits) {
      subject in
      let store = try subject.observable()
      guard store.tellsBeforeAcknowledging else { return }
      let record = CommitRecord()
      let observation = store.observeCommits { record.add($0) }
      _ = try await concurrently(8) { task in
        for round in 0..<10 {
          let version = try await store.put(number(round), for: key(task))
          try expect(record.current.contains(version), "\(version) was acknowledged and not reported")
        }
      }
      observation.cancel()
    },
    promise("a commit is reported only after new reads see it", when: \.observesCommits) { subject in
      let store = try subject.observable()
      let (seen, sighting) = AsyncThrowingStream.makeStream(of: (StoreVersion, StoreVersion, Int).self)
      let observation = store.observeCommits { version in
        Task.detached {
          do {
            let (found, count) = try await store.read { reader in
              (reader.version, number(in: try await reader.get(bytes("a"))))
            }
            sighting.yield((version, found, count))
          } catch {
            sighting.finish(throwing: error)
          }
        }
      }
      var rounds: [StoreVersion: Int] = [:]
      for round in 1...20 { rounds[try await store.put(number(round), for: bytes("a"))] = round }
      var left = 20
      for try await (version, found, count) in seen {
        try expect(found >= version, "a read after the news of \(version) stood at \(found)")
        let expected = try expectValue(rounds[version], "a commit of version \(version)")
        try expect(count >= expected, "a read after the news of \(version) saw an older value")
        left -= 1
        if left == 0 { break }
      }
      observation.cancel()
    },
    promise("failed bodies and bodies that change nothing are not reported", when: \.observesCommits) { subject in
      let store = try subject.observable()
      let record = CommitRecord()
      let observation = store.observeCommits { record.add($0) }
      let first = try await store.put([1], for: bytes("a"))
      _ = try? await store.write { transaction in
        try await transaction.put([2], for: bytes("a"))
        throw Failure()
      }
      try await store.write { _ = try await $0.get(bytes("a")) }
      let last = try await store.put([3], for: bytes("a"))
      try expect(await record.versions(upTo: last), equals: [first, last], "versions reported")
      observation.cancel()
    },
    promise("a cancelled observer gets no further call, and the others get theirs", when: \.observesCommits) {
      subject in
      let store = try subject.observable()
      let (cancelled, kept) = (CommitRecord(), CommitRecord())
      let first = store.observeCommits { cancelled.add($0) }
      let second = store.observeCommits { kept.add($0) }
      let before = try await store.put([1], for: bytes("a"))
      _ = await cancelled.versions(upTo: before)
      first.cancel()
      first.cancel()
      let after = try await store.put([2], for: bytes("a"))
      try expect(await kept.versions(upTo: after), equals: [before, after], "versions reported to the other")
      try expect(cancelled.current, equals: [before], "versions reported to the cancelled one")
      second.cancel()
    },
    promise("an observer need not be kept, and hears nothing of what was before it", when: \.observesCommits) {
      subject in
      let store = try subject.observable()
      try await store.put([0], for: bytes("a"))
      let record = CommitRecord()
      _ = store.observeCommits { record.add($0) }
      let version = try await store.put([1], for: bytes("a"))
      try expect(await record.versions(upTo: version), equals: [version], "versions reported")
    },
    promise("an observer may observe, cancel and write", when: \.observesCommits) { subject in
      let store = try subject.observable()
      let (first, second) = (CommitRecord(), CommitRecord())
      let observation = Guarded<ListenerRegistration?>(nil)
      let made = store.observeCommits { version in
        observation.withValue { $0 }?.cancel()
        _ = store.observeCommits { second.add($0) }
        Task.detached { try await store.put([2], for: bytes("b")) }
        first.add(version)
      }
      observation.withValue { $0 = made }
      let version = try await store.put([1], for: bytes("a"))
      try expect(await first.versions(upTo: version), equals: [version], "versions reported")
      let next = await second.versions(upTo: version.next)
      try expect(next.count == 1 && next.allSatisfy { $0 > version }, "the new observer got \(next)")
      try expect(first.current, equals: [version], "versions reported to the one that cancelled itself")
    },
    promise("the stream of commits leaves none out and ends when the store is closed", when: \.observesCommits) {
      subject in
      let store = try subject.observable()
      let (streams, other) = (store.commits, store.commits)
      var versions: [StoreVersion] = []
      for round in 0..<40 { versions.append(try await store.put(number(round), for: bytes("a"))) }
      try await store.close()
      for stream in [streams, other] {
        var told: [StoreVersion] = []
        for await version in stream { told.append(version) }
        try expect(told, equals: versions, "versions on the stream")
      }
      var late = 0
      for await _ in store.commits { late += 1 }
      try expect(late, equals: 0, "versions on a stream of a closed store")
    },
  ]
}

/// The versions that an observer received, and how many calls ran at a time.
final class CommitRecord: Sendable {
  private struct State {
    var versions: [StoreVersion] = []
    var overlapped = false
    var isInside = false
    var waiters: [(version: StoreVersion, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Guarded(State())

  var current: [StoreVersion] { state.withValue { $0.versions } }

  var overlapped: Bool { state.withValue { $0.overlapped } }

  func add(_ version: StoreVersion) {
    state.withValue { state in
      if state.isInside { state.overlapped = true }
      state.isInside = true
      state.versions.append(version)
    }
    let ready = state.withValue { state in
      state.isInside = false
      defer { state.waiters.removeAll { $0.version <= version } }
      return state.waiters.filter { $0.version <= version }
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Waits until a version, or a later one, has been reported; returns all that have been reported.
  func versions(upTo version: StoreVersion) async -> [StoreVersion] {
    await withCheckedContinuation { continuation in
      let isThere = state.withValue { state in
        if state.versions.contains(where: { $0 >= version }) { return true }
        state.waiters.append((version, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
    return current
  }
}
