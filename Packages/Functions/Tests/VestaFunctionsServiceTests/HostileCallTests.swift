import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaFunctionsService

/// Callers, values and functions that do what they should not.
@Suite struct HostileCallTests {
  @Test func `a flood of calls is refused beyond the limits, however fast it arrives`() async throws {
    let bench = EngineBench {
      $0.maximumConcurrentCalls = 4
      $0.maximumWaitingCalls = 100
    }
    let gate = Gate()
    bench.registry.onCall("wait") { _ in
      await gate.wait()
      return nil
    }
    let engine = bench.engine
    let outcomes = Log<ServiceCode?>()
    let calls = (0..<1000).map { _ in
      Task {
        do {
          _ = try await engine.call(FunctionCall(.name("wait", region: "us-central1")), context: CallContext())
          outcomes.add(nil)
        } catch let error as FunctionsServiceError {
          outcomes.add(error.code)
        } catch {}
      }
    }
    await outcomes.wait { $0.count == 896 }
    #expect(outcomes.entries.allSatisfy { $0 == .resourceExhausted })
    gate.open()
    for call in calls { await call.value }
    #expect(outcomes.entries.count { $0 == nil } == 104)
    // Places and waiting places are free again.
    #expect(try await bench.call("wait") == .null)
  }

  @Test func `without waiting places a call gets a free place, and the next is refused`() async throws {
    let bench = EngineBench {
      $0.maximumConcurrentCalls = 1
      $0.maximumWaitingCalls = 0
    }
    let (begun, gate) = (Gate(), Gate())
    bench.registry.onCall("wait") { _ in
      begun.open()
      await gate.wait()
      return nil
    }
    let engine = bench.engine
    let first = Task {
      try await engine.call(FunctionCall(.name("wait", region: "us-central1")), context: CallContext())
    }
    await begun.wait()
    let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call("wait") }
    #expect(error?.code == .resourceExhausted)
    gate.open()
    #expect(try await first.value == .null)
  }

  @Test func `ten thousand calls at once all return`() async throws {
    let bench = EngineBench()
    bench.registry.onCall("echo") { $0.rawData }
    let engine = bench.engine
    let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
      for number in 0..<10_000 as Range<Int64> {
        group.addTask {
          let call = FunctionCall(.name("echo", region: "us-central1"), data: .integer(number))
          return try await engine.call(call, context: CallContext()).integer ?? -1
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(sum == 10_000 * 9_999 / 2)
    while engine.runningCount > 0 { await Task.yield() }
  }

  @Test func `calls that have ended leave one timer at most`() async throws {
    let bench = EngineBench()
    bench.registry.onCall("ping") { _ in "pong" }
    for _ in 0..<500 { _ = try await bench.call("ping") }
    #expect(bench.clock.deadlines.count <= 1)
    bench.clock.advance(by: .seconds(61))
    #expect(bench.clock.deadlines == [])
  }

  @Test func `data that cannot be decoded is refused before the function runs`() async throws {
    let bench = EngineBench()
    let runs = Log<Int>()
    bench.registry.onCall("use") { request in
      runs.add(1)
      return request.data
    }
    var deep = JSONValue.null
    for _ in 0..<300 { deep = .array([deep]) }
    let int64 = "type.googleapis.com/google.protobuf.Int64Value"
    let uint64 = "type.googleapis.com/google.protobuf.UInt64Value"
    let bad: [JSONValue] = [
      deep, ["@type": .string(int64), "value": "twelve"], [["@type": .string(uint64), "value": "-1"]],
      ["a": ["@type": .string(int64), "value": "9223372036854775808"]], ["@type": .string(int64), "value": ""],
    ]
    for data in bad {
      let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call("use", data) }
      #expect(error?.code == .invalidArgument)
    }
    #expect(runs.entries.isEmpty)
    #expect(try await bench.call("use", ["@type": .string(int64), "value": "12"]).object?["value"] == "12")
  }

  @Test func `what a function returns is finite and not too deep, or the call fails`() async throws {
    struct Point: Codable { let x: Double }
    let bench = EngineBench()
    bench.registry.onCall("nan") { _ in ["x": Double.nan] }
    bench.registry.onCall("infinity") { _ in [Float.infinity] }
    bench.registry.onCall("typed") { (_: Int?, _) in Point(x: .infinity) }
    bench.registry.onCall("deep") { _ in
      var value: [Any] = []
      for _ in 0..<300 { value = [value] }
      return value
    }
    bench.registry.onCall("object") { _ in URL(string: "https://example.com") }
    for name in ["nan", "infinity", "typed", "deep", "object"] {
      let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call(name) }
      #expect(error == FunctionsServiceError(.internal, "INTERNAL"), "\(name)")
    }
  }

  @Test func `every kind of error has its place`() async throws {
    struct Secret: Error, LocalizedError { var errorDescription: String? { "password 1234" } }
    final class Thing: Error {}
    let bench = EngineBench()
    bench.registry.onCall("secret") { _ in throw Secret() }
    bench.registry.onCall("object") { _ in throw Thing() }
    bench.registry.onCall("ns") { _ in throw NSError(domain: "d", code: 7, userInfo: ["a": "b"]) }
    bench.registry.onCall("internal") { _ in throw HTTPSError(.internal, "password 1234", details: "x") }
    bench.registry.onCall("unknown") { _ in throw HTTPSError(.unknown, "password 1234") }
    bench.registry.onCall("cancelled") { _ in throw CancellationError() }
    for name in ["secret", "object", "ns", "internal", "unknown"] {
      let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call(name) }
      #expect(error == FunctionsServiceError(.internal, "INTERNAL"), "\(name)")
    }
    let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call("cancelled") }
    #expect(error?.code == .cancelled)
    for status in ServiceCode.allCases where status != .internal && status != .unknown {
      bench.registry.onCall("status") { _ in throw HTTPSError(status, "m", details: [1, NSNull(), ["k": true]]) }
      let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call("status") }
      #expect(error?.code == status && error?.message == "m" && error?.details != nil, "\(status)")
    }
  }

  @Test func `senders that were cancelled do not hold up the others`() async throws {
    let capacity = 3
    let channel = StreamChannel(capacity: capacity)
    for number in 0..<capacity { try await channel.send(.integer(Int64(number))) }
    let cancelled = (0..<2 * capacity).map { _ in Task { try await channel.send("cancelled") } }
    while channel.waitingSenderCount < cancelled.count { await Task.yield() }
    let live = Task { try await channel.send("live") }
    while channel.waitingSenderCount < cancelled.count + 1 { await Task.yield() }
    for task in cancelled { task.cancel() }
    for task in cancelled { _ = await task.result }
    for number in 0..<capacity {
      #expect(try await channel.next() == .message(.integer(Int64(number))))
    }
    #expect(try await channel.next() == .message("live"))
    try await live.value
  }

  @Test func `messages of a task that outlives its function are left out, and the result stays last`() async throws {
    let bench = EngineBench()
    let (late, over) = (Gate(), Log<Int>())
    bench.registry.onStreamingCall("leaky") { _, stream in
      try await stream.send("first")
      Task {
        await late.wait()
        for _ in 0..<100 { try await stream.send("late") }
        over.add(1)
      }
      return "done"
    }
    var events: [FunctionEvent] = []
    let stream = bench.engine.stream(FunctionCall(.name("leaky", region: "us-central1")), context: CallContext())
    for try await event in stream {
      events.append(event)
      if case .result = event {
        late.open()
        await over.wait { $0.count == 1 }
      }
    }
    #expect(events == [.message("first"), .result("done")])
  }

  @Test func `an ID token counts until it expires`() async throws {
    let clock = ManualClock()
    let verifier = FakeCallerVerifier(clock: clock.service)
    let genuine = verifier.issue("ada", claims: ["admin": true])
    let engine = FunctionsEngine(
      registry: FunctionRegistry(), options: FunctionsServiceOptions(),
      callers: CallerCheck(callers: CachedCallerVerifier(verifier, clock: clock.service)), clock: clock.service)
    engine.registry.onCall("who") { $0.auth?.uid }
    let call = FunctionCall(.name("who", region: "us-central1"))
    let context = CallContext(caller: .credential(genuine))
    #expect(try await engine.call(call, context: context) == "ada")
    clock.advance(by: .seconds(3601))
    let error = await #expect(throws: FunctionsServiceError.self) { try await engine.call(call, context: context) }
    #expect(error?.code == .unauthenticated)
  }
}

