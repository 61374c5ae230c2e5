import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaEventsInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFunctionsService

/// A source that runs a closure before it takes subscriptions.
private final class SlowSource: EventSource {
  let outbox: EventOutbox
  let beforeSubscribing = Locked<@Sendable ([String]) -> Void>({ _ in })

  init(_ outbox: EventOutbox) { self.outbox = outbox }

  var service: String { outbox.service }
  var types: Set<EventType> { outbox.types }

  func subscribe(_ subscriptions: [EventSubscription]) {
    beforeSubscribing.withLock { $0 }(subscriptions.map(\.function))
    outbox.subscribe(subscriptions)
  }

  func observe(_ observer: any EventSourceObserver) -> ListenerRegistration { outbox.observe(observer) }

  func lease(_ functions: Set<String>, for owner: String, duration: Int64) async throws -> [String: EventLease] {
    try await outbox.lease(functions, for: owner, duration: duration)
  }

  func release(_ functions: Set<String>, by owner: String) async throws {
    try await outbox.release(functions, by: owner)
  }

  func events(_ request: EventPageRequest) async throws -> EventPage { try await outbox.events(request) }
  func event(_ entry: EventEntry) async throws -> Event? { try await outbox.event(entry) }
  func settle(_ outcomes: [EventOutcome], by owner: String) async throws {
    try await outbox.settle(outcomes, by: owner)
  }

  func deadLetters(of function: String, limit: Int) async throws -> [DeadLetter] {
    try await outbox.deadLetters(of: function, limit: limit)
  }

  func resend(_ positions: [EventPosition], of function: String) async throws -> Int {
    try await outbox.resend(positions, of: function)
  }

  func discard(_ positions: [EventPosition], of function: String) async throws -> Int {
    try await outbox.discard(positions, of: function)
  }
}

/// Functions that are registered anew, and several at once.
@Suite struct RegistrationTests {
  private func options(_ concurrency: Int) -> EventOptions {
    var options = EventOptions()
    options.concurrency = concurrency
    return options
  }

  @Test(arguments: [(8, 2), (2, 8)])
  func `a function that is registered again has its new concurrency`(old: Int, new: Int) async throws {
    let bench = EventBench()
    let (log, gate) = (Log<String>(), Gate())
    try bench.registry.log(log, options: options(old))
    try await bench.create("a/0")
    await log.wait { $0.count == 1 }
    let (running, most) = (Locked(0), Locked(0))
    let begun = Log<String>()
    try bench.registry.onDocumentCreated("f", document: "a/{id}", options: options(new)) { event in
      let now = running.withLock { running in
        running += 1
        return running
      }
      most.withLock { $0 = max($0, now) }
      defer { running.withLock { $0 -= 1 } }
      begun.add(event.subject)
      await gate.wait()
    }
    try await bench.create((1...20).map { "a/\($0)" })
    await begun.wait { $0.count == new }
    gate.open()
    await begun.wait { $0.count == 20 }
    #expect(most.withLock { $0 } == new)
    await bench.events.close()
  }

  @Test func `the events of a document run one after another, though the function was removed and registered anew`()
    async throws
  {
    let bench = EventBench()
    let (old, new, gate) = (Log<String>(), Log<String>(), Gate())
    try bench.registry.log(old) { _ in await gate.wait() }
    try await bench.create("a/1")
    await old.wait { $0.count == 1 }
    try await bench.create("a/1")
    bench.registry.removeEventFunction("f")
    try bench.registry.log(new)
    try await bench.create("a/2")
    await bench.pass { new.entries.contains("2") }
    #expect(new.entries == ["2"], "the first event of a/1 still runs")
    gate.open()
    try await bench.pass { try await bench.queue("f").isEmpty }
    #expect(new.entries == ["2", "1"], "the first event of a/1 has succeeded")
    #expect(old.entries == ["1"])
    await bench.events.close()
  }

  @Test func `a function is listened for once its registration has returned, whatever else is registered`() throws {
    let source = SlowSource(EventBench().outbox)
    let events = EventFunctions(options: FunctionsServiceOptions(), clock: ManualClock().service) { [source] }
    let registry = FunctionRegistry(events: events)
    let (other, isFirst, hasOther, missing) = (DispatchSemaphore(value: 0), Locked(true), Locked(false), Locked(0))
    let interfere: @Sendable ([String]) -> Void = { functions in
      if hasOther.withLock({ $0 }), !functions.contains("b") { missing.withLock { $0 += 1 } }
      let interferes = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      guard interferes else { return }
      // Another thread registers meanwhile: it has time to do so, unless it waits for this one.
      Thread.detachNewThread {
        try? registry.onDocumentCreated("b", document: "b/{id}") { _ in }
        hasOther.withLock { $0 = true }
        other.signal()
      }
      guard other.wait(timeout: .now() + .milliseconds(200)) == .success else { return }
      other.signal()
      if !functions.contains("b") { missing.withLock { $0 += 1 } }
    }
    source.beforeSubscribing.withLock { $0 = interfere }
    try registry.onDocumentCreated("a", document: "a/{id}") { _ in }
    other.wait()
    #expect(missing.withLock { $0 } == 0, "changes of b/x are not recorded for a while")
    #expect(source.outbox.interest?.functions(for: .documentCreated, scope: "(default)", path: "b/x") == ["b"])
  }
}
