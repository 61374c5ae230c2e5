import Testing
import VestaBytes
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaRemoteConfigService

/// A service in whose store one row after the other is damaged.
@Suite struct DamageTests {
  private func publish(_ engine: RemoteConfigEngine, _ value: String) async throws -> StoredTemplate {
    let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value(value))])
    return try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
  }

  private func value(_ engine: RemoteConfigEngine) async throws -> String? {
    let request = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance())
    return try await engine.fetch(request, context: CallContext()).entries["key"]
  }

  private func store(_ versions: Int, damaging key: [UInt8], to damage: [UInt8]) async throws -> ModelStore {
    let store = ModelStore()
    let engine = RemoteConfigEngine(projectID: "p") { store }
    for number in 1...versions { _ = try await publish(engine, "\(number)") }
    _ = try await store.write { try await $0.put(damage, for: key) }
    return store
  }

  static let damages: [[UInt8]] = [[0xFF, 0xFF], [], [0]]

  @Test(arguments: damages)
  func `a damaged row of the current version is found again by its record`(damage: [UInt8]) async throws {
    let store = try await store(3, damaging: Keys.current("firebase"), to: damage)
    let engine = RemoteConfigEngine(projectID: "p") { store }
    #expect(try await value(engine) == "3")
    #expect(try await publish(engine, "4").template.version?.versionNumber == 4)
    #expect(try await value(engine) == "4")
    let rolledBack = try await engine.rollback(namespace: "firebase", to: 2, user: nil, context: .owner)
    #expect(rolledBack.template.version?.versionNumber == 5)
    #expect(try await value(RemoteConfigEngine(projectID: "p") { store }) == "2")
  }

  @Test(arguments: damages)
  func `a damaged record of a version costs the record and nothing else`(damage: [UInt8]) async throws {
    for version in 1...3 as ClosedRange<Int64> {
      let store = try await store(3, damaging: Keys.version("firebase", version), to: damage)
      let engine = RemoteConfigEngine(projectID: "p") { store }
      #expect(try await value(engine) == "3")
      let page = try await engine.listVersions(ListVersionsRequest(), context: .owner)
      #expect(page.versions.map(\.versionNumber) == [3, 2, 1])
      #expect(page.versions.first { $0.versionNumber == version }?.updateTime == nil)
      let template = try await engine.template(namespace: "firebase", version: version, context: .owner)
      #expect(template.template.parameters["key"]?.defaultValue == .value("\(version)"))
      #expect(try await publish(engine, "4").template.version?.versionNumber == 4)
      #expect(
        try await engine.rollback(namespace: "firebase", to: version, user: nil, context: .owner).etag == "etag-p-5")
      #expect(try await value(engine) == "\(version)")
    }
  }

  @Test(arguments: damages)
  func `a damaged template is an error that says how to continue, and the way works`(damage: [UInt8]) async throws {
    let store = try await store(3, damaging: Keys.template("firebase", 3), to: damage)
    let engine = RemoteConfigEngine(projectID: "p") { store }
    let error = await #expect(throws: RemoteConfigServiceError.self) { try await value(engine) }
    #expect(error?.code == .dataLoss)
    #expect(error?.message.contains("(\"template\", \"firebase\", 3)") == true)
    #expect(error?.message.contains("Roll back to another version, or publish the template again.") == true)
    let rolledBack = try await engine.rollback(namespace: "firebase", to: 2, user: nil, context: .owner)
    #expect(rolledBack.template.version?.versionNumber == 4)
    #expect(try await value(engine) == "2")
    #expect(try await publish(engine, "5").template.version?.versionNumber == 5)
    #expect(try await value(engine) == "5")
    let gone = await #expect(throws: RemoteConfigServiceError.self) {
      try await engine.rollback(namespace: "firebase", to: 3, user: nil, context: .owner)
    }
    #expect(gone?.code == .dataLoss)
  }

  @Test func `damage in one namespace is none in another`() async throws {
    let store = ModelStore()
    let engine = RemoteConfigEngine(projectID: "p") { store }
    let template = ConfigTemplate(parameters: ["key": "a"].mapValues { ConfigParameter(defaultValue: .value($0)) })
    for namespace in ["firebase", "other"] {
      let request = PublishRequest(namespace: namespace, template: template, precondition: .any)
      _ = try await engine.publish(request, context: .owner)
    }
    _ = try await store.write { transaction in
      for key in [Keys.current("other"), Keys.template("other", 1), Keys.version("other", 1)] {
        try await transaction.put([0xFF], for: key)
      }
    }
    #expect(try await value(RemoteConfigEngine(projectID: "p") { store }) == "a")
  }
}

/// Two engines on one store.
@Suite struct TwoEngineStressTests {
  @Test func `of publishes over the same version one is accepted, whichever engine they reach`() async throws {
    let store = ModelStore()
    let engines = [RemoteConfigEngine(projectID: "p") { store }, RemoteConfigEngine(projectID: "p") { store }]
    let accepted = await withTaskGroup(of: [String].self) { group in
      for task in 0..<8 {
        group.addTask {
          var accepted: [String] = []
          for round in 0..<20 {
            let engine = engines[(task + round) % 2]
            let name = "\(task)-\(round)"
            let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value(name))])
            let current = try? await engine.template(namespace: "firebase", version: nil, context: .owner).etag
            let request = PublishRequest(template: template, precondition: .etag(current ?? "etag-p-0"))
            if (try? await engine.publish(request, context: .owner)) != nil { accepted.append(name) }
          }
          return accepted
        }
      }
      return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
    }
    let versions = try await engines[0].listVersions(ListVersionsRequest(pageSize: 300), context: .owner).versions
    #expect(versions.count == accepted.count)
    #expect(versions.map(\.versionNumber) == (1...Int64(accepted.count)).reversed().map { $0 })
    var found: Set<String> = []
    for version in versions.compactMap(\.versionNumber) {
      let template = try await engines[1].template(namespace: "firebase", version: version, context: .owner).template
      if case .value(let text)? = template.parameters["key"]?.defaultValue { found.insert(text) }
    }
    #expect(found == accepted)
    for engine in engines {
      let request = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance())
      #expect(try await engine.fetch(request, context: CallContext()).templateVersion == Int64(accepted.count))
    }
  }
}
