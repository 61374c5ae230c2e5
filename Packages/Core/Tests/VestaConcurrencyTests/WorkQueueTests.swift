import Dispatch
import Testing
import VestaConcurrency
import VestaTesting

@Suite struct WorkQueueTests {
  @Test func `work runs in order, one at a time`() {
    let queue = WorkQueue(label: "order")
    let log = Log<Int>()
    for number in 0..<1_000 { queue.async { log.add(number) } }
    queue.sync {}
    #expect(log.entries == Array(0..<1_000))
  }

  @Test func `sync returns the value and rethrows`() {
    let queue = WorkQueue(label: "sync")
    #expect(queue.sync { 42 } == 42)
    #expect(throws: Failure(2)) { try queue.sync { () throws(Failure) in throw Failure(2) } }
    #expect(queue.sync { 43 } == 43)
  }

  @Test func `a queue knows whether it is the current one`() {
    let root = WorkQueue(label: "root")
    let child = WorkQueue(label: "child", target: root)
    let other = WorkQueue(label: "other")
    let all = { [root.isCurrent, child.isCurrent, other.isCurrent] }
    #expect(all() == [false, false, false])
    #expect(root.sync { all() } == [true, false, false])
    #expect(child.sync { all() } == [true, true, false])
    #expect(child.sync { other.sync { all() } } == [true, true, true])
    #expect(all() == [false, false, false])
    child.sync {
      root.assertOnQueue()
      child.assertOnQueue()
    }
  }

  @Test func `a queue on dedicated threads has the same order, and may block`() async {
    let pool = BlockingPool(limit: 64)
    let queues = (0..<40).map { WorkQueue(label: "blocking \($0)", on: pool) }
    let gate = Gate(), begun = Log<Int>(), log = Log<Int>()
    for (number, queue) in queues.enumerated() {
      queue.async {
        begun.add(number)
        _ = gate.passes()
        log.add(number)
      }
    }
    // More of them block than there are threads for tasks, and this task runs.
    await begun.wait { $0.count == 40 }
    gate.open()
    for (number, queue) in queues.enumerated() {
      #expect(queue.sync { queue.isCurrent && log.entries.contains(number) })
      #expect(await (try? queue.run { queue.isCurrent }) == true)
      #expect(!queue.isCurrent)
    }
    let order = Log<Int>()
    for number in 0..<1_000 {
      if number % 3 == 0 { queues[0].sync { order.add(number) } } else { queues[0].async { order.add(number) } }
    }
    queues[0].sync {}
    #expect(order.entries == Array(0..<1_000))
  }

  @Test func `a child shares the order of its root`() {
    let root = WorkQueue(label: "root")
    let children = (0..<4).map { WorkQueue(label: "child \($0)", target: root) }
    // Not guarded by anything but the queues: a lost update would show.
    nonisolated(unsafe) var count = 0  // touched on the root's order only
    onThreads(8) { index in
      for _ in 0..<200 { (index == 0 ? root : children[index % 4]).sync { count += 1 } }
    }
    #expect(root.sync { count } == 1_600)
  }

  @Test func `sync to an unrelated queue from a queue is fine`() {
    let (first, second) = (WorkQueue(label: "first"), WorkQueue(label: "second"))
    #expect(first.sync { second.sync { 7 } } == 7)
  }

  @Test func `run returns the value and rethrows`() async throws {
    let queue = WorkQueue(label: "run")
    #expect(try await queue.run { queue.isCurrent })
    await #expect(throws: Failure(2)) { try await queue.run { throw Failure(2) } }
  }

  @Test func `run that is cancelled before it began never runs`() async throws {
    let queue = WorkQueue(label: "run")
    let leave = DispatchSemaphore(value: 0)
    queue.async { leave.wait() }
    let ran = Log<Int>()
    let task = Task { try await queue.run { ran.add(1) } }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    leave.signal()
    try await queue.run {}
    #expect(ran.entries.isEmpty)
  }

  @Test func `run that is cancelled after it began runs to its end`() async throws {
    let queue = WorkQueue(label: "run")
    let (begun, leave) = (Gate(), DispatchSemaphore(value: 0))
    let task = Task {
      try await queue.run {
        begun.open()
        leave.wait()
        return 7
      }
    }
    await begun.wait()
    task.cancel()
    leave.signal()
    #expect(try await task.value == 7)
  }

  /// A component in the way of the guide: each public method dispatches, private ones assume that they are on the
  /// queue.
  final class Account: Sendable {
    static let globalQueue = WorkQueue(label: "account global queue")
    let queue = WorkQueue(label: "account", target: globalQueue)
    let callbackQueue = WorkQueue(label: "callbacks")
    private let name = Locked("anonymous")

