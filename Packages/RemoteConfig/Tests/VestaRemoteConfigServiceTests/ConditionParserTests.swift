import Testing
import VestaTesting

@testable import VestaRemoteConfigService

@Suite struct ConditionParserTests {
  @Test(arguments: [
    "true", "false && true", "app.id == '1:2:ios:3'", "device.os != 'web'", "device.country in ['US', 'DE']",
    "device.language in ['en-US']", "percent <= 10", "percent('seed') > 99.5", "percent between 10 and 20",
    "percent('s') between 0 and 0.000001", "app.version.>=(['2.0.1'])", "app.build.==(['1', '2'])",
    "app.userProperty['age'] >= 18", "app.userProperty['plan'].exactlyMatches(['pro'])",
    "app.customSignal['v'].<(['1.2.3.4.5'])", "app.customSignal['n'] != -1.5", "app.audiences.inAtLeastOne(['a', 'b'])",
    "app.firstOpenTimestamp <= ('2022-10-31T14:37:47', 'America/Los_Angeles')",
    "app.firebaseInstallationId in ['fid1']", "dateTime < dateTime('2026-01-01T00:00:00', 'Europe/Berlin')",
    "device.dateTime >= dateTime('2026-01-01T00:00:00')", "app.version.matches(['^1\\\\.[0-9]+$'])",
    "app.operatingSystemAndVersion.inOne([os('iOS').>=(['15']), os('macOS')])",
    "app.browserAndVersion.inOne([browser('Chrome').==(['120'])])",
  ])
  func `an expression of the language is parsed`(expression: String) throws {
    _ = try ConditionParser.parse(expression)
  }

  @Test(arguments: [
    ("", 1, "Expected true"), ("percent < 10", 9, "Expected \"<=\""), ("percent <= 101", 12, "between 0 and 100"),
    ("percent <= 1.1234567", 12, "six decimals"), ("percent between 20 and 10", 24, "below the lower"),
    ("device.os == ios", 14, "Expected a string"), ("device.os = 'ios'", 11, "not part of the condition language"),
    ("true || false", 6, "There is no \"||\""), ("(true)", 1, "neither brackets"), ("!true", 1, "neither brackets"),
    ("true true", 6, "Expected \"&&\""), ("app.color == 'x'", 5, "Expected id"),
    ("device.country in []", 20, "Expected a string"),
    ("app.version.>=(['1', '2'])", 15, "compares with one version"), ("app.version.>=(['1.x'])", 15, "A version has"),
    ("app.userProperty['x'].like(['a'])", 23, "There is no comparison \"like\""),
    ("app.version.matches(['('])", 20, "not a regular expression"),
    ("dateTime < dateTime('soon')", 21, "Expected a date"),
    ("dateTime < dateTime('2026-02-30T00:00:00')", 21, "Expected a date"),
    ("dateTime < dateTime('2026-01-01T00:00:00', 'Mars')", 44, "no time zone"),
    ("device.os == 'ios", 14, "does not end"), ("true && ", 9, "Expected true"), ("é", 1, "not part of"),
    ("app.id == 'é' && x", 18, "Expected true"), ("true&& true", 5, "a space on both sides"),
    ("true &&true", 6, "a space on both sides"), ("dateTime != dateTime('2026-01-01T00:00:00')", 10, "Times are"),
    ("app.firstOpenTimestamp == ('2026-01-01T00:00:00')", 24, "Times are"),
  ])
  func `a mistake is reported with the number of its character`(expression: String, column: Int, text: String) {
    let error = #expect(throws: ConditionSyntaxError.self) { try ConditionParser.parse(expression) }
    #expect(error?.column(in: expression) == column)
    #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
  }

  @Test func `random expressions are parsed or refused, and never crash`() {
    var random = SplitMix(seed: 14)
    let pieces = [
      "app", ".", "version", "percent", "'", "\"", "\\", "(", ")", "[", "]", "<=", "&&", "between", "and", "10", "-",
      "é",
      "in", "device", "os", "==", "dateTime", "1.", ".<", "matches", "'a'", "['1']", "{2,", "*", " ", "\u{0}",
    ]
    for _ in 0..<20_000 {
      let expression = (0..<random.below(12)).map { _ in pieces[random.below(pieces.count)] }.joined()
      do { _ = try ConditionParser.parse(expression) } catch { _ = error.column(in: expression) }
    }
  }

  @Test func `very long expressions are refused`() {
    #expect(throws: ConditionSyntaxError.self) { try ConditionParser.parse(String(repeating: "true && ", count: 5000)) }
    let many = Array(repeating: "true", count: 101).joined(separator: " && ")
    #expect(throws: ConditionSyntaxError.self) { try ConditionParser.parse(many) }
  }
}
