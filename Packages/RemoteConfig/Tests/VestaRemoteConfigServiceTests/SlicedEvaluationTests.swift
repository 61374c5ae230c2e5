import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaRemoteConfigService

/// The work of conditions: bounded when they are published, done in slices, and ended by a deadline.
@Suite struct SlicedEvaluationTests {
  @Test func `a condition that is evaluated in slices of any size holds as at once`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var oracle = ConditionOracle(seed: seed)
    var random = SplitMix(seed: seed)
    let patterns = ["a", "b+", "^a*b", "(a|b){1,3}c$", "[^c]+", ".{2,5}", "$", "^$", "(b|)c", "^(a|b)*$"]
    for round in 0..<600 {
      var (text, _) = oracle.expression()
      if random.oneIn(2) {
        let list = (0...random.below(3)).map { _ in "'\(random.pick(patterns))'" }.joined(separator: ", ")
        text += " && app.userProperty['p'].matches([\(list)])"
      }
      let expression = try ConditionParser.parse(text)
      var instance = oracle.instance()
      instance.userProperties["p"] = String((0..<random.below(12)).map { _ in random.pick(["a", "b", "c"]) }.joined())
      let evaluator = ConditionEvaluator(instance: instance, now: oracle.time())
      var (run, holds, slices) = (ConditionRun(expression), Bool?.none, 0)
      let size = 1 + random.below(20)
      while holds == nil {
        var units = size
        holds = run.advance(evaluator, &units)
        slices += 1
        if slices > 10_000 { break }
      }
      #expect(holds == evaluator.holds(expression), "seed \(seed), round \(round), slice \(size): \(text)")
    }
  }

  private func template(_ count: Int, _ pattern: String, patterns: Int = 1) -> ConfigTemplate {
    let list = (0..<patterns).map { "'\(pattern)\($0)'" }.joined(separator: ", ")
    return ConfigTemplate(
      conditions: (0..<count).map { number in
        ConfigCondition(name: "c\(number)", expression: "app.userProperty['p'].matches([\(list)])")
      }, parameters: ["a": ConfigParameter(defaultValue: "x")])
  }

  private func makeEngine(_ store: ModelStore, _ tuning: RemoteConfigServiceTuning) -> RemoteConfigEngine {
    var options = RemoteConfigServiceOptions()
    options.tuning = tuning
    return RemoteConfigEngine(projectID: "p", options: options) { store }
  }

  @Test
  func `a template whose conditions are too much work is refused at the one that is too much, and parsed no further`()
    async throws
  {
    let dear = "([a-z0-9._%+-]{1,64}@){1,5}"
    let engine = makeEngine(ModelStore(), RemoteConfigServiceTuning())
    let request = PublishRequest(template: template(2_000, dear, patterns: 20), precondition: .any)
    let error = await #expect(throws: RemoteConfigServiceError.self) {
      try await engine.publish(request, context: .owner)
    }
    #expect(error?.violations.count == 1)
    #expect(error?.violations.first?.path.hasSuffix("].expression") == true)
    #expect(error?.violations.first?.message.contains("too much work") == true)
    _ = try await engine.publish(
      PublishRequest(template: template(200, "^[a-z]+x", patterns: 5), precondition: .any), context: .owner)
  }

  @Test func `a template that was accepted before is still evaluated, and a deadline ends its evaluation`() async throws
  {
    let (store, clock) = (ModelStore(), ManualClock())
    var tuning = RemoteConfigServiceTuning()
    tuning.maximumWork = .max
    _ = try await makeEngine(store, tuning).publish(
      PublishRequest(template: template(300, "(.{0,20}){0,5}c", patterns: 2), precondition: .any), context: .owner)
    var options = RemoteConfigServiceOptions(
      clock: ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) }))
    options.tuning.maximumWork = 1
    let engine = RemoteConfigEngine(projectID: "p", options: options) { store }
    var instance = ConfigInstance()
    instance.userProperties["p"] = String(repeating: "ab", count: 20)
    let request = FetchConfigRequest(namespace: "firebase", instance: instance)
    #expect(try await engine.fetch(request, context: CallContext()).entries == ["a": "x"])
    instance.userProperties["p"] = String(repeating: "ab", count: 250)
    let late = FetchConfigRequest(namespace: "firebase", instance: instance)
    let fetch = Task {
      try await engine.fetch(late, context: CallContext().limited(to: .seconds(1), by: options.clock))
    }
    // Others run while it is evaluated: this test, which moves the clock, is one of them.
    await clock.waitForTimers(1)
    clock.advance(by: .seconds(1))
    let error = await #expect(throws: RemoteConfigServiceError.self) { try await fetch.value }
    #expect(error?.code == .deadlineExceeded)
  }

  @Test(arguments: [1, 7, 1_000])
  func `slices of any size give the same values`(size: Int) async throws {
    var tuning = RemoteConfigServiceTuning()
    (tuning.unitsOfASlice, tuning.keptOutcomes) = (size, 1)
    let conditions = ["a", "b", "c"].map {
      ConfigCondition(name: $0, expression: "app.userProperty['p'].matches(['\($0)+$'])")
    }
    let template = ConfigTemplate(
      conditions: conditions,
      parameters: ["k": ConfigParameter(defaultValue: "none", conditionalValues: ["a": "a", "b": "b", "c": "c"])])
    let plan = try FetchPlan(template, version: 1, tuning: tuning)
    for text in ["xa", "ab", "abc", "d", ""] {
      var instance = ConfigInstance()
      instance.userProperties["p"] = text
      let outcome = try await plan.outcome(for: ConditionEvaluator(instance: instance, now: 0))
      let last = text.last.map(String.init) ?? "none"
      #expect(outcome.entries == ["k": ["a", "b", "c"].contains(last) ? last : "none"], "\(text)")
      #expect(plan.keptOutcomes == 1)
    }
  }

  @Test func `an anchored pattern is not looked for at each place`() throws {
    var instance = ConfigInstance()
    instance.userProperties["p"] = String(repeating: "b", count: 10_000)
    let evaluator = ConditionEvaluator(instance: instance, now: 0)
    for (source, isAnchored) in [("^a+", true), ("(^a|^c)", true), ("^a|c", false), ("a*^c", false)] {
      var run = ConditionRun(try ConditionParser.parse("app.userProperty['p'].matches(['\(source)'])"))
      var units = Int.max
      #expect(run.advance(evaluator, &units) == false)
      #expect((Int.max - units < 20) == isAnchored, "\(source)")
    }
  }

  @Test func `patterns that take long to read are too much work in numbers`() throws {
    let long = "'" + String(repeating: "\\\\pL", count: 5) + "'"
    func violations(_ count: Int) -> [TemplateViolation] {
      let condition = "app.userProperty['p'].matches([\(long)])"
      return TemplateCheck.violations(
        in: ConfigTemplate(conditions: (0..<count).map { ConfigCondition(name: "c\($0)", expression: condition) }))
    }
    #expect(violations(100).isEmpty)
    #expect(violations(1_500).contains { $0.message.contains("too much work") })
  }

  @Test func `a stored template whose patterns are larger than is allowed now is still evaluated`() async throws {
    let many = (0..<400).map { String(Unicode.Scalar(0x4E00 + 2 * $0) ?? "x") }.joined()
    let condition = "app.userProperty['p'].matches(['\(many)|^a$'])"
    let template = ConfigTemplate(
      conditions: [ConfigCondition(name: "c", expression: condition)],
      parameters: ["k": ConfigParameter(defaultValue: "none", conditionalValues: ["c": "held"])])
    #expect(TemplateCheck.violations(in: template).first?.message.contains("regular expression") == true)
    var instance = ConfigInstance()
    instance.userProperties["p"] = "a"
    let plan = try FetchPlan(template, version: 1)
    let outcome = try await plan.outcome(for: ConditionEvaluator(instance: instance, now: 0))
    #expect(outcome.entries == ["k": "held"])
  }
}

