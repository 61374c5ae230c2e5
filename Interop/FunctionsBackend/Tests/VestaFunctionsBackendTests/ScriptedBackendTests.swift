import Testing
import VestaBytes
import VestaFunctionsBackend
import VestaFunctionsBackendContracts
import VestaFunctionsBackendFakes
import VestaServiceInterop
import VestaTesting

@Suite struct ScriptedBackendTests {
  private struct Crash: Error {}

  private static func subject() -> FunctionsSubject {
    let (beginnings, cancellations) = (Log<String>(), Log<String>())
    let backend = ScriptedFunctionsBackend(now: { 1_000 }) { caller in
      if case .credential = caller { false } else { true }
    }
    let failure = FunctionsServiceError(.alreadyExists, "taken", details: ["by": "ada"])
    backend.set("echo") { data, _ in data }
    backend.set("fail") { _, _ in throw failure }
    backend.set("crash") { _, _ in throw Crash() }
    backend.set("count") { data, send in
      for number in 1...(data.integer ?? 1) { send(.integer(number)) }
      return "done"
    }
    backend.set("countAndFail") { _, send in
      send(1)
      send(2)
      throw failure
    }
    backend.set("wait") { _, _ in
      beginnings.add("wait")
      defer { cancellations.add("wait") }
      try await Gate().pass()
      return .null
    }
    return FunctionsSubject(backend: backend, beginnings: beginnings, cancellations: cancellations)
  }

  @Test(arguments: FunctionsContracts.all) func `the scripted backend honours`(
    contract: Contract<FunctionsSubject>
  ) async throws {
    try await contract.verify(Self.subject())
  }

  @Test func `calls and their contexts are noted, also failing ones`() async {
    let backend = ScriptedFunctionsBackend()
    let call = FunctionCall(.name("missing", region: "us-central1"), data: 1)
    var context = CallContext()
    context.deadline = 5
    _ = try? await backend.call(call, context: context)
    #expect(backend.calls == [call])
    #expect(backend.contexts.map(\.deadline) == [5])
  }
}
