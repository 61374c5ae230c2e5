import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendContracts
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaRemoteConfigService

/// An engine on a store that is handed in, so that a second engine can continue with it.
func makeEngine(
  _ store: any OrderedStore = ModelStore(), clock: ManualClock = ManualClock(), maximumVersions: Int = 5
) -> RemoteConfigEngine {
  let service = ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) })
  let options = RemoteConfigServiceOptions(maximumVersions: maximumVersions, clock: service)
  return RemoteConfigEngine(projectID: "p", options: options) { store }
}

@Suite struct EngineTests {
  @Test(arguments: RemoteConfigContracts.all)
  func `the engine keeps its contract`(contract: Contract<RemoteConfigSubject>) async throws {
    let engine = RemoteConfigEngine(projectID: "p") { ModelStore() }
    try await contract.verify(RemoteConfigSubject(engine, patience: .seconds(120)))
    try await engine.close()
  }

  @Test(arguments: RemoteConfigContracts.all)
  func `the engine keeps its contract with small figures`(contract: Contract<RemoteConfigSubject>) async throws {
    var options = RemoteConfigServiceOptions()
    let (slice, kept) = (Int.random(in: 1...20), Int.random(in: 1...3))
    (options.tuning.unitsOfASlice, options.tuning.keptOutcomes) = (slice, kept)
    let engine = RemoteConfigEngine(projectID: "p", options: options) { ModelStore() }
    do {
      try await contract.verify(RemoteConfigSubject(engine, patience: .seconds(120)))
    } catch {
      Issue.record("slices of \(slice), \(kept) outcomes: \(error)")
    }
    try await engine.close()
  }

  private func publish(_ engine: RemoteConfigEngine, _ value: String) async throws -> StoredTemplate {
    let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value(value))])
    return try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
  }

  private func fetch(_ engine: RemoteConfigEngine, _ instance: ConfigInstance = ConfigInstance()) async throws
    -> FetchConfigResponse
  {
    try await engine.fetch(FetchConfigRequest(namespace: "firebase", instance: instance), context: CallContext())
  }

  @Test(arguments: [(5, 5), (2, 2), (1, 1), (0, 1), (-1, 1)] as [(Int, Int64)])
  func `versions beyond the limit are removed, and numbers continue`(limit: Int, count: Int64) async throws {
    let engine = makeEngine(maximumVersions: limit)
    for number in 1...8 { _ = try await publish(engine, "\(number)") }
    let page = try await engine.listVersions(ListVersionsRequest(), context: .owner)
    #expect(page.versions.compactMap(\.versionNumber) == (0..<count).map { 8 - $0 })
    let error = await #expect(throws: RemoteConfigServiceError.self) {
      try await engine.template(namespace: "firebase", version: 8 - count, context: .owner)
    }
    #expect(error?.code == .notFound)
  }

  @Test func `the time of a version is not before that of the last one, whatever the clock says`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock: clock)
    let first = try await publish(engine, "a").template.version?.updateTime ?? 0
    clock.jump(to: clock.now - 3_600_000_000)
    let second = try await publish(engine, "b").template.version?.updateTime ?? 0
    #expect(second >= first)
  }

  @Test func `a second engine on the same store has the same values, and its clients are notified of publishes`()
    async throws
  {
    let store = ModelStore()
    let (one, two) = (makeEngine(store), makeEngine(store))
    let log = EventLog<Int64>(patience: .seconds(300))
    let registration = two.listenForInvalidations(
      InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), context: CallContext(), onEnd: { _ in }
    ) { log.record($0.latestVersion) }
    #expect(try await fetch(two).state == .noTemplate)
    _ = try await publish(one, "a")
    try await log.wait(for: "the other engine's publish") { $0 == [1] }
    #expect(try await fetch(two).entries == ["key": "a"])
    registration.cancel()
  }

  @Test func `closing ends the connections in order, and later calls are unavailable`() async throws {
    let engine = makeEngine()
    let ends = EventLog<String>(patience: .seconds(300))
    let request = InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0)
    _ = engine.listenForInvalidations(request, context: CallContext()) {
      ends.record("\($0?.code.name ?? "in order")")
    } _: {
      _ in
    }
    try await engine.close()
    try await ends.wait(for: "the end") { $0 == ["in order"] }
    _ = engine.listenForInvalidations(request, context: CallContext()) {
      ends.record("\($0?.code.name ?? "in order")")
    } _: {
      _ in
    }
    try await ends.wait(for: "the second end") { $0 == ["in order", "UNAVAILABLE"] }
    let error = await #expect(throws: RemoteConfigServiceError.self) { try await fetch(engine) }
    #expect(error?.code == .unavailable)
  }

  @Test func `a rollout reaches its share of instances, and they receive their assignment`() async throws {
    let engine = makeEngine()
    let parameter = ConfigParameter(
      defaultValue: "old", conditionalValues: ["all": .rollout(id: "r", value: "new", percent: 25)])
    let template = ConfigTemplate(
      conditions: [ConfigCondition(name: "all", expression: "true")], parameters: ["key": parameter])
    _ = try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
    var count = 0
    for number in 0..<400 {
      var instance = ConfigInstance()
      instance.installationID = "i\(number)"
      let response = try await fetch(engine, instance)
      let isPart = response.entries == ["key": "new"]
      #expect(response.rollouts.map(\.rolloutID) == (isPart ? ["r"] : []))
      if isPart { count += 1 }
    }
    #expect((60...140).contains(count))
  }

  @Test func `a damaged row is reported with its name`() async throws {
    let store = ModelStore()
    let engine = makeEngine(store)
    _ = try await publish(engine, "a")
    _ = try await store.write { try await $0.put([0xFF, 0xFF], for: Keys.template("firebase", 1)) }
    let error = await #expect(throws: RemoteConfigServiceError.self) { try await fetch(makeEngine(store)) }
    #expect(error?.code == .dataLoss)
    #expect(error?.message.contains("template") == true)
  }

  @Test func `hostile namespaces, page sizes and tokens are refused`() async throws {
    let engine = makeEngine()
    for namespace in ["", "a/b", "ü", String(repeating: "a", count: 101), "a\u{0}"] {
      let error = await #expect(throws: RemoteConfigServiceError.self) {
        try await engine.fetch(
          FetchConfigRequest(namespace: namespace, instance: ConfigInstance()), context: CallContext())
      }
      #expect(error?.code == .invalidArgument)
    }
    for request in [
      ListVersionsRequest(pageSize: 0), .init(pageSize: 301), .init(pageToken: "x"), .init(pageToken: "-1"),
    ] {
      let error = await #expect(throws: RemoteConfigServiceError.self) {
        try await engine.listVersions(request, context: .owner)
      }
      #expect(error?.code == .invalidArgument)
    }
    let last = try await engine.listVersions(ListVersionsRequest(endVersion: .max), context: .owner)
    #expect(last.versions.isEmpty)
  }

  @Test func `a deadline that has passed ends a fetch`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock: clock)
    let error = await #expect(throws: RemoteConfigServiceError.self) {
      try await engine.fetch(
        FetchConfigRequest(namespace: "firebase", instance: ConfigInstance()),
        context: CallContext(deadline: clock.now - 1))
    }
    #expect(error?.code == .deadlineExceeded)
  }

  @Test func `values for files are written in all formats`() async throws {
    let engine = makeEngine()
    _ = try await publish(engine, "<a> & \"b\"")
    let texts = try await [DefaultsFormat.json, .xml, .plist].asyncMap { format in
      String(
        decoding: try await engine.downloadDefaults(namespace: "firebase", format: format, context: .owner),
        as: UTF8.self)
    }
    #expect(texts[0] == #"{"key":"<a> & \"b\""}"#)
    #expect(texts[1].contains("<value>&lt;a&gt; &amp; \"b\"</value>"))
    #expect(texts[2].contains("<key>key</key>\n  <string>&lt;a&gt; &amp; \"b\"</string>"))
  }

  @Test func `the values of a template equal a plain evaluation's, for random templates and instances`()
    async throws
  {
    var random = SplitMix(seed: 500)
    for _ in 0..<40 {
      let engine = makeEngine()
      let template = RandomTemplate.make(&random)
      _ = try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
      for _ in 0..<20 {
        let instance = RandomTemplate.instance(&random)
        #expect(try await fetch(engine, instance).entries == RandomTemplate.values(template, instance))
      }
    }
  }
}

