import Testing
import VestaAppCheckInteropFakes
import VestaAuthInterop
import VestaAuthInteropFakes
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaServiceInteropFakes
import VestaTesting

@Suite struct RetryTests {
  @Test func `pauses grow to the cap, with the random part after it`() {
    let retry = Retry(initial: .seconds(1), factor: 2, cap: .seconds(10), jitter: .between(0.5, 1.5), attempts: 6)
    let pauses = (1...6).map { retry.pause(after: $0, random: { 0.5 }) }
    #expect(pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(10), nil])
    #expect(retry.pause(after: 5, random: { 0 }) == .seconds(5))
    #expect(
      Retry(initial: .seconds(4), cap: .seconds(9), jitter: .either(0.5, 1.5)).pause(after: 9, random: { 0.9 })
        == .seconds(13.5))
  }

  @Test func `the first attempt may be made at once, and extreme values do no harm`() {
    let firestore = Retry(initial: .seconds(1), factor: 1.5, cap: .seconds(60), beginsAtOnce: true)
    #expect((1...3).map { firestore.pause(after: $0) } == [.zero, .seconds(1), .seconds(1.5)])
    #expect(firestore.pause(after: .max) == .seconds(60))
    #expect(Retry(initial: .seconds(1), factor: 0.5, cap: .seconds(60)).pause(after: .max) == .seconds(1))
    #expect(Retry(initial: .zero, cap: .zero).pause(after: .max) == .zero)
    #expect(Retry.never.pause(after: 1) == nil)
  }
}

@Suite struct BackendCallerTests {
  private let clock = ManualClock()
  private let auth = FakeAuth()
  private let contexts = Log<CallContext>()

  private func caller(_ retry: Retry = .never) -> BackendCaller {
    BackendCaller(
      auth: auth, appCheck: FakeAppCheck(), context: CallContext(project: "p", locale: "de"), clock: clock.service,
      retry: retry, random: { 0.5 })
  }

  /// Fails with the codes, one for each attempt, and then succeeds.
  private func call(_ caller: BackendCaller, _ failures: [ServiceStatus], timeout: Duration? = nil) async throws -> Int
  {
    let left = Locked(failures[...])
    return try await caller.call(timeout: timeout) { [contexts] context in
      contexts.add(context)
      if let status = left.withLock({ $0.popFirst() }) { throw SampleFailure(status) }
      return contexts.entries.count
    }
  }

  @Test func `a call carries the tokens, the locale and the deadline`() async throws {
    auth.signIn("ada")
    #expect(try await call(caller(), [], timeout: .seconds(5)) == 1)
    let context = try #require(contexts.entries.first)
    #expect(context.caller == .credential(.idToken("token-1-of-ada")))
    #expect(context.appCheck.unverifiedToken != nil && context.locale == "de" && context.project == "p")
    #expect(context.deadline == clock.now + 5_000_000)
  }

  @Test func `a refused ID token is refreshed once`() async throws {
    let refused = ServiceStatus(.unauthenticated, "expired")
    auth.signIn("ada")
    #expect(try await call(caller(), [refused]) == 2)
    #expect(contexts.entries.map(\.caller) == (1...2).map { .credential(.idToken("token-\($0)-of-ada")) })
    await #expect(throws: SampleFailure(refused)) { try await call(caller(), [refused, refused, refused]) }
    #expect(contexts.entries.count == 4)
    auth.signOut()
    await #expect(throws: SampleFailure(refused)) { try await call(caller(), [refused]) }
    #expect(contexts.entries.count == 5)
  }

  @Test(.timeLimit(.minutes(5)))
  func `transient failures are tried again after a pause, at least the one that the service asks for`() async throws {
    let retry = Retry(initial: .seconds(1), cap: .seconds(8), attempts: 3)
    let full = ServiceStatus(.resourceExhausted, "full", details: [.retryInfo(after: .seconds(30))])
    let task = Task { try await call(caller(retry), [ServiceStatus(.unavailable, "down"), full]) }
    await clock.waitForTimers()
    clock.advance(by: .seconds(1))
    await clock.waitForTimers()
    clock.advance(by: .seconds(29))
    #expect(contexts.entries.count == 2)
    clock.advance(by: .seconds(1))
    #expect(try await task.value == 3)
    await #expect(throws: SampleFailure.self) { try await call(caller(retry), [ServiceStatus(.notFound, "none")]) }
  }

