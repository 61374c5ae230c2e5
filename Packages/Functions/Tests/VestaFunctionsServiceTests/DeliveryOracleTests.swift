import Dispatch
import Testing
import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFunctionsService

/// Functions of every kind at random limits: which events arrive, in which order, and how often.
@Suite struct DeliveryOracleTests {
  /// The number of a change of a document, and the function that is to get it.
  fileprivate struct Key: Hashable {
    let function: String
    let path: String
    let number: Int
  }

  fileprivate struct Lane: Hashable {
    let run: Int
    let function: String
    let path: String
  }

  /// The promised events, and the events that have arrived.
  fileprivate struct State {
    var promised: Set<Key> = []
    var calls: [Key: Int] = [:]
    var successes: [Key: Int] = [:]
    var running: Set<Lane> = []
    /// The last number of each document that has succeeded for the first time.
    var last: [Lane: Int] = [:]
    var faults: [String] = []
    var numbers: [String: Int] = [:]
  }

  /// How the world of a seed differs from others.
  private struct Plan {
    var data: SplitMix
    let seed: UInt64
    /// Whether the clock jumps, so that leases are lost.
    let jumps: Bool
    /// How often the app is deleted and made anew.
    let runs: Int
    let writers: Int
    let hasWaiting: Bool

    init(seed: UInt64) {
      data = SplitMix(seed: seed)
      self.seed = seed
      jumps = data.oneIn(4)
      runs = data.pick([1, 1, 2, 3])
      writers = data.pick([1, 4, 32])
      hasWaiting = data.oneIn(2)
    }

    mutating func options(_ options: inout FunctionsServiceOptions) {
      var tuning = FunctionsTuning()
      // Waiting events have places in memory, and places to run.
      tuning.delivery.window = hasWaiting ? data.pick([100, 512]) : data.pick([1, 4, 20, 512])
      tuning.delivery.lane = data.pick([1, 2, 32])
      tuning.delivery.page = data.pick([1, 3, 128])
      tuning.timing.batch = data.pick([1, 4, 512])
      tuning.eventsBetweenYields = data.pick([1, 16])
      options.tuning = tuning
      options.maximumConcurrentEvents = hasWaiting ? 80 : data.pick([1, 3, 80])
      options.timeout = .seconds(1_000_000)
      options.eventGatheringInterval = data.pick([.zero, .milliseconds(30)])
      options.eventLease = jumps ? .seconds(10) : .seconds(86_400)
    }

    /// The reaction of a function to an event: the same at each attempt.
    func temper(_ key: Key) -> (kind: Int, failures: Int) {
      var bits = seed &* 31 &+ UInt64(key.number) &* 7
      for byte in (key.function + key.path).utf8 { bits = bits &* 131 &+ UInt64(byte) }
      var data = SplitMix(seed: bits)
      return (data.below(24), data.oneIn(12) ? 1 + data.below(3) : 0)
    }
  }

  private final class World: Sendable {
    let plan: Plan
    let state = Locked(State())
    let store = ModelStore()
    let clock = ManualClock()
    let gate = Gate()

    init(_ plan: Plan) { self.plan = plan }

    func outbox() -> EventOutbox {
      EventOutbox(
        service: "firestore.googleapis.com", keys: [9], types: [.documentCreated], store: { self.store }
      ) { record in
        let number = JSONValue.object(["integerValue": .string(String(decoding: record.payload, as: UTF8.self))])
        return EventData(names: ["value"]) { ["value": .object(["fields": .object(["n": number])])] }
      }
    }

    /// Commits changes of documents; the promised events are known before a delivery of them.
    func commit(_ paths: [String], _ outbox: EventOutbox) async {
      var kept: [Key] = []
      do {
        kept = try await store.write { transaction -> [Key] in
          guard let interest = outbox.interest else { return [] }
          var keys: [Key] = []
          let drafts = paths.map { path in
            let functions = interest.functions(for: .documentCreated, scope: "(default)", path: path)
            let number = self.state.withLock { state in
              state.numbers[path, default: 0] += 1
              return state.numbers[path, default: 0]
            }
            keys += functions.map { Key(function: $0, path: path, number: number) }
            return EventDraft(
              .documentCreated, scope: "(default)", path: path, functions: functions, payload: Array("\(number)".utf8))
          }
          try await outbox.append(drafts, in: transaction)
          return keys
        }.value
      } catch {
        // By a function that runs on while its app is deleted.
        if plan.runs == 1 { state.withLock { $0.faults.append("\(error)") } }
      }
      state.withLock { $0.promised.formUnion(kept) }
      outbox.wake()
    }

    /// Whether an event waits until the test opens the gate.
    func waits(_ key: Key) -> Bool { plan.hasWaiting && key.number == 2 && ["a/0", "a/1"].contains(key.path) }

