import Testing
import VestaFunctionsBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaFunctionsService

@Suite struct CallDeadlineTests {
  private struct Crash: Error {}

  @Test func `a call that has ended leaves no deadline behind`() async throws {
    let bench = EngineBench()
    let (engine, gate) = (bench.engine, Gate())
    bench.registry.onCall("wait") { _ in
      await gate.wait()
      return nil
    }
    bench.registry.onCall("crash") { _ in throw Crash() }
    let call = Task {
      try await engine.call(FunctionCall(.name("wait", region: "us-central1")), context: CallContext())
    }
    while engine.deadlines.count == 0 { await Task.yield() }
    gate.open()
    _ = try await call.value
    #expect(engine.deadlines.count == 0)
    await #expect(throws: FunctionsServiceError.self) { try await bench.call("crash") }
    #expect(engine.deadlines.count == 0)
  }
}
