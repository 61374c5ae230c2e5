import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend
import VestaFunctionsBackendContracts
import VestaHTTPFunctionsBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop

@testable import VestaFunctionsService

/// An engine with a manual clock.
struct EngineBench {
  let engine: FunctionsEngine
  let clock = ManualClock()
  var registry: FunctionRegistry { engine.registry }

  init(_ change: (inout FunctionsServiceOptions) -> Void = { _ in }) {
    var options = FunctionsServiceOptions()
    change(&options)
    engine = FunctionsEngine(
      registry: FunctionRegistry(), options: options, clock: clock.service)
  }

  func call(
    _ name: String, _ data: JSONValue = .null, _ context: CallContext = CallContext()
  ) async throws -> JSONValue {
    try await engine.call(FunctionCall(.name(name, region: "us-central1"), data: data), context: context)
  }
}

private struct Crash: Error {}

@Suite struct EngineContractTests {
  @Test(arguments: FunctionsContracts.all) func `the engine honours`(
    contract: Contract<FunctionsSubject>
  ) async throws {
    let bench = EngineBench()
    let (beginnings, cancellations) = (Log<String>(), Log<String>())
    bench.registry.onCall("echo") { $0.rawData }
    bench.registry.onCall("fail") { _ in throw HTTPSError(.alreadyExists, "taken", details: ["by": "ada"]) }
    bench.registry.onCall("crash") { _ in throw Crash() }
    bench.registry.onCall("wait") { _ in
      beginnings.add("wait")
      do {
        try await Gate().pass()
      } catch {
        cancellations.add("wait")
        throw error
      }
      return nil
    }
    bench.registry.onStreamingCall("count") { request, stream in
      for number in 1...(request.rawData.integer ?? 1) { try await stream.send(Int32(number)) }
      return "done"
    }
    bench.registry.onStreamingCall("countAndFail") { _, stream in
      try await stream.send(Int32(1))
      try await stream.send(Int32(2))
      throw HTTPSError(.alreadyExists, "taken", details: ["by": "ada"])
    }
    try await contract.verify(
      FunctionsSubject(backend: bench.engine, beginnings: beginnings, cancellations: cancellations))
  }
}

@Suite struct EngineTests {
  @Test func `calls beyond the limit wait in order of arrival`() async throws {
    let bench = EngineBench { $0.maximumConcurrentCalls = 2 }
    let (gate, log) = (Gate(), Log<Int64>())
    bench.registry.onCall("work") { request in
      log.add(request.rawData.integer ?? 0)
      await gate.wait()
      return nil
    }
    let engine = bench.engine
    var calls: [Task<JSONValue, any Error>] = []
    for number in 0..<6 {
      calls.append(
        Task {
          try await engine.call(
            FunctionCall(.name("work", region: "us-central1"), data: .integer(Int64(number))), context: CallContext())
        })
      while log.entries.count + engine.waitingCount < number + 1 { await Task.yield() }
    }
    #expect(log.entries.sorted() == [0, 1])
    gate.open()
    for call in calls { _ = try await call.value }
    #expect(log.entries.sorted() == [0, 1, 2, 3, 4, 5])
    #expect(engine.runningCount == 0)
  }

  @Test func `the time limit ends the call at once and cancels the function`() async throws {
    let bench = EngineBench { $0.timeout = .seconds(3) }
    let (begun, told, release) = (Gate(), Gate(), Gate())
    bench.registry.onCall("stubborn") { _ in
      begun.open()
      await withTaskCancellationHandler {
        await release.wait()
      } onCancel: {
        told.open()
      }
      return "late"
    }
    let engine = bench.engine
    let call = Task {
      try await engine.call(FunctionCall(.name("stubborn", region: "us-central1")), context: CallContext())
    }
    await begun.wait()
    await bench.clock.waitForTimers()
    bench.clock.advance(by: .seconds(3))
    let error = await #expect(throws: FunctionsServiceError.self) { try await call.value }
    #expect(error?.code == .deadlineExceeded)
    await told.wait()
    // The function still runs and keeps its place.
    #expect(engine.runningCount == 1)
    release.open()
    while engine.runningCount > 0 { await Task.yield() }
  }

