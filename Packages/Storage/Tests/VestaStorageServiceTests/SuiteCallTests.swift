import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageEndpoints
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageService

/// The calls of test kits and of the Firebase CLI to the suite's emulator.
@Suite struct SuiteCallTests {
  private let server: EndpointServer

  init() throws { server = try EndpointServer() }

  private func send(
    _ method: HTTPMethod, _ target: String, _ body: String = "", _ fields: HTTPFields = [:]
  ) async throws -> (status: Int, text: String) {
    let answer = try await server.send(method, target, fields, Array(body.utf8))
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  /// Rules that say what a call has set.
  private final class SetRules: RulesAdministration {
    let texts = Locked<[[String: String]]>([])

    func checkRules(_ source: String, of product: RuledProduct) async throws(RulesRefusal) -> [RulesRemark] { [] }

    func replaceRules(
      with source: String, of product: RuledProduct
    ) async throws(RulesRefusal) -> [RulesRemark] { [] }

    func rulesInForce(of product: RuledProduct) -> String? { nil }

    func coverage(of product: RuledProduct, as form: RulesCoverageForm) -> String? { nil }

    func replaceRules(
      ofBuckets sources: [String: String], others: String?
    ) async throws(RulesRefusal) -> [RulesRemark] {
      var sources = sources
      sources["others"] = others
      texts.withLock { $0.append(sources) }
      return []
    }
  }

  /// A host with rules.
  private struct RuledHost: EndpointHost {
    let inner: FakeEndpointHost
    let rules: SetRules

    var clock: ServiceClock { inner.clock }
    var defaultProject: String { inner.defaultProject }
    var isDevelopment: Bool { inner.isDevelopment }
    var rulesOfAllProjects: (any RulesAdministration)? { rules }

    func backend<Backend: Sendable>(_ type: Backend.Type, project: String) throws(ServiceStatus) -> Backend {
      try inner.backend(type, project: project)
    }

    func onShutDown(_ work: @escaping @Sendable () -> Void) { inner.onShutDown(work) }
  }

  @Test func `one file has the rules of all buckets, whatever it names`() async throws {
    let rules = SetRules()
    try await server.listen(RuledHost(inner: server.host(server.engine()), rules: rules))
    func set(_ files: String) async throws -> Int {
      try await send(.put, "/internal/setRules", #"{"rules":{"files":[\#(files)]}}"#).status
    }
    #expect(try await set(#"{"name":"s","content":"a"}"#) == 200)
    #expect(try await set(#"{"name":"s","content":"b","resource":"one"}"#) == 200)
    #expect(
      try await set(#"{"name":"s","content":"c","resource":"one"},{"name":"t","content":"d","resource":"two"}"#) == 200)
    #expect(try await set(#"{"name":"s","content":"c","resource":"one"},{"name":"t","content":"d"}"#) == 400)
    #expect(rules.texts.withLock { $0 } == [["others": "a"], ["others": "b"], ["one": "c", "two": "d"]])
  }
}
