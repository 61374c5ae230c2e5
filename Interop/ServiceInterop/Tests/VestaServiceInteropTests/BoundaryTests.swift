import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

struct SampleFailure: ServiceFailure, Equatable {
  let status: ServiceStatus

  init(_ status: ServiceStatus) { self.status = status }

  var code: ServiceCode { status.code }
  var message: String { status.message }

  static func translating(_ error: any Error) -> SampleFailure? {
    error is Known ? SampleFailure(.aborted, "known") : nil
  }

  struct Known: Error {}
  struct Secret: Error { let password = "hunter2" }
}

@Suite struct BoundaryTests {
  private let clock = ManualClock()
  private let reported = Log<String>()

  private var boundary: ServiceBoundary<SampleFailure> {
    let reported = reported
    return ServiceBoundary(
      clock: clock.service, report: { reported.add("\($0)") }, translate: SampleFailure.translating)
  }

  private func code(_ context: CallContext, _ body: @escaping @Sendable () async throws -> Void) async -> ServiceCode? {
    do {
      try await boundary.serve(context) { _ in try await body() }
      return nil
    } catch {
      return error.code
    }
  }

  @Test func `every error is translated to the product's`() async {
    let context = CallContext()
    #expect(await code(context) {} == nil)
    #expect(await code(context) { throw SampleFailure(.notFound, "x") } == .notFound)
    #expect(await code(context) { throw SampleFailure.Known() } == .aborted)
    #expect(await code(context) { throw CancellationError() } == .cancelled)
    #expect(reported.entries.isEmpty)
  }

  @Test func `an unknown error keeps its text to the log`() async throws {
    let failure = await #expect(throws: SampleFailure.self) {
      try await boundary.serve(CallContext()) { _ in throw SampleFailure.Secret() }
    }
    #expect(failure?.code == .internal)
    #expect(failure?.message.contains("Secret") == true)
    #expect(failure?.message.contains("hunter2") == false)
    #expect(reported.entries.count == 1)
  }

  @Test func `a call whose deadline has passed does not begin`() async {
    let ran = Log<Int>()
    #expect(await code(CallContext(deadline: clock.now)) { ran.add(1) } == .deadlineExceeded)
    #expect(ran.entries.isEmpty)
    #expect(await code(CallContext(deadline: clock.now + 1)) { ran.add(1) } == nil)
    #expect(ran.entries == [1])
    #expect(clock.deadlines.isEmpty)
  }

  @Test(.timeLimit(.minutes(10))) func `a deadline that passes cancels the call, and only the call`() async {
    let gate = Gate()
    let context = CallContext().limited(to: .seconds(5), by: clock.service)
    let call = Task {
      let found = await code(context) { try await gate.pass() }
      return (found, Task.isCancelled)
    }
    await clock.waitForTimers()
    clock.advance(by: .seconds(5))
    let (found, isCancelled) = await call.value
    #expect(found == .deadlineExceeded)
    #expect(!isCancelled)
  }

  @Test(.timeLimit(.minutes(10))) func `a call that was done in spite of its deadline returns its result`() async throws
  {
    let clock = clock
    let value = try await boundary.serve(CallContext(deadline: clock.now + 10)) { _ in
      clock.advance(by: .seconds(1))
      return 7
    }
    #expect(value == 7)
  }

  @Test(.timeLimit(.minutes(10))) func `a cancelled caller cancels a call with a deadline`() async {
    let gate = Gate()
    let call = Task { await code(CallContext(deadline: clock.now + 1_000_000)) { try await gate.pass() } }
    await clock.waitForTimers()
    call.cancel()
    #expect(await call.value == .cancelled)
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `a caller keeps its executor after a success and after a failure`() async {
    let boundary = boundary
    for context in [CallContext(), CallContext(deadline: clock.now + 1_000_000)] {
      #expect(await ExecutorProbe.violations { try await boundary.serve(context) { _ in 1 } } == [])
      #expect(
        await ExecutorProbe.violations { try await boundary.serve(context) { _ in throw SampleFailure.Known() } } == [])
    }
  }

  @Test func `a limit never moves a deadline away`() {
    let context = CallContext(deadline: clock.now + 1_000)
    #expect(context.limited(to: .seconds(1), by: clock.service).deadline == clock.now + 1_000)
    #expect(context.limited(to: .microseconds(1), by: clock.service).deadline == clock.now + 1)
  }
}

@Suite struct VocabularyTests {
  @Test func `codes have their numbers, names and HTTP statuses`() {
    #expect(ServiceCode.allCases.map(\.rawValue) == Array(1...16))
    for code in ServiceCode.allCases {
      #expect(ServiceCode(name: code.name) == code)
      #expect(ServiceCode(wire: code.rawValue) == code)
      #expect((400...599).contains(code.httpStatus))
    }
    #expect(ServiceCode(wire: 99) == .unknown)
    #expect(ServiceCode.deadlineExceeded.description == "DEADLINE_EXCEEDED")
    #expect(ServiceCode(httpStatus: 404) == .notFound)
    #expect(ServiceCode(name: "OK") == nil)
  }

  @Test func `a page token is accepted for its own request only`() throws {
    let token = PageToken(position: [1, 0, 255], of: [7])
    #expect(try PageToken(token.text, of: [7]) == token)
    #expect(throws: (any Error).self) { try PageToken(token.text, of: [8]) }
    #expect(try PageToken(PageToken(number: -7, of: [1]).text, of: [1]).number() == -7)
    #expect(throws: (any Error).self) { try token.number() }
    for text in ["", "!", "AA", String(token.text.dropLast())] {
      #expect((try? PageToken(text, of: [7])) != token)
    }
    #expect(Page([1, 2], nextPageToken: "t").map { $0 * 2 }.items == [2, 4])
  }

  @Test func `durations are rounded up to microseconds and never overflow`() {
    #expect(Duration.nanoseconds(1).microseconds == 1)
    #expect(Duration.seconds(2).microseconds == 2_000_000)
    #expect(Duration.seconds(Int64.max).microseconds == .max)
  }

  @Test func `the system clock returns the present and its timers fire or stop`() async throws {
    let now = ServiceClock.system.now()
    #expect(now > 1_700_000_000_000_000 && now < 10_000_000_000_000_000)
    try await ServiceClock.system.sleep(for: .microseconds(1))
    let stopped = ServiceClock.system.schedule(after: .seconds(3_600)) { Issue.record("a stopped timer fired") }
    stopped.cancel()
  }
}
