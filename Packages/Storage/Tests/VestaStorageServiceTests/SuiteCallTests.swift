import Foundation
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

  private func store(_ name: String, in bucket: String = "demo.appspot.com") async throws {
    let answer = try await send(.post, "/v0/b/\(bucket)/o?name=\(name)", name, ["content-type": "text/plain"])
    #expect(answer.status == 200)
  }

  @Test func `a reset clears objects, buckets and uploads, and no function hears of it`() async throws {
    let engine = server.engine()
    try await server.listen(server.host(engine))
    try await store("a")
    try await store("b", in: "other")
    #expect(try await send(.post, "/storage/v1/b?project=demo", #"{"name":"made"}"#).status == 200)
    let started = try await send(.post, "/demo.appspot.com/large?uploads")
    let id = try #require(started.text.split(separator: "UploadId>").dropFirst().first?.split(separator: "<").first)
    #expect(try await send(.put, "/demo.appspot.com/large?partNumber=1&uploadId=\(id)", "part").status == 200)
    let answer = try await send(.post, "/internal/reset")
    #expect(answer.status == 200 && answer.text == "OK")
    #expect(try await engine.listBuckets(context: .owner).isEmpty)
    #expect(try await send(.get, "/v0/b/other/o/b").status == 404)
    #expect(try await send(.get, "/storage/v1/b/made").status == 404)
    #expect(try await send(.put, "/demo.appspot.com/large?partNumber=2&uploadId=\(id)", "part").status == 404)
    #expect(try await send(.post, "/internal/reset").status == 200)
    try await store("a")
  }

  @Test func `an export is written to the folder that the request names`() async throws {
    try await server.listen(server.host(server.engine()))
    try await store("a")
    try await store("b", in: "other")
    try await withTemporaryDirectory { directory in
      let place = directory.appending(path: "storage_export")
      func export(_ path: String?, _ fields: HTTPFields = [:]) async throws -> Int {
        let body = path.map { #"{"path":"\#($0)","initiatedBy":"test"}"# } ?? "{}"
        return try await send(.post, "/internal/export", body, fields).status
      }
      for _ in 0..<2 {
        // An export is replaced.
        #expect(try await export(place.path) == 200)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
        #expect(names == ["blobs", "buckets.json", "metadata"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(place.path)/blobs").count == 2)
      }
      try Data("x".utf8).write(to: directory.appending(path: "precious"))
      #expect(try await export(directory.path) == 400)
      for path in [nil, "", "relative"] { #expect(try await export(path) == 400) }
      #expect(try await export(directory.appending(path: "new").path, ["origin": "http://127.0.0.1"]) == 403)
      let left = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
      #expect(left == ["precious", "storage_export"])
    }
  }

  @Test func `a server that is not for development has none of these calls`() async throws {
    try await server.listen(server.host(server.engine(), isDevelopment: false))
    for (method, path) in [(HTTPMethod.put, "setRules"), (.post, "reset"), (.post, "export")] {
      #expect(try await send(method, "/internal/\(path)", #"{"path":"/tmp/x"}"#).status == 404)
    }
  }
}
