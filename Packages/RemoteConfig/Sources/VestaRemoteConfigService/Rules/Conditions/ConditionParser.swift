import VestaPatterns

/// Parses condition expressions.
///
/// ```
/// expression = test { " && " test }
/// test       = "true" | "false" | app | device | percent | dateTime
/// ```
///
/// The language has neither `||` nor brackets around expressions: several conditions serve for that. Every error has
/// the position of the token that does not fit and says what is expected there.
struct ConditionParser {
  private var tokens: [ConditionToken]
  private var index = 0
  private let bounds: ConditionPatternTuning

  /// The most tests in one expression.
  static let maximumTests = 100

  static func parse(
    _ expression: String, _ patterns: ConditionPatternTuning = ConditionPatternTuning()
  ) throws(ConditionSyntaxError) -> ConditionExpression {
    var parser = ConditionParser(try ConditionLexer.tokens(of: expression), patterns)
    return try parser.expression()
  }

  private init(_ tokens: [ConditionToken], _ bounds: ConditionPatternTuning) {
    self.tokens = tokens
    self.bounds = bounds
  }

  private mutating func expression() throws(ConditionSyntaxError) -> ConditionExpression {
    var tests = [try test()]
    while accept("&&") {
      guard tests.count < Self.maximumTests else {
        throw error("An expression has \(Self.maximumTests) tests at most.")
      }
      tests.append(try test())
    }
    switch next.kind {
    case .end: return ConditionExpression(tests: tests)
    case .symbol("||"): throw error("There is no \"||\". Use one condition for each alternative.")
    default: throw error("Expected \"&&\" or the end of the expression.")
    }
  }

  private mutating func test() throws(ConditionSyntaxError) -> ConditionTest {
    let start = next
    switch start.kind {
    case .word("true"): advance(); return .constant(true)
    case .word("false"): advance(); return .constant(false)
    case .word("app"): advance(); return try appTest()
    case .word("device"): advance(); return try deviceTest()
    case .word("percent"): advance(); return try percentTest()
    case .word("dateTime"): advance(); return .time(try order(), try dateAfterWord().time)
    case .symbol("("), .symbol("!"): throw error("There are neither brackets around tests nor \"!\".")
    default: throw error("Expected true, false, app, device, percent or dateTime.")
    }
  }

  // MARK: Elements

  private mutating func appTest() throws(ConditionSyntaxError) -> ConditionTest {
    try expect(".")
    let start = next
    switch try word() {
    case "id":
      try expect("==")
      return .equals(.appID, try string(), isNegated: false)
    case "version": return try methodTest(on: .appVersion, isVersion: true)
    case "build": return try methodTest(on: .appBuild, isVersion: true)
    case "userProperty": return try valueTest(on: .userProperty(try subscriptName()), hasVersions: false)
    case "customSignal": return try valueTest(on: .customSignal(try subscriptName()), hasVersions: true)
    case "audiences": return try audienceTest()
    case "firstOpenTimestamp":
      let comparison = try order()
      return .firstOpen(comparison, try dateArguments().time)
    case "firebaseInstallationId":
      try expectWord("in")
      return .isOneOf(.installationID, try strings())
    case "operatingSystemAndVersion": return try systemTest(.operatingSystem, ["os", "operatingSystemName"])
    case "browserAndVersion": return try systemTest(.browser, ["browser", "browserName"])
    default:
      throw ConditionSyntaxError(
        at: start.start,
        """
        Expected id, version, build, userProperty, customSignal, audiences, firstOpenTimestamp, \
        firebaseInstallationId, operatingSystemAndVersion or browserAndVersion.
        """)
    }
  }

  private mutating func deviceTest() throws(ConditionSyntaxError) -> ConditionTest {
    try expect(".")
    let start = next
    switch try word() {
    case "os":
      if accept("!=") { return .equals(.platform, try string(), isNegated: true) }
      try expect("==")
      return .equals(.platform, try string(), isNegated: false)
    case "country":
      try expectWord("in")
      return .isOneOf(.country, try strings())
    case "language":
      try expectWord("in")
      return .language(try strings())
    case "dateTime":
      let comparison = try order()
      let (time, isLocal) = try dateAfterWord()
      return isLocal ? .localTime(comparison, time) : .time(comparison, time)
    default: throw ConditionSyntaxError(at: start.start, "Expected os, country, language or dateTime.")
    }
  }

