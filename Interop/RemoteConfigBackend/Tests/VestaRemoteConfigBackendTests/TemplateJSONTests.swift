import Testing
import VestaBytes
import VestaRemoteConfigBackend

@Suite struct TemplateJSONTests {
  private let example = """
    {
      "conditions": [{"name": "ios", "expression": "device.os == 'ios'", "tagColor": "BLUE",
        "description": "iPhones"}],
      "parameters": {
        "welcome": {
          "defaultValue": {"value": "Hello"}, "description": "The greeting", "valueType": "STRING",
          "conditionalValues": {"ios": {"value": "Hi"}}
        },
        "limit": {"defaultValue": {"useInAppDefault": true}, "valueType": "NUMBER"}
      },
      "parameterGroups": {
        "menu": {"description": "The new menu", "parameters": {
          "pumpkin": {"defaultValue": {"rolloutValue": {"rolloutId": "r1", "value": "true", "percent": 12.5}},
          "valueType": "BOOLEAN"}}}
      },
      "version": {"versionNumber": "6", "updateTime": "2026-01-02T03:04:05.678901Z", "updateOrigin": "CONSOLE",
        "updateType": "INCREMENTAL_UPDATE", "updateUser": {"email": "ada@example.com"}, "description": "Pumpkins"}
    }
    """

  @Test func `a template is read from Firebase's JSON and written again without a loss`() throws {
    let template = try ConfigTemplate(json: Array(example.utf8))
    let ios = ConfigCondition(
      name: "ios", expression: "device.os == 'ios'", tagColor: "BLUE", description: "iPhones")
    #expect(template.conditions == [ios])
    #expect(template.parameters["welcome"]?.conditionalValues == ["ios": "Hi"])
    #expect(template.parameters["limit"]?.defaultValue == .inAppDefault)
    #expect(template.allParameters["pumpkin"]?.defaultValue == .rollout(id: "r1", value: "true", percent: 12.5))
    #expect(template.version?.updateTime == 1_767_323_045_678_901)
    #expect(template.version?.updateUser?.email == "ada@example.com")
    #expect(try ConfigTemplate(json: template.json) == template)
    // Nothing that was read is left out: but for the order of members the two texts are the same JSON.
    #expect(sorted(try JSONValue(json: template.json)) == sorted(try JSONValue(json: Array(example.utf8))))
  }

  private func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object):
      var result = JSONObject()
      for member in object.members.sorted(by: { $0.name < $1.name }) { result[member.name] = sorted(member.value) }
      return .object(result)
    case .array(let elements): return .array(elements.map(sorted))
    default: return value
    }
  }

  @Test func `a personalization is read and written as it was`() throws {
    let text = """
      {"parameters":{"p":{"defaultValue":{"personalizationValue":{"personalizationId":"x"}},"valueType":"STRING"}}}
      """
    let template = try ConfigTemplate(json: Array(text.utf8))
    #expect(template.parameters["p"]?.defaultValue == .personalization(id: "x"))
    #expect(String(decoding: template.json, as: UTF8.self) == text)
  }

  @Test func `everything that does not fit is named with its place`() throws {
    let broken = """
      {"conditions": [{"name": "a"}, 5], "parameters": {"p": {"defaultValue": {"value": true}, "valueType": "DATE"},
      "q": {"defaultValue": {"personalizationValue": {"personalizationId": 1}}}}, "extra": 1}
      """
    let error = #expect(throws: RemoteConfigServiceError.self) { try ConfigTemplate(json: Array(broken.utf8)) }
    let paths = Set(error?.violations.map(\.path) ?? [])
    #expect(
      paths == [
        "template", "conditions[0]", "conditions[1]", "parameters.p.defaultValue", "parameters.p.valueType",
        "parameters.q.defaultValue.personalizationValue.personalizationId",
      ])
  }

  @Test(arguments: ["", "[]", "{\"conditions\":", "{\"parameters\":[]}", "{\"a\":1,\"a\":2}"])
  func `text that is no template is an error`(text: String) {
    #expect(throws: RemoteConfigServiceError.self) { try ConfigTemplate(json: Array(text.utf8)) }
  }

  @Test func `the difference of two templates names what was added, removed, changed and moved`() {
    let one = ConfigParameter(defaultValue: "1")
    let old = ConfigTemplate(
      conditions: [ConfigCondition(name: "a", expression: "true"), ConfigCondition(name: "b", expression: "true")],
      parameters: ["gone": one, "moved": one, "same": one])
    let new = ConfigTemplate(
      conditions: [ConfigCondition(name: "b", expression: "true"), ConfigCondition(name: "a", expression: "false")],
      parameters: ["same": one, "new": one],
      parameterGroups: ["g": ConfigParameterGroup(description: "d", parameters: ["moved": one])])
    let difference = TemplateDifference(from: old, to: new)
    #expect(Set(difference.parameters.keys) == ["gone", "moved", "new"])
    #expect(Set(difference.conditions.keys) == ["a"])
    #expect(difference.isConditionOrderChanged)
    #expect(difference.groups == ["g": .added("d")])
    #expect(TemplateDifference(from: new, to: new).isEmpty)
  }
}
