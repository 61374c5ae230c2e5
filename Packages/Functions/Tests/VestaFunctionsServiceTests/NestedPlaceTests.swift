import Testing
import VestaBytes
import VestaFunctionsBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaFunctionsService

/// The place of a function that has called functions, after the last of its calls.
@Suite struct NestedPlaceTests {
  @Test func `a function has its place again after its calls, one after another or at once`() async throws {
    let bench = EngineBench()
    let (engine, gate, counts) = (bench.engine, Gate(), Log<Int>())
    bench.registry.onCall("inner") { _ in Int32(engine.runningCount) }
    bench.registry.onCall("outer") { _ in
      let call = FunctionCall(.name("inner", region: "us-central1"))
      for _ in 0..<2 {
        // The place is lent to the call.
        counts.add(Int(try await engine.call(call, context: CallContext()).integer ?? 0))
        counts.add(engine.runningCount)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<2 { group.addTask { _ = try await engine.call(call, context: CallContext()) } }
        try await group.waitForAll()
      }
      counts.add(engine.runningCount)
      await gate.wait()
      return nil
    }
    let outer = Task { try await bench.call("outer") }
    await counts.wait { $0.count == 5 }
    #expect(counts.entries == [1, 1, 1, 1, 1])
    gate.open()
    _ = try await outer.value
    #expect(engine.runningCount == 0)
  }
}