    func register(_ name: String, _ pattern: String, _ events: EventFunctions, _ outbox: EventOutbox, run: Int) throws {
      var options = EventOptions()
      options.concurrency = plan.hasWaiting ? 3 + Int(plan.seed % 30) : 1 + Int(plan.seed % 30)
      options.maximumAttempts = 1_000
      options.retryDelay = .milliseconds(10)
      let isExact = name != "r"
      try FunctionRegistry(events: events).onDocumentCreated(name, document: pattern, options: options) { event in
        let number = (event.data.get("n") as? Int) ?? -1
        let key = Key(function: name, path: event.subject, number: number)
        let lane = Lane(run: run, function: name, path: event.subject)
        let attempt = self.state.withLock { state in
          state.calls[key, default: 0] += 1
          if isExact, !state.running.insert(lane).inserted { state.faults.append("two at once: \(key)") }
          return state.calls[key, default: 0]
        }
        defer { self.state.withLock { _ = $0.running.remove(lane) } }
        if self.waits(key) { try await self.gate.pass() }
        try await self.work(key, attempt: attempt, outbox)
        try Task.checkCancellation()
        self.state.withLock { $0.succeed(key) }
      }
    }

    private func work(_ key: Key, attempt: Int, _ outbox: EventOutbox) async throws {
      let (kind, failures) = plan.temper(key)
      switch kind {
      case 0: await Task.yield()
      case 1: for _ in 0..<20 { await Task.yield() }
      case 2: _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
      case 3: await Task(priority: .background) { for _ in 0..<5 { await Task.yield() } }.value
      case 4: await Task { await Task.yield() }.value
      case 5 where key.function == "f" && attempt == 1: await commit(["c/\(key.number % 3)"], outbox)
      default: break
      }
      if attempt <= failures { throw Broken() }
    }
  }

  @Test(arguments: UInt64(1)...12) func `events arrive as promised`(seed: UInt64) async throws {
    let plan = Plan(seed: seed)
    let world = World(plan)
    for run in 1...plan.runs {
      let outbox = world.outbox()
      var options = FunctionsServiceOptions()
      var drawn = plan
      for _ in 0..<run { drawn.options(&options) }
      let events = EventFunctions(options: options, clock: world.clock.service) { [outbox] }
      for name in ["f", "g", "r"] { try world.register(name, "a/{id}", events, outbox, run: run) }
      try world.register("h", "c/{id}", events, outbox, run: run)
      let isWriting = Locked(true)
      async let time: Void = pass(world, plan.jumps) { isWriting.withLock { $0 } }
      await withTaskGroup { group in
        for writer in 0..<plan.writers {
          group.addTask {
            var data = SplitMix(seed: seed &* 1_000 &+ UInt64(writer * 10 + run))
            for _ in 0..<max(3, 60 / plan.writers) {
              let documents = (0..<(1 + data.below(3))).map { _ in "a/\(data.below(3) * plan.writers + writer)" }
              await world.commit(Array(Set(documents)), outbox)
              if data.oneIn(3) { await Task.yield() }
            }
          }
        }
        group.addTask {
          for _ in 0..<5 {
            events.remove("r")
            await Task.yield()
            try? world.register("r", "a/{id}", events, outbox, run: run)
            for _ in 0..<10 { await Task.yield() }
          }
        }
      }
      if run == plan.runs {
        // All other events arrive while some wait.
        await arrive(world) { !$0.isBehind(plan.hasWaiting) }
        world.gate.open()
        await arrive(world) { _ in true }
        await settle(world, outbox)
      }
      isWriting.withLock { $0 = false }
      await time
      await events.close()
      await outbox.close()
    }
    let isExact = !plan.jumps && plan.runs == 1
    world.state.withLock { state in
      #expect(state.faults.isEmpty, "seed \(seed)")
      #expect(Set(state.successes.keys) == state.promised, "seed \(seed)")
      guard isExact else { return }
      for (key, count) in state.successes where key.function != "r" {
        #expect(count == 1 && state.calls[key] == plan.temper(key).failures + 1, "seed \(seed): \(key)")
      }
    }
  }

  private func pass(_ world: World, _ jumps: Bool, while isWriting: @Sendable () -> Bool) async {
    var data = SplitMix(seed: world.plan.seed &+ 500)
    while isWriting() {
      world.clock.advance(by: .milliseconds(data.pick([1, 20, jumps ? 1_000 : 50])))
      let seconds = Int64(data.pick([-3, -1, 1, 30]))
      if jumps, data.oneIn(50) { world.clock.jump(to: world.clock.now + seconds * 1_000_000) }
      await Task.yield()
    }
  }

  private func arrive(_ world: World, _ isMeant: (Key) -> Bool) async {
    func isDone(_ state: State) -> Bool {
      state.promised.allSatisfy { state.successes[$0] != nil || !isMeant($0) }
    }
    while !world.state.withLock({ isDone($0) }) {
      await Task.yield()
    }
  }

  private func settle(_ world: World, _ outbox: EventOutbox) async {
    for name in ["f", "g", "r", "h"] {
      while (try? await outbox.events(EventPageRequest(function: name, limit: 10)).entries.isEmpty) == false {
        await Task.yield()
      }
    }
  }
}

extension DeliveryOracleTests.Key {
  fileprivate func isBehind(_ hasWaiting: Bool) -> Bool {
    hasWaiting && (path == "a/0" || path == "a/1") && number >= 2
  }
}

extension DeliveryOracleTests.State {
  fileprivate mutating func succeed(_ key: DeliveryOracleTests.Key) {
    successes[key, default: 0] += 1
    guard successes[key] == 1 else { return }
    let lane = DeliveryOracleTests.Lane(run: 0, function: key.function, path: key.path)
    // Several functions write to the documents of `h`, in an unknown order.
    if key.function != "h", let last = last[lane], last > key.number { faults.append("\(key) after \(last)") }
    last[lane] = key.number
  }
}