  @Test func `the shorter of the caller's and the function's time limit counts`() async throws {
    let bench = EngineBench()
    var options = CallableOptions()
    options.timeout = .seconds(5)
    let begun = Gate()
    bench.registry.onCall("wait", options: options) { _ in
      begun.open()
      try await Gate().pass()
      return nil
    }
    let engine = bench.engine
    var context = CallContext()
    context.deadline = bench.clock.now + 2_000_000
    let call = Task { [context] in
      try await engine.call(FunctionCall(.name("wait", region: "us-central1")), context: context)
    }
    await begun.wait()
    await bench.clock.waitForTimers()
    #expect(bench.clock.deadlines == [bench.clock.now + 2_000_000])
    bench.clock.advance(by: .seconds(2))
    let error = await #expect(throws: FunctionsServiceError.self) { try await call.value }
    #expect(error?.code == .deadlineExceeded)
  }

  @Test func `typed functions decode and encode`() async throws {
    struct Point: Codable { let x: Int, y: Double }
    let bench = EngineBench()
    bench.registry.onCall("flip") { (point: Point, _) in Point(x: Int(point.y), y: Double(point.x)) }
    let result = try await bench.call("flip", ["x": 1, "y": 2.0])
    #expect(result.object?["y"] == 1.0)
    #expect(result.object?["x"]?.object?["value"] == "2")
    let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call("flip", "text") }
    #expect(error?.code == .invalidArgument)
  }

  @Test func `the function knows who calls`() async throws {
    let bench = EngineBench()
    bench.registry.onCall("who") { $0.auth?.uid }
    #expect(try await bench.call("who") == .null)
    let user = CallContext(caller: .user(VerifiedUser(uid: "ada")))
    #expect(try await bench.call("who", .null, user) == "ada")
    let forged = CallContext(caller: .credential(.idToken("a.b.c")))
    let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call("who", .null, forged) }
    #expect(error?.code == .unauthenticated)
  }

  @Test func `App Check is enforced where a function asks for it`() async throws {
    let bench = EngineBench {
      $0.verifyAppCheckToken = { token in
        guard token == "good" else { throw Crash() }
        return "app"
      }
    }
    var options = CallableOptions()
    options.enforcesAppCheck = true
    bench.registry.onCall("checked", options: options) { $0.appID }
    bench.registry.onCall("open") { $0.appID }
    let (good, bad) = (CallContext(appCheck: .token("good")), CallContext(appCheck: .token("bad")))
    #expect(try await bench.call("checked", .null, good) == "app")
    for context in [bad, CallContext()] {
      let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call("checked", .null, context) }
      #expect(error?.code == .unauthenticated)
      #expect(try await bench.call("open", .null, context) == .null)
    }
    let unverified = EngineBench()
    unverified.registry.onCall("checked", options: options) { _ in nil }
    let error = await #expect(throws: FunctionsServiceError.self) { try await unverified.call("checked", .null, good) }
    #expect(error?.code == .failedPrecondition)
  }

  @Test func `a function that consumes App Check tokens sees that one was used before`() async throws {
    let registry = FunctionRegistry()
    let apps = FakeAppCheckVerifier(["one": "app", "two": "app"])
    let engine = FunctionsEngine(
      registry: registry, options: FunctionsServiceOptions(), callers: CallerCheck(apps: apps))
    var options = CallableOptions()
    options.consumesAppCheckToken = true
    registry.onCall("once", options: options) { $0.isAppCheckTokenConsumed.map { "\($0)" } ?? "none" }
    registry.onCall("open") { $0.isAppCheckTokenConsumed.map { "\($0)" } ?? "none" }
    func result(_ name: String, _ token: String?) async throws -> JSONValue {
      try await engine.call(
        FunctionCall(.name(name, region: "us-central1"), data: .null),
        context: CallContext(appCheck: AppCheckState(token)))
    }
    #expect(try await result("open", "one") == "none")
    #expect(try await result("once", "one") == "false")
    #expect(try await result("once", "one") == "true")
    #expect(try await result("once", "two") == "false")
    for token in [nil, "forged"] { #expect(try await result("once", token) == "none") }
    engine.close()
  }

  @Test func `a function that consumes App Check tokens is refused where none can be consumed`() async throws {
    var options = CallableOptions()
    options.consumesAppCheckToken = true
    func code(_ context: CallContext, _ change: (inout FunctionsServiceOptions) -> Void) async -> ServiceCode? {
      let bench = EngineBench(change)
      bench.registry.onCall("once", options: options) { $0.isAppCheckTokenConsumed.map { "\($0)" } ?? "none" }
      let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call("once", .null, context) }
      return error?.code
    }
    #expect(await code(CallContext()) { _ in } == .failedPrecondition)
    let sent = CallContext(appCheck: .token("good"))
    #expect(await code(sent) { $0.verifyAppCheckToken = { $0 } } == .failedPrecondition)
    let verified = CallContext(appCheck: .verified(appID: "app", tokenID: "id"))
    #expect(
      await code(verified) {
        $0.verifyAppCheckToken = { $0 }
        $0.consumeAppCheckToken = { _ in false }
      } == .failedPrecondition)
  }

  @Test func `the app's own verifier of App Check tokens may consume them`() async throws {
    let consumed = Log<String>()
    let bench = EngineBench {
      $0.verifyAppCheckToken = { _ in "app" }
      $0.consumeAppCheckToken = { token in
        defer { consumed.add(token) }
        return consumed.entries.contains(token)
      }
    }
    var options = CallableOptions()
    (options.consumesAppCheckToken, options.enforcesAppCheck) = (true, true)
    bench.registry.onCall("once", options: options) { $0.isAppCheckTokenConsumed.map { "\($0)" } ?? "none" }
    let context = CallContext(appCheck: .token("one"))
    #expect(try await bench.call("once", .null, context) == "false")
    #expect(try await bench.call("once", .null, context) == "true")
  }

  @Test func `a function that sends waits for its reader`() async throws {
    let bench = EngineBench()
    let sent = Log<Int>()
    bench.registry.onStreamingCall("flood") { _, stream in
      for number in 0..<1000 {
        try await stream.send(Int32(number))
        sent.add(number)
      }
      return nil
    }
    let stream = bench.engine.stream(FunctionCall(.name("flood", region: "us-central1")), context: CallContext())
    var iterator = stream.makeAsyncIterator()
    _ = try await iterator.next()
    // It does not wait while there is room.
    await sent.wait { $0.count >= FunctionsTuning().unreadMessages }
    for _ in 0..<200 { await Task.yield() }
    #expect(sent.entries.count <= FunctionsTuning().unreadMessages + 2)
    var count = 1
    while try await iterator.next() != nil { count += 1 }
    #expect(count == 1001)
  }

  @Test func `dropping a stream cancels its function`() async throws {
    let bench = EngineBench()
    let (begun, ended) = (Gate(), Gate())
    bench.registry.onStreamingCall("wait") { _, stream in
      begun.open()
      do {
        while true { try await stream.send("x") }
      } catch {
        ended.open()
        throw error
      }
    }
    do {
      var iterator = bench.engine
        .stream(FunctionCall(.name("wait", region: "us-central1")), context: CallContext()).makeAsyncIterator()
      _ = try await iterator.next()
    }
    await begun.wait()
    await ended.wait()
  }

  @Test func `an unread stream does not start its function`() async throws {
    let bench = EngineBench()
    let log = Log<Int>()
    bench.registry.onCall("ping") { _ in
      log.add(1)
      return nil
    }
    _ = bench.engine.stream(FunctionCall(.name("ping", region: "us-central1")), context: CallContext())
    #expect(try await bench.call("ping") == .null)
    #expect(log.entries.count == 1)
  }

  @Test func `a closed engine refuses calls`() async throws {
    let bench = EngineBench()
    bench.registry.onCall("ping") { _ in nil }
    bench.engine.close()
    let error = await #expect(throws: FunctionsServiceError.self) { try await bench.call("ping") }
    #expect(error?.code == .unavailable)
  }

  @Test(arguments: [
    ("https://a.b/c/name", "name"), ("https://a.b/name?x=/y#z", "name"), ("https://a.b", ""), ("https://a.b/", ""),
    ("", ""), ("a/b", "b"),
  ])
  func `a URL names a function by its last component`(url: String, name: String) {
    #expect(FunctionName.last(ofURL: url) == name)
  }

  @Test func `the executor of the caller is kept, on success and on failure`() async {
    let bench = EngineBench()
    bench.registry.onCall("ping") { _ in nil }
    bench.registry.onCall("crash") { _ in throw Crash() }
    let engine = bench.engine
    for name in ["ping", "crash"] {
      let reports = [
        await ExecutorProbe.fromMainActor {
          try await engine.call(FunctionCall(.name(name, region: "us-central1")), context: CallContext())
        },
        await ExecutorProbe.fromActor {
          try await engine.call(FunctionCall(.name(name, region: "us-central1")), context: CallContext())
        },
      ]
      for report in reports { #expect(report.isKept, "\(name): \(report)") }
    }
  }
}

