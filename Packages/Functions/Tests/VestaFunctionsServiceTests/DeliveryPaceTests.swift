import Foundation
import Testing
import VestaConcurrency
import VestaEventsInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFunctionsService

/// How many tasks deliver the events that are due.
@Suite struct DeliveryPaceTests {
  @Test func `functions are short after many short deliveries, and one long one changes nothing`() {
    var pace = DeliveryPace()
    #expect(!pace.isShort, "nothing is known yet")
    for _ in 0..<31 { pace.note(.microseconds(49)) }
    #expect(!pace.isShort)
    pace.note(.microseconds(49))
    #expect(pace.isShort)
    for _ in 0..<100 { pace.note(.zero) }
    pace.note(.seconds(1))
    #expect(pace.isShort, "the system may have interrupted it")
    for _ in 0..<2 { pace.note(.microseconds(50)) }
    #expect(!pace.isShort)
  }

  @Test func `functions that wait are not short, whatever was before`() {
    var pace = DeliveryPace()
    for _ in 0..<100 { pace.note(.zero) }
    pace.stalled()
    #expect(!pace.isShort)
    for _ in 0..<1_000 { pace.note(.seconds(1)) }
    for _ in 0..<32 { pace.note(.zero) }
    #expect(pace.isShort, "long ones do not count for ever")
  }

  /// A bench whose functions count as short from the first event on.
  private func bench(
    patience: Duration, _ change: (inout DeliveryMachine.Limits) -> Void = { _ in }
  ) -> EventBench {
    EventBench { options in
      options.tuning.pace.enough = 0
      options.tuning.pace.patience = patience
      change(&options.tuning.delivery)
    }
  }

  private var options: EventOptions {
    var options = EventOptions()
    options.concurrency = 64
    return options
  }

  private func create(_ count: Int, _ bench: EventBench) async throws {
    try await bench.create((0..<count).map { "a/\($0)" })
  }

  @Test func `events of short functions are delivered by one task`() async throws {
    let bench = bench(patience: .seconds(600))
    let tasks = Log<Int>()
    try bench.registry.onDocumentCreated("f", document: "a/{id}", options: options) { _ in
      tasks.add(withUnsafeCurrentTask { $0?.hashValue ?? 0 })
    }
    try await create(50, bench)
    await tasks.wait { $0.count == 50 }
    #expect(Set(tasks.entries).count == 1)
    await bench.events.close()
  }

  @Test func `functions that were short until now and wait do not hold up other events`() async throws {
    let bench = bench(patience: .milliseconds(5))
    let (gate, log) = (Gate(), Log<String>())
    try bench.registry.onDocumentCreated("f", document: "a/{id}", options: options) { event in
      if event.subject == "a/0" || event.subject == "a/7" { await gate.wait() }
      log.add(event.subject)
    }
    try await create(50, bench)
    await log.wait { $0.count == 48 }
    gate.open()
    await log.wait { $0.count == 50 }
    await bench.events.close()
  }

  @Test func `functions that were short until now and block their threads do not hold up other events`() async throws {
    let bench = bench(patience: .milliseconds(5))
    let (semaphore, log) = (DispatchSemaphore(value: 0), Log<String>())
    try bench.registry.onDocumentCreated("f", document: "a/{id}", options: options) { event in
      if event.subject.hasSuffix("0") { semaphore.wait() }
      log.add(event.subject)
    }
    try await create(50, bench)
    await log.wait { $0.count == 45 }
    for _ in 0..<5 { semaphore.signal() }
    await log.wait { $0.count == 50 }
    await bench.events.close()
  }

  @Test(arguments: 1...3)
  func `the queue is read on although each task waits for its function`(_ waiting: Int) async throws {
    // The clock stands still: no timer of the queue reads it.
    let bench = bench(patience: .milliseconds(1)) { ($0.page, $0.window) = (4, 4) }
    let (gate, log) = (Gate(), Log<String>())
    let held = Set((4 - waiting..<4).map { "a/\($0)" })
    try bench.registry.onDocumentCreated("f", document: "a/{id}", options: options) { event in
      if held.contains(event.subject) { await gate.wait() }
      log.add(event.subject)
    }
    try await create(20, bench)
    await log.wait { $0.count == 20 - waiting }
    gate.open()
    await log.wait { $0.count == 20 }
    await bench.events.close()
  }

  @Test func `reading and settling keep off the threads of callers`() async throws {
    let store = ModelStore()
    let executors = Log<Bool>()
    let outbox = EventOutbox(
      service: "firestore.googleapis.com", keys: [9], types: [.documentCreated],
      store: {
        let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
        executors.add(executor == BlockingExecutor.shared.asUnownedTaskExecutor())
        return store
      }, data: { _ in ["value": ["fields": [:]]] })
    let bench = EventBench(store: store, outbox)
    let log = Log<String>()
    try bench.registry.onDocumentCreated("f", document: "a/{id}") { log.add($0.subject) }
    // The first one is the outbox's own look at whether the store is shared.
    await executors.wait { $0.count >= 2 }
    try await bench.create("a/1")
    await log.wait { $0.count == 1 }
    await bench.pass { bench.events.isIdle }
    let operations = executors.entries
    #expect(operations.count >= 4, "a read, a lease, another read and a settlement")
    #expect(operations.count { !$0 } <= 1)
    await bench.events.close()
  }
}