extension Array {
  fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}

/// Random templates, and the slow and obvious evaluation of them.
private enum RandomTemplate {
  private static let expressions = [
    "device.os == 'ios'", "device.country in ['DE']", "app.userProperty['n'] > 5", "percent('x') <= 50", "true",
    "false",
  ]

  static func make(_ random: inout SplitMix) -> ConfigTemplate {
    let names = (0..<random.below(90)).map { "c\($0)" }
    var template = ConfigTemplate()
    template.conditions = names.map {
      ConfigCondition(name: $0, expression: expressions[random.below(expressions.count)])
    }
    for index in 0..<random.below(20) {
      var parameter = ConfigParameter(defaultValue: random.oneIn(3) ? nil : .value("d\(index)"))
      for name in names where random.oneIn(8) {
        parameter.conditionalValues[name] = random.oneIn(5) ? .inAppDefault : .value("\(name) \(index)")
      }
      if random.oneIn(3) {
        template.parameterGroups["g", default: ConfigParameterGroup()].parameters["p\(index)"] = parameter
      } else {
        template.parameters["p\(index)"] = parameter
      }
    }
    return template
  }

  static func instance(_ random: inout SplitMix) -> ConfigInstance {
    var instance = ConfigInstance()
    instance.installationID = "i\(random.below(1000))"
    instance.platform = random.oneIn(2) ? "ios" : "web"
    instance.countryCode = random.oneIn(2) ? "DE" : nil
    instance.userProperties = ["n": "\(random.below(10))"]
    return instance
  }

  static func values(_ template: ConfigTemplate, _ instance: ConfigInstance) -> [String: String] {
    var values: [String: String] = [:]
    for (key, parameter) in template.allParameters {
      let decisive = template.conditions.first { condition in
        parameter.conditionalValues[condition.name] != nil && holds(condition.expression, instance)
      }
      let value = decisive.flatMap { parameter.conditionalValues[$0.name] } ?? parameter.defaultValue
      if case .value(let text)? = value { values[key] = text }
    }
    return values
  }

  private static func holds(_ expression: String, _ instance: ConfigInstance) -> Bool {
    switch expression {
    case "device.os == 'ios'": instance.platform == "ios"
    case "device.country in ['DE']": instance.countryCode == "DE"
    case "app.userProperty['n'] > 5": (Int(instance.userProperties["n"] ?? "") ?? 0) > 5
    case "percent('x') <= 50": Percentile.micro(seed: "x", id: instance.installationID ?? "") <= 50_000_000
    default: expression == "true"
    }
  }
}
