import Testing
import VestaBytes
import VestaConcurrency
import VestaEngineInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

private struct NoteFailure: ServiceFailure, Equatable {
  let status: ServiceStatus

  init(_ status: ServiceStatus) { self.status = status }
}

@Suite struct EngineFrameTests {
  private let clock = ManualClock()
  private let model = ModelStore()
  private let opened = Log<String>()
  private let reported = Log<String>()
  private let verifier = FakeCallerVerifier()

  private func frame(
    _ callers: CallerCheck = CallerCheck(), events: EventOffer = .none,
    openStore: (@Sendable () async throws -> any OrderedStore)? = nil
  ) -> EngineFrame<NoteFailure> {
    let (model, opened, reported) = (model, opened, reported)
    return EngineFrame(
      "Notes", clock: clock.service, callers: callers, events: events,
      openStore: openStore ?? {
        opened.add("open")
        return model
      }
    ) { reported.add("\($0)") }
  }

  private func code(
    _ frame: EngineFrame<NoteFailure>, _ context: CallContext = CallContext(),
    _ body: @escaping @Sendable (CallContext) async throws -> Void
  ) async -> ServiceCode? {
    do {
      try await frame.serve(context, body)
      return nil
    } catch {
      return error.status.code
    }
  }

  @Test func `the store is opened by the first call, once, and again after a failure`() async throws {
    let fails = Locked(true)
    let frame = frame(openStore: { [opened, model] in
      opened.add("open")
      if fails.withLock({ $0 }) { throw StoreError(.locked, operation: "open", message: "Another process has it.") }
      return model
    })
    #expect(opened.entries.isEmpty)
    #expect(await code(frame) { _ in _ = try await frame.store() } == .internal)
    fails.withLock { $0 = false }
    for _ in 0..<3 { #expect(await code(frame) { _ in _ = try await frame.store() } == nil) }
    #expect(opened.entries.count == 2)
  }

  @Test func `a call gets the verified caller, and no call begins for a credential that is not valid`() async throws {
    let ran = Log<String>()
    let context = CallContext(caller: .credential(verifier.issue("ada")))
    let verified = frame(CallerCheck(callers: verifier))
    #expect(await code(verified, context) { ran.add($0.user?.uid ?? "nobody") } == nil)
    #expect(
      await code(verified, CallContext(caller: .credential(.idToken("forged")))) { _ in ran.add("forged") }
        == .unauthenticated)
    #expect(await code(frame(), context) { _ in ran.add("without a verifier") } == .unauthenticated)
    #expect(ran.entries == ["ada"])
    #expect(try await verified.admit(context).user?.uid == "ada")
    await #expect(throws: NoteFailure.self) { try await frame().admit(context) }
    verifier.fail(ServiceStatus(.unavailable, "no store"))
    #expect(await code(verified, context) { _ in ran.add("unverified") } == .unavailable)
  }

  @Test(.timeLimit(.minutes(5))) func `a verification counts within the deadline of the call`() async throws {
    verifier.hold(true)
    let frame = frame(CallerCheck(callers: verifier))
    let context = CallContext(caller: .credential(verifier.issue("ada")), deadline: clock.now + 1_000_000)
    for isStream in [false, true] {
      let call = Task { () -> ServiceCode? in
        guard isStream else { return await code(frame, context) { _ in } }
        do throws(NoteFailure) { _ = try await frame.admit(context) } catch { return error.status.code }
        return nil
      }
      await clock.waitForTimers()
      clock.advance(by: .seconds(1))
      #expect(await call.value == .deadlineExceeded)
      clock.jump(to: clock.now - 1_000_000)
    }
  }

  @Test func `errors of the store are translated by the table, and an unknown one is logged`() async {
    let frame = frame()
    let full = StoreError(.diskFull, operation: "commit", message: "Full.")
    #expect(await code(frame) { _ in throw full } == .resourceExhausted)
    #expect(await code(frame) { _ in throw NoteFailure(.notFound, "none") } == .notFound)
    #expect(await code(frame) { _ in throw ServiceStatus(.aborted, "again") } == .aborted)
    #expect(reported.entries.isEmpty)
    struct Surprise: Error {}
    #expect(await code(frame) { _ in throw Surprise() } == .internal)
    #expect(reported.entries.count == 1)
    #expect(frame.failure(full).retryAfter == .seconds(60))
  }

  @Test func `an engine's own translation is asked before the table`() async {
    let model = model
    let frame = EngineFrame<NoteFailure>(
      "Notes", callers: CallerCheck(),
      translate: { StoreError.Code.conflict ~= $0 ? NoteFailure(.aborted, "Too much contention.") : nil },
      openStore: { model }
    ) { _ in }
    let conflict = frame.failure(StoreError(.conflict, operation: "commit", message: "x"))
    #expect(conflict == NoteFailure(.aborted, "Too much contention."))
    #expect(frame.failure(StoreError(.corrupt, operation: "read", message: "x")).status.code == .dataLoss)
  }

  @Test func `a write wakes the events, and commits are observed`() async throws {
    let versions = Log<StoreVersion>()
    let offer = EventOffer(service: "notes", keys: [9], types: [.documentCreated]) { _ in [:] }
    let frame = frame(events: offer)
    frame.onCommit { versions.add($0) }
    let result = try await frame.write { transaction in
      try await transaction.put([1], for: [1])
      return 7
    }
    #expect(result == 7)
    await versions.wait { $0.count == 1 }
    #expect(frame.events.service == "notes" && frame.events.types == [.documentCreated])
  }

  @Test func `the end is delivered in order, and every later call is unavailable`() async throws {
    let order = Log<String>()
    let frame = frame(openStore: { [model] in ClosingStore(base: model) { order.add("store") } })
    #expect(await code(frame) { _ in _ = try await frame.store() } == nil)
    try await frame.close {
      order.add("own")
      // Work at the end may still need the store.
      _ = try? await frame.store().read { try await $0.get([1]) }
    }
    #expect(order.entries == ["own", "store"])
    #expect(await code(frame) { _ in _ = try await frame.store() } == .unavailable)
    #expect(await code(frame) { _ in _ = try await frame.write { _ in } } == .unavailable)
    try await frame.close()
    #expect(order.entries == ["own", "store"])
  }

  @Test func `an engine that was never used opens nothing when it is closed`() async throws {
    let frame = frame()
    try await frame.close()
    #expect(opened.entries.isEmpty)
    #expect(await code(frame) { _ in _ = try await frame.store() } == .unavailable)
  }

  @Test func `a caller keeps its executor after a success and after a failure`() async {
    let frame = frame(CallerCheck(callers: verifier))
    let user = CallContext(caller: .credential(verifier.issue("ada")))
    for context in [CallContext(), user, CallContext(caller: .credential(.idToken("forged")))] {
      #expect(await ExecutorProbe.violations { try await frame.serve(context) { _ in 1 } } == [])
      #expect(await ExecutorProbe.violations { _ = try await frame.admit(context) } == [])
    }
  }
}

/// A store that says when it is closed.
private final class ClosingStore: OrderedStore {
  private let base: ModelStore
  private let onClose: @Sendable () -> Void

  init(base: ModelStore, onClose: @escaping @Sendable () -> Void) { (self.base, self.onClose) = (base, onClose) }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await base.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try await base.write(body)
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await base.raiseFloor(to: version) }

  func close() async throws { onClose() }
}