    func rename(_ newName: String, completion: @escaping @Sendable (String) -> Void) {
      queue.async {
        let old = self.renameOnQueue(newName)
        self.callbackQueue.async { completion(old) }
      }
    }

    func currentName() -> String { queue.sync { nameOnQueue() } }

    private func renameOnQueue(_ newName: String) -> String {
      let old = nameOnQueue()
      name.withLock { $0 = newName }
      return old
    }

    private func nameOnQueue() -> String {
      queue.assertOnQueue()
      Self.globalQueue.assertOnQueue()
      return name.withLock { $0 }
    }
  }

  @Test func `the three kinds of methods work together`() async {
    let account = Account()
    let leave = DispatchSemaphore(value: 0)
    Account.globalQueue.async { leave.wait() }
    let old = await withCheckedContinuation { waiter in
      // Returns although the queue is occupied; the callback runs on the callback queue and may call the account.
      account.rename("ada") { old in
        account.callbackQueue.assertOnQueue()
        #expect(account.currentName() == "ada")
        waiter.resume(returning: old)
      }
      leave.signal()
    }
    #expect(old == "anonymous")
  }

  actor Session {
    let queue: WorkQueue
    var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(on queue: WorkQueue) { self.queue = queue }

    func increment() -> Bool {
      count += 1
      return queue.isCurrent
    }

    func runOnItsOwnQueue() async throws -> Int { try await queue.run { 3 } }
  }

  @Test func `a queue is the executor of an actor`() async throws {
    let root = WorkQueue(label: "root")
    let queue = WorkQueue(label: "actor", target: root)
    let session = Session(on: queue)
    #expect(await session.increment())
    let count = try await queue.run { session.assumeIsolated { $0.count } }
    #expect(count == 1)
    #expect(try await session.runOnItsOwnQueue() == 3)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { _ = await session.increment() } }
    }
    #expect(await session.count == 101)
  }

  // MARK: - Misuse stops the process with a sentence

  private func expectSentence(
    _ result: ExitTest.Result?, _ sentence: String, location: SourceLocation = #_sourceLocation
  ) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains(sentence), "\(text)", sourceLocation: location)
  }

  @Test func `sync from the queue itself is diagnosed`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = WorkQueue(label: "auth")
      queue.sync { queue.sync {} }
    }
    expectSentence(result, "sync on the queue 'auth' from code that already runs on 'auth'")
  }

  @Test func `sync from an asynchronous closure of the queue is diagnosed`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = WorkQueue(label: "auth")
      queue.async { queue.sync {} }
      try await queue.run {}
    }
    expectSentence(result, "sync on the queue 'auth' from code that already runs on 'auth'")
  }

  @Test func `sync from a child to its root is diagnosed`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let root = WorkQueue(label: "root")
      WorkQueue(label: "child", target: root).sync { root.sync {} }
    }
    expectSentence(result, "sync on the queue 'root' from code that already runs on 'root'")
  }

  @Test func `sync between children of one root is diagnosed`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let root = WorkQueue(label: "root")
      let (first, second) = (WorkQueue(label: "a", target: root), WorkQueue(label: "b", target: root))
      first.sync { second.sync {} }
    }
    expectSentence(result, "sync on the queue 'b' from code that already runs on 'root'")
  }

  @Test func `sync further down a chain is diagnosed`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (first, second) = (WorkQueue(label: "first"), WorkQueue(label: "second"))
      first.sync { second.sync { first.sync {} } }
    }
    expectSentence(result, "sync on the queue 'first' from code that already runs on 'first'")
  }

  @Test func `sync from an actor on the queue is diagnosed`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = WorkQueue(label: "actor")
      let session = Session(on: queue)
      await session.syncToItsOwnQueue()
    }
    expectSentence(result, "sync on the queue 'actor' from code that already runs on 'actor'")
  }

  @Test func `assert on queue stops elsewhere`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = WorkQueue(label: "auth")
      WorkQueue(label: "other").sync { queue.assertOnQueue() }
    }
    expectSentence(result, "must run on the queue 'auth'")
  }

  @Test func `assume isolated stops elsewhere`() async {
    await #expect(processExitsWith: .failure) {
      let session = Session(on: WorkQueue(label: "actor"))
      _ = WorkQueue(label: "other").sync { session.assumeIsolated { $0.count } }
    }
  }
}

extension WorkQueueTests.Session {
  func syncToItsOwnQueue() { queue.sync {} }
}