/// Whether a caller's tokens can be verified has three outcomes: yes, no, and unknown.
@Suite struct CallerVerificationTests {
  private static let call = FunctionCall(.name("who", region: "us-central1"))

  private func engine(
    callers: (any CallerVerifier)? = nil, enforcing: Bool = false,
    verifyAppCheckToken: (@Sendable (String) async throws -> String)? = nil
  ) -> FunctionsEngine {
    var service = FunctionsServiceOptions()
    service.verifyAppCheckToken = verifyAppCheckToken
    let engine = FunctionsEngine(
      registry: FunctionRegistry(), options: service, callers: CallerCheck(callers: callers),
      clock: ManualClock().service)
    var options = CallableOptions()
    options.enforcesAppCheck = enforcing
    engine.registry.onCall("who", options: options) { request in request.appID ?? "nobody" }
    return engine
  }

  private func code(_ engine: FunctionsEngine, _ context: CallContext) async -> ServiceCode? {
    do {
      _ = try await engine.call(Self.call, context: context)
      return nil
    } catch {
      return (error as? FunctionsServiceError)?.code
    }
  }

  @Test func `a token that cannot be verified at present is not refused`() async {
    let verifier = FakeCallerVerifier()
    let context = CallContext(caller: .credential(verifier.issue("ada")))
    #expect(await code(engine(callers: verifier), context) == nil)
    for code in [ServiceCode.unavailable, .cancelled, .unauthenticated] {
      verifier.fail(ServiceStatus(code, "It failed."))
      #expect(await self.code(engine(callers: verifier), context) == code)
    }
    #expect(await code(engine(), context) == .unauthenticated)
    #expect(await code(engine(callers: FakeCallerVerifier()), context) == .unauthenticated)
  }

  @Test func `a verification of App Check that fails is not a refusal`() async {
    let context = CallContext(appCheck: .token("t"))
    let failures: [(any Error, ServiceCode)] = [
      (FunctionsServiceError(.unavailable, "no network"), .unavailable), (CancellationError(), .cancelled),
      (Forged(), .unauthenticated),
    ]
    for (failure, expected) in failures {
      let enforcing = engine(enforcing: true) { _ in throw failure }
      #expect(await code(enforcing, context) == expected, "\(failure)")
      // A function that does not enforce App Check is called without the id of an app.
      #expect(await code(engine() { _ in throw failure }, context) == nil, "\(failure)")
    }
    #expect(await code(engine(enforcing: true) { _ in "app" }, CallContext()) == .unauthenticated)
    #expect(await code(engine(enforcing: true) { _ in "app" }, context) == nil)
  }
}

private struct Forged: Error {}
