import Foundation
import Testing
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfigService

@Suite struct HostileTemplateTests {
  private func publish(_ engine: RemoteConfigEngine, _ template: ConfigTemplate, _ context: CallContext = .owner)
    async throws -> StoredTemplate
  {
    try await engine.publish(PublishRequest(template: template, precondition: .any), context: context)
  }

  @Test func `a template that is published can be read again, whatever its size and characters`() async throws {
    let marks = String(repeating: "\u{301}", count: 9_000_000)
    var many = ConfigTemplate()
    let expression = "true" + String(repeating: " ", count: 9_900)
    many.conditions = (0..<2000).map { ConfigCondition(name: "c\($0)", expression: expression) }
    let templates = [
      ConfigTemplate(parameters: ["a": ConfigParameter(defaultValue: .value("e" + marks))]),
      ConfigTemplate(version: ConfigVersion(description: marks)), many,
    ]
    for (index, template) in templates.enumerated() {
      let engine = makeEngine()
      do {
        _ = try await publish(engine, template)
        _ = try await engine.template(namespace: "firebase", version: nil, context: .owner)
      } catch let error as RemoteConfigServiceError {
        #expect(error.code == .invalidArgument && !error.violations.isEmpty, "\(index): \(error.code)")
      }
    }
  }

  @Test func `who is not the owner learns nothing about a template, not even its mistakes`() async throws {
    let template = ConfigTemplate(conditions: [ConfigCondition(name: "", expression: "?")])
    let error = await #expect(throws: RemoteConfigServiceError.self) {
      try await publish(makeEngine(), template, CallContext())
    }
    #expect(error?.code == .permissionDenied)
  }

  @Test func `an instance with oversized attributes is refused`() async throws {
    let engine = makeEngine()
    let condition = ConfigCondition(name: "c", expression: "app.userProperty['a'].matches(['(a|b|ab){1,100}c'])")
    _ = try await publish(engine, ConfigTemplate(conditions: [condition]))
    var instances = [ConfigInstance](repeating: ConfigInstance(), count: 4)
    instances[0].userProperties = ["a": String(repeating: "ab", count: 1_000_000)]
    instances[1].customSignals = Dictionary(uniqueKeysWithValues: (0...1000).map { ("\($0)", "x") })
    instances[2].languageCode = String(repeating: "a-", count: 1_000_000)
    instances[3].audiences = Set((0...10_000).map { "\($0)" })
    for (index, instance) in instances.enumerated() {
      let error = await #expect(throws: RemoteConfigServiceError.self) {
        try await engine.fetch(FetchConfigRequest(namespace: "firebase", instance: instance), context: CallContext())
      }
      #expect(error?.code == .invalidArgument, "\(index)")
    }
  }

  @Test func `a user property that is not a number is neither equal nor unequal to one`() throws {
    var instance = ConfigInstance()
    for text in ["nan", "NAN", "inf", "0x10", "infinity", "1_0", ""] {
      instance.userProperties = ["n": text]
      for comparison in NumberComparison.allCases {
        let expression = try ConditionParser.parse("app.userProperty['n'] \(comparison.rawValue) 1")
        #expect(!ConditionEvaluator(instance: instance, now: 0).holds(expression), "\(text) \(comparison.rawValue)")
      }
    }
  }

  @Test(arguments: [
    "dateTime < dateTime('2026-01-01T00:00:00.x')", "dateTime < dateTime('2026-01-01T00:00:00.')",
    "dateTime < dateTime('2026-01-01T00:00:00.1.2')", "dateTime < dateTime('2026-01-01T00:00:00Z', 'Europe/Berlin')",
    "dateTime < dateTime('2026-13-01T00:00:00')", "dateTime < dateTime('2025-02-29T00:00:00')",
    "dateTime < dateTime('99999999999999999999-01-01T00:00:00')", "dateTime < dateTime('2026-01-01T24:00:00')",
    "dateTime < dateTime('2026-01-01T00:00:00', '')", "dateTime < dateTime('2026-01-01T00:00:00', '../../etc/passwd')",
    "dateTime < dateTime('2026-01-01T00:00:00', 'Europe/Berlin\u{0}')",
    "dateTime < dateTime('２０２６-01-01T00:00:00')", "dateTime < dateTime('2026-01-01')",
  ])
  func `a time that is none, or that is said twice, is refused`(expression: String) {
    #expect(throws: ConditionSyntaxError.self) { try ConditionParser.parse(expression) }
  }
}
