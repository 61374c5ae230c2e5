import Testing
import VestaRemoteConfigBackend

@testable import VestaRemoteConfigService

/// The memory of a service for its clients does not grow with them.
@Suite struct GrowthTests {
  @Test func `a plan keeps the values of a bounded number of combinations, and answers right for all`() async throws {
    let conditions = (0..<11).map { ConfigCondition(name: "c\($0)", expression: "app.userProperty['p\($0)'] >= 1") }
    let parameters = (0..<11).map { number in
      let value = ConfigParameterValue.value("on")
      return (
        "k\(number)", ConfigParameter(defaultValue: .value("off"), conditionalValues: ["c\(number)": value])
      )
    }
    let template = ConfigTemplate(
      conditions: conditions, parameters: Dictionary(parameters) { first, _ in first })
    let plan = try FetchPlan(template, version: 1)
    var most = 0
    for combination in 0..<2_048 {
      var instance = ConfigInstance()
      for bit in 0..<11 { instance.userProperties["p\(bit)"] = combination >> bit & 1 == 1 ? "1" : "0" }
      let outcome = try await plan.outcome(for: ConditionEvaluator(instance: instance, now: 0))
      let isRight = (0..<11).allSatisfy { outcome.entries["k\($0)"] == (combination >> $0 & 1 == 1 ? "on" : "off") }
      #expect(isRight, "combination \(combination)")
      most = max(most, plan.keptOutcomes)
    }
    #expect(most > 1 && most <= 256)
  }
}