  /// `dateTime('2024-01-01T00:00:00', 'Europe/Berlin')`.
  private mutating func dateAfterWord() throws(ConditionSyntaxError) -> (time: Int64, isLocal: Bool) {
    try expectWord("dateTime")
    return try dateArguments()
  }

  /// `percent <= 10`, `percent('seed') > 30`, `percent between 10 and 20`.
  private mutating func percentTest() throws(ConditionSyntaxError) -> ConditionTest {
    var seed = ""
    if accept("(") {
      seed = try string()
      try expect(")")
    }
    if case .word("between") = next.kind {
      advance()
      let lower = try percentage()
      try expectWord("and")
      let start = next.start
      let upper = try percentage()
      guard lower <= upper else { throw ConditionSyntaxError(at: start, "The upper bound is below the lower one.") }
      return .percent(seed: seed, above: lower, upTo: upper)
    }
    if accept("<=") { return .percent(seed: seed, above: nil, upTo: try percentage()) }
    if accept(">") { return .percent(seed: seed, above: try percentage(), upTo: nil) }
    throw error("Expected \"<=\", \">\" or \"between\" after percent.")
  }

  /// A percentage with six decimals at most, in millionths.
  private mutating func percentage() throws(ConditionSyntaxError) -> Int {
    let start = next.start
    guard case .number(let value) = next.kind else { throw error("Expected a percentage.") }
    advance()
    let micro = (value * 1_000_000).rounded()
    guard (0...100).contains(value), abs(micro - value * 1_000_000) < 1e-4 else {
      throw ConditionSyntaxError(at: start, "A percentage is between 0 and 100 and has six decimals at most.")
    }
    return Int(micro)
  }

  /// A user property or a custom signal: compared as a number by an operator, or by a method.
  private mutating func valueTest(
    on attribute: ConditionAttribute, hasVersions: Bool
  ) throws(ConditionSyntaxError) -> ConditionTest {
    if case .symbol(".") = next.kind { return try methodTest(on: attribute, isVersion: hasVersions) }
    let comparison = try comparison()
    guard case .number(let value) = next.kind else { throw error("Expected a number.") }
    advance()
    return .number(attribute, comparison, value)
  }

  /// `.<(['1.2'])`, `.contains(['a', 'b'])`, `.matches(['^a'])`.
  private mutating func methodTest(
    on attribute: ConditionAttribute, isVersion: Bool
  ) throws(ConditionSyntaxError) -> ConditionTest {
    try expect(".")
    let start = next
    if case .symbol(let symbol) = start.kind, isVersion, let comparison = NumberComparison(rawValue: symbol) {
      advance()
      return .version(attribute, comparison, try versions(for: comparison))
    }
    guard case .word(let name) = start.kind else { throw error("Expected the name of a comparison such as contains.") }
    advance()
    if let comparison = TextComparison(rawValue: name) { return .text(attribute, comparison, try callStrings()) }
    guard name == "matches" else {
      throw ConditionSyntaxError(
        at: start.start,
        "There is no comparison \"\(name)\". Use contains, notContains, exactlyMatches, notExactlyMatches or matches.")
    }
    return .matches(attribute, try patterns())
  }

  /// Regular expressions in the syntax of RE2, each of which is looked for anywhere in a string.
  private mutating func patterns() throws(ConditionSyntaxError) -> [Pattern] {
    let start = next.start
    var patterns: [Pattern] = []
    for source in try callStrings() {
      do throws(PatternError) {
        patterns.append(try bounds.pattern(source))
      } catch {
        throw ConditionSyntaxError(at: start, "\"\(source)\" is not a regular expression: \(error).")
      }
    }
    return patterns
  }

  private mutating func versions(for comparison: NumberComparison) throws(ConditionSyntaxError) -> [VersionNumber] {
    let start = next.start
    let texts = try callStrings()
    let versions = texts.compactMap(VersionNumber.init)
    guard versions.count == texts.count else {
      throw ConditionSyntaxError(
        at: start, "A version has one to five numbers with dots between them, such as '1.2.3'.")
    }
    guard versions.count == 1 || comparison == .equal || comparison == .notEqual else {
      throw ConditionSyntaxError(at: start, "\"\(comparison.rawValue)\" compares with one version.")
    }
    return versions
  }

  private mutating func audienceTest() throws(ConditionSyntaxError) -> ConditionTest {
    try expect(".")
    let start = next
    guard let comparison = AudienceComparison(rawValue: try word()) else {
      throw ConditionSyntaxError(at: start.start, "Expected inAtLeastOne, notInAtLeastOne, inAll or notInAll.")
    }
    return .audiences(comparison, try callStrings())
  }

