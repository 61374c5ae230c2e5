import Testing
import VestaRemoteConfigBackend

@testable import VestaRemoteConfigService

@Suite struct ConditionEvaluatorTests {
  private var instance: ConfigInstance {
    var instance = ConfigInstance()
    instance.installationID = "one"
    instance.appID = "1:2:ios:3"
    instance.platform = "ios"
    instance.appVersion = "2.10.0"
    instance.appBuild = "42"
    instance.countryCode = "DE"
    instance.languageCode = "de-AT"
    instance.firstOpenTime = 1_700_000_000_000_000
    instance.userProperties = ["age": "20", "plan": "pro plus"]
    instance.customSignals = ["city": "Lyon", "v": "1.2.3"]
    instance.audiences = ["a", "b"]
    instance.operatingSystem = .init(name: "iOS", version: "17.2")
    return instance
  }

  /// 1 January 2026, 00:00 in UTC.
  private let now: Int64 = 1_767_225_600_000_000

  private func holds(_ expression: String) throws -> Bool {
    ConditionEvaluator(instance: instance, now: now).holds(try ConditionParser.parse(expression))
  }

  @Test(arguments: [
    "true", "app.id == '1:2:ios:3'", "device.os == 'iOS'", "device.os != 'android'", "app.version.>(['2.9'])",
    "app.version.==(['2.10'])", "app.version.!=(['2.9', '2.11'])", "app.build.<=(['42'])",
    "device.country in ['us', 'de']",
    "device.language in ['de']", "device.language in ['de-AT']", "app.userProperty['age'] >= 20",
    "app.userProperty['plan'].contains(['plus'])", "app.userProperty['plan'].notContains(['minus'])",
    "app.userProperty['plan'].matches(['^pro'])", "app.customSignal['city'].exactlyMatches(['Paris', 'Lyon'])",
    "app.customSignal['v'].<(['1.2.10'])", "app.audiences.inAtLeastOne(['b', 'x'])", "app.audiences.inAll(['a', 'b'])",
    "app.audiences.notInAll(['x', 'y'])", "app.audiences.notInAtLeastOne(['a', 'x'])",
    "app.firstOpenTimestamp >= ('2023-11-14T22:13:20')", "app.firebaseInstallationId in ['one']",
    "dateTime < dateTime('2026-01-01T00:00:00', 'America/New_York')",
    "dateTime > dateTime('2026-01-01T00:30:00', 'Europe/Berlin')", "dateTime <= dateTime('2026-01-01T00:00:00')",
    "app.operatingSystemAndVersion.inOne([os('macOS'), os('ios').>=(['17'])])", "percent('1') <= 65",
    "percent('1') > 64.146487", "percent('1') between 64.146487 and 64.146488",
  ])
  func `a condition holds`(expression: String) throws { #expect(try holds(expression)) }

  @Test(arguments: [
    "false", "true && false", "app.version.>(['2.10'])", "device.language in ['en', 'de-DE']",
    "device.country in ['US']",
    "app.userProperty['none'] < 5", "app.userProperty['none'].notContains(['x'])", "app.userProperty['plan'] < 5",
    "app.customSignal['none'].!=(['1'])", "app.customSignal['city'].<(['1'])", "app.audiences.inAll(['a', 'x'])",
    "app.browserAndVersion.inOne([browser('Chrome')])", "percent('1') <= 64", "percent('1') > 64.146488",
    "percent('1') between 64.146488 and 100", "app.operatingSystemAndVersion.inOne([os('iOS').>(['17.2'])])",
  ])
  func `a condition does not hold, nor does one on an attribute that is missing`(expression: String) throws {
    #expect(try !holds(expression))
  }

  @Test func `nothing but constants and times holds for an instance without attributes`() throws {
    let nobody = ConditionEvaluator(instance: ConfigInstance(), now: now)
    for expression in ["percent <= 100", "device.os != 'ios'", "app.version.!=(['1'])", "app.customSignal['a'] != 1"] {
      #expect(try !nobody.holds(ConditionParser.parse(expression)), "\(expression)")
    }
    #expect(try nobody.holds(ConditionParser.parse("true && dateTime > dateTime('2025-01-01T00:00:00')")))
  }

  @Test(arguments: [
    ("1", "one", 64_146_488), ("2", "two", 76_516_209), ("3", "three", 6_701_947), ("", "😊", 9_911_325),
    ("hêl£o", "wørlÐ", 67_411_682),
  ])
  func `percentiles equal those in Firebase's server SDKs`(seed: String, id: String, expected: Int) {
    #expect(Percentile.micro(seed: seed, id: id) == expected)
  }
}
