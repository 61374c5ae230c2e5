import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfigService

/// Every call of the engine keeps the caller's executor, where it succeeds and where it throws.
@Suite struct EngineExecutorTests {
  private static let calls: [@Sendable (RemoteConfigEngine) async throws -> Void] = [
    {
      _ = try await $0.fetch(
        FetchConfigRequest(namespace: "firebase", instance: ConfigInstance()), context: CallContext())
    },
    { _ = try await $0.template(namespace: "firebase", version: nil, context: .owner) },
    { _ = try await $0.publish(PublishRequest(template: ConfigTemplate(), precondition: .any), context: .owner) },
    { _ = try await $0.rollback(namespace: "firebase", to: 1, user: nil, context: .owner) },
    { _ = try await $0.listVersions(ListVersionsRequest(), context: .owner) },
    { _ = try await $0.difference(namespace: "firebase", from: 1, to: nil, context: .owner) },
    { _ = try await $0.downloadDefaults(namespace: "firebase", format: .json, context: .owner) },
  ]

  @Test func `the executor is kept on success and on failure, from the main actor and from another one`() async throws {
    for (index, call) in Self.calls.enumerated() {
      let engine = makeEngine()
      for value in ["a", "b"] {
        let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value(value))])
        _ = try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
      }
      #expect(await ExecutorProbe.violations { try await call(engine) } == [], "call \(index)")
      try await engine.close()
      await #expect(throws: RemoteConfigServiceError.self, "call \(index)") { try await call(engine) }
      #expect(await ExecutorProbe.violations { try await call(engine) } == [], "call \(index), closed")
    }
  }

  @Test func `after a publish many fetches at the same time make one plan`() async throws {
    let engine = makeEngine()
    let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: "a")])
    for round in 0..<20 {
      _ = try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
      let versions = await withTaskGroup(of: Int64?.self) { group in
        for _ in 0..<50 {
          group.addTask {
            let request = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance())
            return try? await engine.fetch(request, context: CallContext()).templateVersion
          }
        }
        return await group.reduce(into: Set<Int64?>()) { $0.insert($1) }
      }
      #expect(versions == [Int64(round + 1)])
    }
  }
}