/// `device.dateTime` is the clock of the instance; `dateTime` is UTC.
@Suite struct LocalTimeTests {
  // 23 November 2026, 22:13 in UTC: 14:13 in Los Angeles, 07:13 of the next day in Tokyo.
  private static let now: Int64 = 1_795_471_980_000_000

  @Test(arguments: [
    ("device.dateTime < dateTime('2026-11-23T15:00:00')", "America/Los_Angeles", true),
    ("device.dateTime < dateTime('2026-11-23T15:00:00')", nil, false),
    ("device.dateTime > dateTime('2026-11-24T07:00:00')", "Asia/Tokyo", true),
    ("dateTime < dateTime('2026-11-23T15:00:00')", "America/Los_Angeles", false),
    ("device.dateTime < dateTime('2026-11-23T15:00:00Z')", "America/Los_Angeles", false),
    ("device.dateTime < dateTime('2026-11-23T15:00:00', 'America/Los_Angeles')", "Asia/Tokyo", true),
    ("device.dateTime < dateTime('2026-11-23T15:00:00')", "Mars/Olympus", false),
  ])
  func `a time without a zone is that of the instance for device.dateTime`(
    text: String, zone: String?, expected: Bool
  ) throws {
    var instance = ConfigInstance()
    instance.timeZone = zone
    let evaluator = ConditionEvaluator(instance: instance, now: Self.now)
    #expect(evaluator.holds(try ConditionParser.parse(text)) == expected)
  }
}
