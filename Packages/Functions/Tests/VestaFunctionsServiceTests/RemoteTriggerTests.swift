import Foundation
import Testing
import VestaConcurrency
import VestaEventsInterop
import VestaEventsInteropFakes
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFunctionsService

extension FakeEventTriggerDelivery {
  /// The calls that have succeeded, as lines.
  fileprivate var delivered: [String] {
    calls.filter(\.hasSucceeded).map { "\($0.project) \($0.trigger.key) \($0.event.path)" }
  }
}

@Suite struct RemoteTriggerTests {
  private static func trigger(_ key: String, _ pattern: String = "rooms/{room}") throws -> EventTrigger {
    EventTrigger(
      key: key, eventType: "t", generation: .legacy, types: [.documentCreated], scope: "(default)",
      pattern: try EventPattern(pattern))
  }

  private static func triggers(
    _ bench: EventBench, _ delivery: FakeEventTriggerDelivery, in folder: URL, _ tuning: TriggerTuning = TriggerTuning()
  ) -> RemoteTriggers {
    RemoteTriggers(bench.registry, delivery, project: "p", folder: folder.path, tuning: tuning) {}
  }

  @Test func `a registration is kept, and another process delivers without a new one`() async throws {
    try await withTemporaryDirectory { folder in
      let store = ModelStore()
      let bench = EventBench(store: store)
      let first = Self.triggers(bench, FakeEventTriggerDelivery(), in: folder)
      try await first.set(try Self.trigger("a"))
      try await first.set(try Self.trigger("b", "halls/{hall}"))
      #expect(try await first.remove("b"))
      #expect(try await !first.remove("b"))
      await bench.events.close()
      let delivery = FakeEventTriggerDelivery(standing: [try Self.trigger("all")])
      let again = EventBench(store: store, clock: bench.clock)
      let second = Self.triggers(again, delivery, in: folder)
      second.resume()
      #expect(second.triggers == [try Self.trigger("a")])
      try await again.create("rooms/1", "halls/1")
      while delivery.delivered.count < 2 { await Task.yield() }
      #expect(Set(delivery.delivered) == ["p a rooms/1", "p all rooms/1"])
      await again.events.close()
    }
  }

  @Test func `a failed call is made again`() async throws {
    try await withTemporaryDirectory { folder in
      let bench = EventBench()
      let delivery = FakeEventTriggerDelivery()
      delivery.setFailures(3)
      var tuning = TriggerTuning()
      tuning.retryDelay = .zero
      let triggers = Self.triggers(bench, delivery, in: folder, tuning)
      try await triggers.set(try Self.trigger("a"))
      try await bench.create("rooms/1")
      await bench.pass { !delivery.delivered.isEmpty }
      #expect(delivery.delivered == ["p a rooms/1"])
      await bench.events.close()
    }
  }

  /// Answers as programs do that are not reached, or whose functions fail.
  private final class AnsweringDelivery: EventTriggerDelivery {
    let keepsTriggers = false
    let standing: [EventTrigger] = []
    let code = Locked<ServiceCode?>(nil)
    let paths = Locked<[String]>([])

    func deliver(_ event: Event, to trigger: EventTrigger, of project: String) async throws {
      paths.withLock { $0.append(event.path) }
      if let code = code.withLock({ $0 }) { throw ServiceStatus(code, "no") }
    }
  }

  @Test func `a function that fails does not get the event again`() async throws {
    try await withTemporaryDirectory { folder in
      let (bench, delivery) = (EventBench(), AnsweringDelivery())
      var tuning = TriggerTuning()
      tuning.retryDelay = .zero
      let triggers = RemoteTriggers(bench.registry, delivery, project: "p", folder: folder.path, tuning: tuning) {}
      try await triggers.set(try Self.trigger("a"))
      delivery.code.withLock { $0 = .internal }
      try await bench.create("rooms/1")
      await bench.pass { !delivery.paths.withLock { $0.isEmpty } }
      delivery.code.withLock { $0 = nil }
      try await bench.create("rooms/2")
      await bench.pass { delivery.paths.withLock { $0.contains("rooms/2") } && bench.events.isIdle }
      #expect(delivery.paths.withLock { $0 } == ["rooms/1", "rooms/2"])
      await bench.events.close()
    }
  }

  @Test func `a registration ends the pause after a program that was not reached`() async throws {
    try await withTemporaryDirectory { folder in
      let (bench, delivery) = (EventBench(), AnsweringDelivery())
      var tuning = TriggerTuning()
      tuning.retryDelay = .seconds(600)
      let triggers = RemoteTriggers(bench.registry, delivery, project: "p", folder: folder.path, tuning: tuning) {}
      try await triggers.set(try Self.trigger("a"))
      delivery.code.withLock { $0 = .unavailable }
      try await bench.create("rooms/1")
      while delivery.paths.withLock({ $0.isEmpty }) { await Task.yield() }
      delivery.code.withLock { $0 = nil }
      // The outcome may not be known to the queue yet.
      while delivery.paths.withLock({ $0.count }) < 2 {
        try await triggers.set(try Self.trigger("a"))
        await Task.yield()
      }
      #expect(delivery.paths.withLock { $0 } == ["rooms/1", "rooms/1"])
      await bench.events.close()
    }
  }

  @Test func `a project has a bounded number of functions`() async throws {
    try await withTemporaryDirectory { folder in
      let bench = EventBench()
      var tuning = TriggerTuning()
      tuning.maximumTriggers = 2
      let triggers = Self.triggers(bench, FakeEventTriggerDelivery(), in: folder, tuning)
      for key in ["a", "b", "a"] { try await triggers.set(try Self.trigger(key)) }
      await #expect(throws: EventTriggerError.self) { try await triggers.set(try Self.trigger("c")) }
      #expect(triggers.triggers.map(\.key) == ["a", "b"])
      await bench.events.close()
    }
  }

  @Test func `what cannot be registered or read changes nothing`() async throws {
    try await withTemporaryDirectory { folder in
      let bench = EventBench()
      let triggers = Self.triggers(bench, FakeEventTriggerDelivery(), in: folder)
      var foreign = try Self.trigger("a")
      foreign.types = [.objectDeleted]
      for wrong in [foreign, try Self.trigger(""), try Self.trigger(String(repeating: "k", count: 501))] {
        await #expect(throws: EventTriggerError.self) { try await triggers.set(wrong) }
      }
      #expect(triggers.triggers.isEmpty)
      try Data("{".utf8).write(to: folder.appending(path: RemoteTriggers.fileName))
      triggers.resume()
      #expect(triggers.triggers.isEmpty)
      // A folder that cannot be written to.
      let lost = Self.triggers(bench, FakeEventTriggerDelivery(), in: folder.appending(path: RemoteTriggers.fileName))
      await #expect(throws: EventTriggerError.self) { try await lost.set(try Self.trigger("a")) }
      #expect(lost.triggers.isEmpty)
      await bench.events.close()
    }
  }
}
