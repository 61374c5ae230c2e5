import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  @Suite struct GroupCommitTests {
    /// A store whose writer is held by a body until the gate opens, with writes queued behind it.
    private func queued(
      _ store: SQLiteStore, count: Int, failing: Set<Int> = [], until gate: Gate
    ) async throws -> (holder: Task<StoreVersion, any Error>, writes: [Task<StoreVersion, any Error>]) {
      let inside = Gate()
      let holder = Task.detached {
        try await store.write { transaction in
          try await transaction.put([0], for: key(0))
          inside.open()
          await gate.wait()
        }.version
      }
      await inside.wait()
      let writes = (1...count).map { number in
        Task.detached {
          try await store.write { transaction in
            try await transaction.put([1], for: key(number))
            if failing.contains(number) { throw Failure() }
          }.version
        }
      }
      while store.waitingWrites < count { await Task.yield() }
      return (holder, writes)
    }

    @Test func `transactions that wait share a commit`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([], for: key(0))
      let before = try await store.logPages()
      let gate = Gate()
      let (holder, writes) = try await queued(store, count: 20, until: gate)
      gate.open()
      let first = try await holder.value
      var versions: Set<StoreVersion> = []
      for write in writes { versions.insert(try await write.value) }
      #expect(versions.count == 20)
      #expect(versions.allSatisfy { $0 > first })
      // One page of entries for all of them, and the row of versions if it is due.
      #expect(try await store.logPages() <= before + 2)
      try await store.close()
    }

    @Test func `a failure in a group is that of its body alone`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let gate = Gate()
      let (holder, writes) = try await queued(store, count: 10, failing: [3, 4, 10], until: gate)
      gate.open()
      _ = try await holder.value
      for (index, write) in writes.enumerated() {
        switch await write.result {
        case .success: #expect(![3, 4, 10].contains(index + 1))
        case .failure(let error): #expect(error is Failure && [3, 4, 10].contains(index + 1))
        }
      }
      let keys = try await store.everything().map(\.key)
      #expect(keys == [0, 1, 2, 5, 6, 7, 8, 9].map(key))
      try await store.close()
    }

    @Test func `a leader that fails still serves the others`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let (inside, gate) = (Gate(), Gate())
      let holder = Task.detached {
        try await store.write { transaction in
          try await transaction.put([0], for: key(0))
          inside.open()
          await gate.wait()
          throw Failure()
        }
      }
      await inside.wait()
      let other = Task.detached { try await store.put([1], for: key(1)) }
      while store.waitingWrites < 1 { await Task.yield() }
      gate.open()
      await #expect(throws: Failure.self) { try await holder.value }
      let kept = try await other.value
      #expect(try await store.read { $0.version } == kept)
      let keys = try await store.everything().map(\.key)
      #expect(keys == [key(1)])
      try await store.close()
    }

    @Test func `the cancellation of a leader does not reach the bodies it serves`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let (inside, gate) = (Gate(), Gate())
      let runs = Locked(0)
      let leader = Task.detached {
        try await store.write { transaction in
          try await transaction.put([0], for: key(0))
          inside.open()
          await gate.wait()
        }
      }
      await inside.wait()
      let served = Gate()
      let goOn = Gate()
      let other = Task.detached {
        try await store.write { transaction in
          try await transaction.put([1], for: key(1))
          let run = runs.withLock { runs in
            runs += 1
            return runs
          }
          if run == 1 {
            served.open()
            await goOn.wait()
          }
          try Task.checkCancellation()
        }
      }
      while store.waitingWrites < 1 { await Task.yield() }
      gate.open()
      await served.wait()
      leader.cancel()
      goOn.open()
      // The leader's own body had ended; its commit has begun.
      _ = await leader.result
      _ = try await other.value
      #expect(runs.withLock { $0 } == 2)
      let keys = try await store.everything().map(\.key)
      #expect(keys.contains(key(1)))
      try await store.close()
    }

    @Test func `a cancelled waiter leaves the queue`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let gate = Gate()
      let (holder, writes) = try await queued(store, count: 3, until: gate)
      writes[1].cancel()
      await #expect(throws: CancellationError.self) { try await writes[1].value }
      gate.open()
      _ = try await holder.value
      _ = try await (writes[0].value, writes[2].value)
      let keys = try await store.everything().map(\.key)
      #expect(keys == [0, 1, 3].map(key))
      try await store.close()
    }

    @Test func `a failed commit is an error for every body in it`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.withTurn { $0.failSyncs(1) }
      let gate = Gate()
      let (holder, writes) = try await queued(store, count: 5, until: gate)
      gate.open()
      for task in [holder] + writes {
        let error = await code { _ = try await task.value }
        #expect(error == .inputOutput)
      }
      let entries = try await store.everything()
      #expect(entries == [])
      try await store.put([1], for: [1])
      try await store.close()
    }

    @Test func `commits of a group are reported one by one, in order`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      let told = Locked<[StoreVersion]>([])
      let observation = store.observeCommits { version in told.withLock { $0.append(version) } }
      let gate = Gate()
      let (holder, writes) = try await queued(store, count: 5, failing: [2], until: gate)
      gate.open()
      _ = try await holder.value
      for write in writes { _ = await write.result }
      let versions = told.withLock { $0 }
      #expect(versions.count == 5)
      #expect(versions == versions.sorted())
      observation.cancel()
      try await store.close()
    }

    @Test func `a write from a child task of a body is nested`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.write { transaction in
        try await transaction.put([1], for: [1])
        let error = await code {
          try await withThrowingTaskGroup { group in
            group.addTask { _ = try await store.put([2], for: [2]) }
            try await group.waitForAll()
          }
        }
        #expect(error == .nested)
      }
      try await store.close()
    }

    @Test func `the queue serves in order and passes the turn on`() {
      var queue = WriteQueue()
      let waiters = (0..<3).map { _ in WriteQueue.Waiter(request: WriteRequest { _ in }) { _ in } }
      #expect(queue.isIdle)
      #expect(queue.tryToLead() == .lead)
      for waiter in waiters { #expect(queue.enter(waiter) == .wait) }
      #expect(queue.takeNextBody()?.request === waiters[0].request)
      let isBack = queue.putBack(waiters[0])
      #expect(isBack)
      #expect(queue.remove(waiters[1].request) != nil)
      #expect(queue.remove(waiters[1].request) == nil)
      #expect(queue.passOn()?.request === waiters[0].request)
      let refused = queue.close().map { $0.request === waiters[2].request }
      #expect(refused == [true])
      #expect(queue.enter(waiters[1]) == .closed)
      let isBackAfterClosing = queue.putBack(waiters[1])
      #expect(!isBackAfterClosing)
      #expect(queue.takeNextBody() == nil)
      #expect(!queue.isIdle)
      #expect(queue.passOn() == nil)
      #expect(queue.isIdle)
      #expect(queue.tryToLead() == .closed)
    }

    @Test func `a waiter that was cancelled before it arrived is not let in`() {
      var queue = WriteQueue()
      let waiter = WriteQueue.Waiter(request: WriteRequest { _ in }) { _ in }
      waiter.request.cancel()
      #expect(queue.enter(waiter) == .cancelled)
      #expect(queue.isIdle)
    }
  }
}

struct Failure: Error {}