  @Test func `no attempt begins after the deadline`() async throws {
    let retry = Retry(initial: .seconds(10), cap: .seconds(10))
    await #expect(throws: SampleFailure.self) {
      try await call(caller(retry), [ServiceStatus(.unavailable, "down")], timeout: .seconds(5))
    }
    #expect(contexts.entries.count == 1 && clock.deadlines.isEmpty)
  }

  @Test func `a token that cannot be fetched is the product's error, and cancellation stays one`() async throws {
    let refused = ServiceStatus(.unauthenticated, "expired")
    auth.signIn("ada")
    auth.failRefreshes(with: AuthInteropError(.userRejected, "disabled"))
    var caller = caller()
    caller.tokenError = { _ in SampleFailure(.internal, "no token") }
    await #expect(throws: SampleFailure(.internal, "no token")) { try await call(caller, [refused]) }
    let cancelled = Task { [caller] in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await call(caller, [refused])
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test(.timeLimit(.minutes(5))) func `a pause ends with its task`() async throws {
    let task = Task {
      try await call(caller(Retry(initial: .seconds(10), cap: .seconds(10))), [ServiceStatus(.unavailable, "down")])
    }
    await clock.waitForTimers()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}

/// A duplex call whose backend queues requests; or one of the flawed ones.
private enum QueueingCall {
  enum Flaw: CaseIterable { case none, countsNothing, neverWaits, ignoresCancellation }

  static func subject(_ flaw: Flaw = .none) -> DuplexSubject {
    let source = DuplexSource<Int, Int>(isAcknowledging: true) { SampleFailure(.resourceExhausted, $0) }
    source.start { _ in }
    let call = source.call
    let take: @Sendable (Int) -> Void = { count in
      for _ in 0..<count where source.pendingRequests > 0 { source.hasTaken() }
    }
    let end: @Sendable () -> Void = { source.end() }
    switch flaw {
    case .none: return DuplexSubject(call, take: take, end: end)
    case .countsNothing:
      return DuplexSubject(
        DuplexCall(responses: call.responses, send: call.send, finish: call.finish, cancel: call.cancel), take: take,
        end: end)
    case .neverWaits:
      return DuplexSubject(
        DuplexCall(
          responses: call.responses, send: call.send, finish: call.finish, cancel: call.cancel,
          pending: { call.pendingRequests }), take: take, end: end)
    case .ignoresCancellation:
      return DuplexSubject(
        DuplexCall(
          responses: call.responses, send: call.send, finish: call.finish, cancel: call.cancel,
          pending: { call.pendingRequests },
          ready: { limit in
            for _ in 0..<2_000 where call.pendingRequests >= limit { await Task.yield() }
          }), take: take, end: end)
    }
  }
}

@Suite struct BackPressureTests {
  @Test func `a source that counts what its backend has not taken keeps the promises`() async {
    for outcome in await DuplexContracts.all.run(against: { QueueingCall.subject() }) {
      #expect(outcome.isKept, "\(outcome)")
    }
  }

  @Test(arguments: QueueingCall.Flaw.allCases.dropFirst())
  fileprivate func `a flawed call fails`(_ flaw: QueueingCall.Flaw) async {
    let outcomes = await DuplexContracts.all.run(against: { QueueingCall.subject(flaw) })
    #expect(outcomes.contains { !$0.isKept })
  }

  @Test func `a backend that serves requests at once has none pending`() async throws {
    let source = DuplexSource<Int, Int> { SampleFailure(.resourceExhausted, $0) }
    let call = source.call
    call.send(1)
    #expect(call.pendingRequests == 0)
    let seen = Log<Int>()
    source.start { _ in seen.add(source.pendingRequests) }
    for number in 0..<3 { call.send(number) }
    #expect(seen.entries == [1, 1, 1] && call.pendingRequests == 0)
    try await call.ready(below: 1)
    call.cancel()
  }
}