/// Many callers, cancellations and streams at once; runs under Thread Sanitizer.
@Suite struct EngineStressTests {
  @Test func `calls, cancellations and streams from many tasks leave nothing behind`() async throws {
    let bench = EngineBench { $0.maximumConcurrentCalls = 8 }
    bench.registry.onCall("work") { request in
      await Task.yield()
      return request.rawData
    }
    bench.registry.onStreamingCall("count") { _, stream in
      for number in 0..<40 { try await stream.send(Int32(number)) }
      return nil
    }
    let engine = bench.engine
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<16 {
        group.addTask {
          var random = SplitMix(seed: UInt64(lane))
          for round in 0..<60 {
            let target = FunctionTarget.name(random.oneIn(3) ? "count" : "work", region: "us-central1")
            let task = Task {
              if case .name("count", _) = target {
                for try await _ in engine.stream(FunctionCall(target), context: CallContext()) {}
              } else {
                _ = try await engine.call(
                  FunctionCall(target, data: .integer(Int64(round))), context: CallContext())
              }
            }
            if random.oneIn(3) { task.cancel() }
            _ = await task.result
          }
        }
      }
    }
    while engine.runningCount > 0 { await Task.yield() }
    #expect(engine.waitingCount == 0)
    #expect(bench.clock.deadlines.count <= 1)
  }
}

@Suite struct HTTPFunctionsContractTests {
  @Test(arguments: HTTPFunctionsContracts.all) func `the engine honours`(
    contract: Contract<HTTPFunctionsSubject>
  ) async throws {
    let bench = EngineBench()
    let (beginnings, cancellations) = (Log<String>(), Log<String>())
    bench.registry.onRequest("mirror") { request in
      HTTPResponse(201, fields: ["x-mirror": "\(request.method) \(request.target)"], body: request.body)
    }
    bench.registry.onRequest("crash") { _ in throw Crash() }
    bench.registry.onRequest("wait") { _ in
      beginnings.add("wait")
      do {
        try await Gate().pass()
      } catch {
        cancellations.add("wait")
        throw error
      }
      return HTTPResponse()
    }
    bench.registry.onRequest("pieces") { _ in
      let stream = ByteStream(limit: 1)
      Task {
        try await stream.write(Array("one".utf8))
        try await stream.write(Array("two".utf8))
        stream.finish()
      }
      return HTTPResponse(body: .stream(stream))
    }
    bench.registry.onCall("echo") { $0.rawData }
    try await contract.verify(
      HTTPFunctionsSubject(backend: bench.engine, beginnings: beginnings, cancellations: cancellations))
  }
}