  /// `.inOne([os('iOS').>=(['15']), os('macOS')])`.
  private mutating func systemTest(
    _ kind: SystemKind, _ names: [String]
  ) throws(ConditionSyntaxError) -> ConditionTest {
    try expect(".")
    try expectWord("inOne")
    try expect("(")
    try expect("[")
    var tests: [SystemTest] = []
    repeat { tests.append(try oneSystemTest(names)) } while accept(",")
    try expect("]")
    try expect(")")
    return .system(kind, tests)
  }

  /// `os('iOS')`, or `os('iOS').>=(['15'])`.
  private mutating func oneSystemTest(_ names: [String]) throws(ConditionSyntaxError) -> SystemTest {
    let start = next
    guard names.contains(try word()) else {
      throw ConditionSyntaxError(at: start.start, "Expected \(names[0])('name').")
    }
    try expect("(")
    var test = SystemTest(name: try string())
    try expect(")")
    if accept(".") {
      let comparison = try comparison()
      test.versions = (comparison, try versions(for: comparison))
    }
    return test
  }

  // MARK: Arguments

  /// `('2024-01-01T00:00:00', 'Europe/Berlin')` as microseconds since 1970; in UTC without a time zone, and whether
  /// that was not said.
  private mutating func dateArguments() throws(ConditionSyntaxError) -> (time: Int64, isLocal: Bool) {
    try expect("(")
    let start = next.start
    let text = try string()
    let hasZone = accept(",")
    let zoneStart = next.start
    let zone = hasZone ? try string() : nil
    try expect(")")
    switch ConditionTime.parse(text, zone: zone) {
    case .time(let time): return (time, zone == nil && !ConditionTime.saysUTC(text))
    case .notATime:
      throw ConditionSyntaxError(
        at: start, "Expected a date and time such as '2024-01-31T09:30:00', with a Z or a time zone and not with both.")
    case .unknownZone:
      throw ConditionSyntaxError(
        at: zoneStart, "There is no time zone \"\(zone ?? "")\". Use a name such as 'Europe/Berlin'.")
    }
  }

  private mutating func callStrings() throws(ConditionSyntaxError) -> [String] {
    try expect("(")
    let strings = try strings()
    try expect(")")
    return strings
  }

  private mutating func strings() throws(ConditionSyntaxError) -> [String] {
    try expect("[")
    var strings = [try string()]
    while accept(",") { strings.append(try string()) }
    try expect("]")
    return strings
  }

  private mutating func subscriptName() throws(ConditionSyntaxError) -> String {
    try expect("[")
    let name = try string()
    try expect("]")
    return name
  }

  // MARK: Tokens

  private var next: ConditionToken { tokens[index] }

  /// The end is never passed, so `next` always exists.
  private mutating func advance() { if index < tokens.count - 1 { index += 1 } }

  private mutating func accept(_ symbol: String) -> Bool {
    guard next.kind == .symbol(symbol) else { return false }
    advance()
    return true
  }

  private mutating func expect(_ symbol: String) throws(ConditionSyntaxError) {
    guard accept(symbol) else { throw error("Expected \"\(symbol)\".") }
  }

  private mutating func expectWord(_ word: String) throws(ConditionSyntaxError) {
    guard next.kind == .word(word) else { throw error("Expected \"\(word)\".") }
    advance()
  }

  private mutating func word() throws(ConditionSyntaxError) -> String {
    guard case .word(let word) = next.kind else { throw error("Expected a name.") }
    advance()
    return word
  }

  private mutating func string() throws(ConditionSyntaxError) -> String {
    guard case .string(let text) = next.kind else { throw error("Expected a string in single quotes.") }
    advance()
    return text
  }

  private mutating func comparison() throws(ConditionSyntaxError) -> NumberComparison {
    guard case .symbol(let symbol) = next.kind, let comparison = NumberComparison(rawValue: symbol) else {
      throw error("Expected one of < <= == != >= >.")
    }
    advance()
    return comparison
  }

  /// A comparison of times, which are never equal in practice.
  private mutating func order() throws(ConditionSyntaxError) -> NumberComparison {
    let start = next.start
    let comparison = try comparison()
    guard comparison != .equal, comparison != .notEqual else {
      throw ConditionSyntaxError(at: start, "Times are compared with <, <=, > or >=.")
    }
    return comparison
  }

  private func error(_ message: String) -> ConditionSyntaxError { ConditionSyntaxError(at: next.start, message) }
}
