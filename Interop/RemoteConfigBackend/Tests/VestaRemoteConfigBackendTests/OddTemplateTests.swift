import Testing
import VestaRemoteConfigBackend
import VestaTesting

/// Templates in forms that are odd, and that are no templates at all.
@Suite struct OddTemplateTests {
  @Test(arguments: [
    "{}", "{\"parameters\":null,\"conditions\":null,\"parameterGroups\":null,\"version\":null}",
    "{\"parameters\":{\"a\":{}}}", "{\"parameters\":{\"a\":{\"defaultValue\":null,\"conditionalValues\":null}}}",
    "{\"parameters\":{\"a\":{\"valueType\":\"PARAMETER_VALUE_TYPE_UNSPECIFIED\",\"description\":null}}}",
    "{\"version\":{\"versionNumber\":7,\"updateOrigin\":\"A_NEW_ORIGIN\",\"updateTime\":\"never\",\"isLegacy\":true}}",
    "{\"version\":{\"updateTime\":\"300000-01-01T00:00:00Z\"}}",
    "{\"version\":{\"updateTime\":\"-9999999-01-01T00:00:00Z\"}}",
    "{\"version\":{\"updateTime\":\"2026-01-01T00:00:00.123456789Z\"}}",
    "{\"version\":{\"updateTime\":\"2026-01-01T00:00:00.-1Z\"}}",
    "{\"etag\":\"etag-p-1\",\"parameters\":{\"\\u00e9\":{\"defaultValue\":{\"value\":\"\\ud83d\\ude00\"}}}}",
  ])
  func `a template in an odd form is read, and what is written is read as the same`(json: String) throws {
    let template = try ConfigTemplate(json: Array(json.utf8))
    #expect(try ConfigTemplate(json: template.json) == template)
  }

  @Test(arguments: [
    "", "[]", "null", "{", "{\"parameters\":[]}", "{\"conditions\":{}}", "{\"version\":5}", "{\"version\":[]}",
    "{\"parameters\":{\"a\":{\"defaultValue\":{\"value\":\"a\",\"useInAppDefault\":true}}}}",
    "{\"parameters\":{\"a\":{\"defaultValue\":{\"useInAppDefault\":false}}}}",
    "{\"parameters\":{\"a\":{\"defaultValue\":{}}}}", "{\"parameters\":{\"a\":{\"conditionalValues\":{\"c\":null}}}}",
    "{\"parameters\":{\"a\":{\"defaultValue\":{\"rolloutValue\":{\"rolloutId\":\"r\",\"value\":\"a\"}}}}}",
    "{\"parameters\":{\"a\":{}},\"Parameters\":{}}", "{\"conditions\":[{\"name\":\"a\",\"expression\":null}]}",
  ])
  func `what is no template is refused with a place`(json: String) {
    let error = #expect(throws: RemoteConfigServiceError.self) { try ConfigTemplate(json: Array(json.utf8)) }
    #expect(error?.violations.isEmpty == false)
  }

  @Test func `the same key twice is refused, and not one of both values taken`() {
    let json =
      "{\"parameters\":{\"a\":{\"defaultValue\":{\"value\":\"1\"}},\"a\":{\"defaultValue\":{\"value\":\"2\"}}}}"
    #expect(throws: RemoteConfigServiceError.self) { try ConfigTemplate(json: Array(json.utf8)) }
  }

  @Test func `damaged templates never crash the reader`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    let template = ConfigTemplate(
      conditions: [ConfigCondition(name: "a", expression: "true", tagColor: "BLUE")],
      parameters: ["p": ConfigParameter(defaultValue: .rollout(id: "r", value: "x", percent: 12.5))],
      parameterGroups: ["g": ConfigParameterGroup(parameters: ["q": ConfigParameter(defaultValue: .inAppDefault)])],
      version: ConfigVersion(versionNumber: 5, updateTime: 1, updateUser: .init(email: "e"), rollbackSource: 3))
    for _ in 0..<3000 {
      var bytes = template.json
      for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      if random.oneIn(3) { bytes.removeLast(random.below(bytes.count)) }
      guard let read = try? ConfigTemplate(json: bytes) else { continue }
      #expect(try ConfigTemplate(json: read.json) == read, "seed \(seed)")
    }
  }

  @Test func `times are written and read to the microsecond`() throws {
    for time in [0, 1, -1, 1_767_323_045_678_901, -62_135_596_800_000_000, 253_402_300_799_999_999] as [Int64] {
      let version = ConfigVersion(versionNumber: 1, updateTime: time)
      #expect(try ConfigVersion(json: version.json).updateTime == time, "\(time)")
    }
    // Far beyond the calendar nothing is promised but that the process survives.
    for time in [Int64.min, .max] { _ = ConfigVersion(updateTime: time).json }
  }
}
