import Testing
import VestaPatterns
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfigService

/// Limits at their ends, and the order of what is listed.
@Suite struct SmallPromiseTests {
  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  private func paths(_ change: (inout ConfigTemplate) -> Void) -> [String] {
    var template = ConfigTemplate()
    change(&template)
    return TemplateCheck.violations(in: template).map(\.path)
  }

  private func condition(_ name: String, description: String? = nil, color: String? = nil) -> ConfigCondition {
    var condition = ConfigCondition(name: name, expression: "true")
    (condition.description, condition.tagColor) = (description, color)
    return condition
  }

  // MARK: Templates

  @Test func `a template may have as much as it is allowed to, and not one more`() {
    for (extra, isAllowed) in [(0, true), (1, false)] {
      let parameters = Dictionary(uniqueKeysWithValues: (0..<3000 + extra).map { ("p\($0)", ConfigParameter()) })
      #expect(paths { $0.parameters = parameters } == (isAllowed ? [] : ["parameters"]))
      let conditions = (0..<2000 + extra).map { condition("c\($0)") }
      #expect(paths { $0.conditions = conditions } == (isAllowed ? [] : ["conditions"]))
      let groups = Dictionary(uniqueKeysWithValues: (0..<500 + extra).map { ("g\($0)", ConfigParameterGroup()) })
      #expect(paths { $0.parameterGroups = groups } == (isAllowed ? [] : ["parameterGroups"]))
      let value = ConfigParameter(defaultValue: .value(text(999_999 + extra)))
      #expect(
        paths { $0.parameters = ["a": value, "b": ConfigParameter(defaultValue: "x")] }
          == (isAllowed ? [] : ["parameters"]))
    }
  }

  @Test func `parameters in groups count too, and two of one key are refused`() {
    var group = ConfigParameterGroup()
    group.parameters = ["a": ConfigParameter(defaultValue: .value(text(1_000_000))), "1": ConfigParameter()]
    let found = paths { template in
      template.parameters = ["a": ConfigParameter(defaultValue: "x")]
      template.parameterGroups = ["g": group]
    }
    #expect(found == ["parameterGroups.g.parameters.1", "parameterGroups.g.parameters.a", "parameters"])
  }

  @Test func `names and descriptions have their lengths`() {
    for (extra, isAllowed) in [(0, true), (1, false)] {
      func expected(_ path: String) -> [String] { isAllowed ? [] : [path] }
      #expect(paths { $0.conditions = [condition(text(100 + extra))] } == expected("conditions[0].name"))
      let described = condition("c", description: text(256 + extra))
      #expect(paths { $0.conditions = [described] } == expected("conditions[0].description"))
      let key = text(256 + extra)
      #expect(paths { $0.parameters = [key: ConfigParameter()] } == expected("parameters.\(key)"))
      #expect(paths { $0.parameterGroups = [key: ConfigParameterGroup()] } == expected("parameterGroups.\(key)"))
      var parameter = ConfigParameter()
      parameter.description = text(256 + extra)
      #expect(paths { $0.parameters = ["a": parameter] } == expected("parameters.a.description"))
      var group = ConfigParameterGroup()
      group.description = text(256 + extra)
      #expect(paths { $0.parameterGroups = ["g": group] } == expected("parameterGroups.g.description"))
      let version = ConfigVersion(description: text(1000 + extra))
      #expect(paths { $0.version = version } == expected("version.description"))
      let user = ConfigVersion.User(email: text(1000 + extra), name: text(1000 + extra), imageURL: text(1000 + extra))
      let fields = ["email", "name", "imageUrl"].flatMap { expected("version.updateUser.\($0)") }
      #expect(TemplateCheck.violations(in: user).map(\.path) == fields)
    }
    #expect(TemplateCheck.violations(in: nil as ConfigVersion.User?).isEmpty)
    #expect(paths { $0.conditions = [condition("")] } == ["conditions[0].name"])
    #expect(paths { $0.parameterGroups = ["": ConfigParameterGroup()] } == ["parameterGroups."])
  }

  @Test func `conditions have distinct names and known colors`() {
    #expect(paths { $0.conditions = [condition("a"), condition("b"), condition("a")] } == ["conditions[2].name"])
    #expect(paths { $0.conditions = [condition("a", color: "BLUE")] } == [])
    #expect(paths { $0.conditions = [condition("a", color: "blue")] } == ["conditions[0].tagColor"])
    let wrong = ConfigCondition(name: "a", expression: "true && ?")
    let violation = TemplateCheck.violations(in: ConfigTemplate(conditions: [wrong])).first
    #expect(violation?.path == "conditions[0].expression" && violation?.column == 9)
  }

  @Test func `structured conditions are for servers, and hold for no client`() throws {
    let json = #"{"conditions":[{"name":"a","condition":{"or":{"x":[1,true]}},"tagColor":"BLUE"}]}"#
    let template = try ConfigTemplate(json: Array(json.utf8))
    #expect(String(decoding: template.json, as: UTF8.self) == json)
    #expect(TemplateCheck.violations(in: template, namespace: "firebase-server").isEmpty)
    #expect(TemplateCheck.violations(in: template).map(\.path) == ["conditions[0].condition"])
    guard case .constant(false) = try TemplateCheck.conditions(of: template).first?.tests.first else {
      Issue.record("the condition may hold")
      return
    }
    for other in [
      #"{"name":"a","condition":{},"expression":"true"}"#, #"{"name":"a","condition":1}"#, #"{"name":"a"}"#,
    ] {
      #expect(throws: RemoteConfigServiceError.self) {
        _ = try ConfigTemplate(json: Array(#"{"conditions":[\#(other)]}"#.utf8))
      }
    }
  }

  @Test func `keys, types, conditions and rollouts of parameters are checked`() {
    for (key, isAllowed) in [("a", true), ("_1", true), ("", false), ("1a", false), ("a-b", false), ("é", false)] {
      #expect(paths { $0.parameters = [key: ConfigParameter()] } == (isAllowed ? [] : ["parameters.\(key)"]), "\(key)")
    }
    let values: [(ConfigValueType, String, Bool)] = [
      (.boolean, "true", true), (.boolean, "false", true), (.boolean, "TRUE", false), (.boolean, "1", false),
      (.number, "-1.5e3", true), (.number, "nan", false), (.number, "inf", false), (.number, "1,5", false),
      (.json, "{\"a\":[1]}", true), (.json, "{a}", false), (.json, "", false), (.string, "", true),
    ]
    for (type, value, isAllowed) in values {
      let parameter = ConfigParameter(defaultValue: .value(value), valueType: type)
      let expected = isAllowed ? [] : ["parameters.a.defaultValue"]
      #expect(paths { $0.parameters = ["a": parameter] } == expected, "\(type) \(value)")
    }
    let strange = ConfigParameter(conditionalValues: ["none": "x"])
    #expect(paths { $0.parameters = ["a": strange] } == ["parameters.a.conditionalValues"])
    for (id, percent, isAllowed) in [
      ("r", 0.0, true), ("r", 100, true), ("", 50, false), ("r", -1, false), ("r", 100.1, false),
    ] {
      let parameter = ConfigParameter(defaultValue: .rollout(id: id, value: "x", percent: percent))
      let expected = isAllowed ? [] : ["parameters.a.defaultValue"]
      #expect(paths { $0.parameters = ["a": parameter] } == expected, "\(id) \(percent)")
    }
  }

  @Test func `a stored template whose conditions can no longer be read says which of them`() {
    let conditions = [condition("a"), ConfigCondition(name: "b", expression: "true && ?"), condition("c")]
    let error = #expect(throws: RemoteConfigServiceError.self) {
      try FetchPlan(ConfigTemplate(conditions: conditions), version: 1)
    }
    #expect(error?.violations.map(\.path) == ["conditions[1].expression"])
    #expect(error?.violations.first?.column == 9)
  }

  @Test func `every call of the owner refuses a namespace that is none`() async throws {
    let engine = makeEngine()
    let calls: [(String) async throws -> Void] = [
      { _ = try await engine.template(namespace: $0, version: nil, context: .owner) },
      { namespace in
        let request = PublishRequest(namespace: namespace, template: ConfigTemplate(), precondition: .any)
        _ = try await engine.publish(request, context: .owner)
      },
      { _ = try await engine.rollback(namespace: $0, to: 1, user: nil, context: .owner) },
      { _ = try await engine.listVersions(ListVersionsRequest(namespace: $0), context: .owner) },
      { _ = try await engine.difference(namespace: $0, from: 1, to: nil, context: .owner) },
      { _ = try await engine.downloadDefaults(namespace: $0, format: .json, context: .owner) },
    ]
    for (index, call) in calls.enumerated() {
      for namespace in ["", "a/b", String(repeating: "a", count: 101)] {
        let error = await #expect(throws: RemoteConfigServiceError.self) { try await call(namespace) }
        #expect(error?.code == .invalidArgument, "call \(index)")
      }
    }
  }

  // MARK: Conditions

  @Test(
    arguments: [
      ("2026-01-01T00:00", 0), ("2026-01-01T09:59:59", 35_999_000_000), ("2026-01-01T00:00:00.9", 900_000),
      ("2026-01-01T00:00:00.0123456789", 12_345), ("2026-01-01T00:00:00.999999Z", 999_999), ("2026-01-01T00:00.5", nil),
      ("2026-01-01T00:00:00.", nil), ("2026-01-01T00:00:00:00", nil), ("2026-01-01T23:59:60", nil),
      ("2026-01-01T24:00", nil), ("2026-01-00T00:00", nil), ("2026-00-01T00:00", nil),
    ] as [(String, Int64?)])
  func `a time has seconds and a fraction, or not`(text: String, micros: Int64?) {
    let expected = micros.map { ConditionTime.Outcome.time(1_767_225_600_000_000 + $0) } ?? .notATime
    #expect(ConditionTime.parse(text, zone: nil) == expected)
  }

  @Test func `years have one to four digits, and the last one is 9999`() {
    #expect(ConditionTime.parse("9999-12-31T23:59:59", zone: "UTC") == .time(253_402_300_799_000_000))
    for year in ["0", "0000", "10000"] {
      #expect(ConditionTime.parse("\(year)-01-01T00:00:00", zone: nil) == .notATime, "\(year)")
    }
  }

  @Test func `a pattern may have a number of instructions and characters, and not one more`() throws {
    let tuning = ConditionPatternTuning()
    let instructions = String(repeating: "x{100}", count: 49)
    _ = try tuning.pattern(instructions + text(100))
    #expect(throws: PatternError.self) { try tuning.pattern(instructions + text(101)) }
    _ = try tuning.pattern(text(1_000))
    #expect(throws: PatternError.self) { try tuning.pattern(text(1_001)) }
    func groups(_ depth: Int) -> String { String(repeating: "(", count: depth) + String(repeating: ")", count: depth) }
    _ = try tuning.pattern(groups(50))
    #expect(throws: PatternError.self) { try tuning.pattern(groups(51)) }
  }

  // MARK: Instances

  @Test func `an instance may tell as much as it is allowed to, and not more`() throws {
    for (extra, isAllowed) in [(0, true), (1, false)] {
      func values(_ count: Int) -> [String: String] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0)", "") })
      }
      let changes: [(inout ConfigInstance) -> Void] = [
        { $0.customSignals = values(100 + extra) }, { $0.userProperties = values(200 + extra) },
        { $0.audiences = Set(values(2000 + extra).keys) }, { $0.audiences = [text(250 + extra)] },
        { $0.customSignals = [text(250 + extra): ""] }, { $0.userProperties = ["a": text(500 + extra)] },
        { $0.installationID = text(500 + extra) }, { $0.appID = text(500 + extra) },
        { $0.platform = text(500 + extra) }, { $0.appVersion = text(500 + extra) },
        { $0.appBuild = text(500 + extra) }, { $0.countryCode = text(500 + extra) },
        { $0.languageCode = text(500 + extra) }, { $0.timeZone = text(500 + extra) },
        { $0.operatingSystem = .init(name: text(500 + extra), version: "") },
        { $0.operatingSystem = .init(name: "", version: text(500 + extra)) },
        { $0.browser = .init(name: text(500 + extra), version: "") },
        { $0.browser = .init(name: "", version: text(500 + extra)) },
      ]
      for (index, change) in changes.enumerated() {
        var instance = ConfigInstance()
        change(&instance)
        if isAllowed {
          try InstanceCheck.check(instance)
        } else {
          let error = #expect(throws: RemoteConfigServiceError.self, "\(index)") { try InstanceCheck.check(instance) }
          #expect(error?.code == .invalidArgument)
        }
      }
    }
    // Characters are counted in UTF-16: 500 of four bytes each in UTF-8 are 1000.
    var instance = ConfigInstance()
    instance.platform = String(repeating: "é", count: 500)
    try InstanceCheck.check(instance)
    instance.platform = String(repeating: "😊", count: 251)
    #expect(throws: RemoteConfigServiceError.self) { try InstanceCheck.check(instance) }
  }

  // MARK: Plans

  @Test func `a rollout has those whose percentile is below its percentage`() async throws {
    var instance = ConfigInstance()
    instance.installationID = "one"
    // The percentile of the installation "one" for the seed "seed", by another implementation.
    let percentile = 86.913387
    let outcomes = [(0.0, false), (percentile, false), (percentile + 0.000001, true), (100, true)]
    for (percent, isPart) in outcomes {
      let parameter = ConfigParameter(defaultValue: .rollout(id: "seed", value: "new", percent: percent))
      let plan = try FetchPlan(ConfigTemplate(parameters: ["a": parameter]), version: 1)
      let outcome = try await plan.outcome(for: ConditionEvaluator(instance: instance, now: 0))
      #expect(outcome.entries == (isPart ? ["a": "new"] : [:]), "\(percent)")
      #expect(outcome.rollouts.map(\.affectedParameterKeys) == (isPart ? [["a"]] : []))
      #expect(try await plan.outcome(for: ConditionEvaluator(instance: ConfigInstance(), now: 0)).entries.isEmpty)
    }
  }

  @Test func `more combinations of conditions than are kept all have their own values and digests`() async throws {
    let conditions = (0..<9).map {
      ConfigCondition(name: "c\($0)", expression: "app.userProperty['b\($0)'].exactlyMatches(['1'])")
    }
    let parameters = (0..<9).map { ("p\($0)", ConfigParameter(defaultValue: "0", conditionalValues: ["c\($0)": "1"])) }
    let template = ConfigTemplate(conditions: conditions, parameters: Dictionary(uniqueKeysWithValues: parameters))
    let plan = try FetchPlan(template, version: 1)
    var digests: Set<String> = []
    for round in 0..<2 {
      for bits in 0..<512 {
        var instance = ConfigInstance()
        for bit in 0..<9 { instance.userProperties["b\(bit)"] = "\(bits >> bit & 1)" }
        let outcome = try await plan.outcome(for: ConditionEvaluator(instance: instance, now: 0))
        let expected = Dictionary(uniqueKeysWithValues: (0..<9).map { ("p\($0)", "\(bits >> $0 & 1)") })
        #expect(outcome.entries == expected, "\(bits)")
        #expect(digests.insert(outcome.digest).inserted == (round == 0), "\(bits)")
      }
    }
  }

  // MARK: Lists and files

  @Test func `versions are listed between two times, up to a version, and page by page`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock: clock)
    let start = clock.now
    for _ in 1...5 {
      _ = try await engine.publish(PublishRequest(template: ConfigTemplate(), precondition: .any), context: .owner)
      clock.advance(by: .seconds(1))
    }
    /// The numbers of the page of a request, and of the pages after it.
    func numbers(_ request: ListVersionsRequest) async throws -> [[Int64?]] {
      let page = try await engine.listVersions(request, context: .owner)
      var next = request
      next.pageToken = page.nextPageToken
      return [page.versions.map(\.versionNumber)] + (page.nextPageToken == nil ? [] : try await numbers(next))
    }
    let (first, second) = (start + 1_000_000, start + 3_000_000)
    #expect(try await numbers(ListVersionsRequest()) == [[5, 4, 3, 2, 1]])
    #expect(try await numbers(ListVersionsRequest(pageSize: 5)) == [[5, 4, 3, 2, 1]])
    #expect(try await numbers(ListVersionsRequest(pageSize: 2)) == [[5, 4], [3, 2], [1]])
    #expect(try await numbers(ListVersionsRequest(pageSize: 2, endVersion: 2)) == [[2, 1]])
    #expect(try await numbers(ListVersionsRequest(pageSize: 1, startTime: first, endTime: second)) == [[3], [2]])
    #expect(try await numbers(ListVersionsRequest(pageSize: 2, startTime: first)) == [[5, 4], [3, 2]])
    let page = try await engine.listVersions(ListVersionsRequest(pageSize: 2, endVersion: 4), context: .owner)
    let ofOther = ListVersionsRequest(pageSize: 2, pageToken: page.nextPageToken)
    for request in [ListVersionsRequest(pageSize: 0), .init(pageSize: 301), .init(pageToken: "3"), ofOther] {
      await #expect(throws: RemoteConfigServiceError.self) { try await engine.listVersions(request, context: .owner) }
    }
  }

  @Test func `files with default values leave out what XML cannot say, and values that the app has itself`()
    async throws
  {
    let engine = makeEngine()
    let template = ConfigTemplate(parameters: [
      "b": ConfigParameter(defaultValue: "\u{0}\u{1F}\t\n\u{20}\u{FFFE}\u{FFFD}é"),
      "a": ConfigParameter(defaultValue: "<>&"), "own": ConfigParameter(defaultValue: .inAppDefault),
      "none": ConfigParameter(),
    ])
    _ = try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
    func file(_ format: DefaultsFormat) async throws -> String {
      let bytes = try await engine.downloadDefaults(namespace: "firebase", format: format, context: .owner)
      return String(decoding: bytes, as: UTF8.self)
    }
    let values = ["&lt;&gt;&amp;", "\t\n \u{FFFD}é"]
    let entries = zip(["a", "b"], values).map {
      "  <entry>\n    <key>\($0)</key>\n    <value>\($1)</value>\n  </entry>\n"
    }
    let xml = try await file(.xml)
    #expect(xml == "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<defaultsMap>\n\(entries.joined())</defaultsMap>\n")
    let list = zip(["a", "b"], values).map { "  <key>\($0)</key>\n  <string>\($1)</string>\n" }.joined()
    let plist = try await file(.plist)
    #expect(plist.hasSuffix("<plist version=\"1.0\">\n<dict>\n\(list)</dict>\n</plist>\n"))
    let json = try await file(.json)
    #expect(json.hasPrefix("{\"a\":\"<>&\",\"b\":\"") && !json.contains("own"))
  }
}
