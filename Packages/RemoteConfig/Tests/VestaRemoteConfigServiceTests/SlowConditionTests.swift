import Testing
import VestaRemoteConfigBackend
import VestaTesting

@testable import VestaRemoteConfigService

/// The engine's parser and evaluator against ``SlowCondition``, for conditions of every form and for wrong ones.
@Suite struct SlowConditionTests {
  @Test func `the engine accepts a condition, and it holds, exactly where the slow one says so`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var source = ConditionSource(random: SplitMix(seed: seed))
    var (accepted, refused, held) = (0, 0, 0)
    for round in 0..<1000 {
      let (text, isValid) = source.condition()
      let label: Comment = "seed \(seed), round \(round): \(text)"
      let slow = SlowCondition(text)
      #expect((slow != nil) == isValid, label)
      let expression = try? ConditionParser.parse(text)
      #expect((expression != nil) == isValid, label)
      guard let slow, let expression else {
        refused += 1
        continue
      }
      accepted += 1
      for _ in 0..<4 {
        let (instance, now) = (source.instance(), source.time())
        let expected = slow.holds(for: instance, at: now)
        held += expected ? 1 : 0
        let outcome = ConditionEvaluator(instance: instance, now: now).holds(expression)
        #expect(outcome == expected, "seed \(seed), round \(round): \(text) for \(instance) at \(now)")
        if outcome != expected { return }
      }
    }
    #expect(accepted > 300 && refused > 100 && held > 100, "\(accepted) accepted, \(refused) refused, \(held) held")
  }

  @Test func `the digests of both equal the standard's`() {
    let vector = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    let digest = SlowCondition.digest(Array("abc".utf8))
    #expect(digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == vector)
  }
}

/// Random conditions, right and wrong ones, and the instances and times that meet them.
struct ConditionSource {
  var random: SplitMix

  private mutating func pick<Value>(_ values: [Value]) -> Value { random.pick(values) }
  private mutating func picks<Value>(_ values: [Value]) -> [Value] { (0...random.below(3)).map { _ in pick(values) } }
  private mutating func gap() -> String { pick(["", "", " ", "  "]) }
  private mutating func list(_ values: [String]) -> String {
    "[\(gap())" + values.map { "'\($0)'" }.joined(separator: pick([", ", ",", " , "])) + "\(gap())]"
  }

  /// A condition, and whether it is one.
  mutating func condition() -> (text: String, isValid: Bool) {
    var elements = (0...random.below(3)).map { _ in element() }
    if random.oneIn(5) {
      elements[random.below(elements.count)] = pick(Self.mistakes)
      return (elements.joined(separator: " && "), false)
    }
    if random.oneIn(8) {
      let broken = pick(["&&", "&& ", " &&", " & ", " || ", " and ", " && && ", "  ", " &&& "])
      return (elements.joined(separator: " && ") + broken + element(), false)
    }
    return (elements.joined(separator: " && "), true)
  }

  /// Elements that the language does not have.
  static let mistakes = [
    "", "app.id != 'app'", "app.id == app", "app.id == 'app", "app.id in ['app']", "device.os < 'ios'",
    "device.os in ['ios']", "device.country == 'DE'", "device.country not in ['DE']", "device.country in 'DE'",
    "device.country in ['DE' 'US']", "device.country in ['DE',]", "device.language in [en]", "device.model == 'x'",
    "app.version >= '1.0'", "app.version.>=('1.0')", "app.version.>=(['1.0', '2.0'])", "app.version.<(['1.a'])",
    "app.version.=(['1'])", "app.version.like(['1'])", "app.version.contains('1')", "app.build == 3",
    "app.userProperty[n] < 1", "app.userProperty['n'] <", "app.userProperty['n'].<(['1.0'])",
    "app.userProperty['n'] == 'x'", "app.userProperty.n == 1", "app.audiences.contains(['x'])",
    "app.audiences.inAll('x')", "app.firebaseInstallationId == 'one'",
    "app.firstOpenTimestamp == ('2026-01-01T00:00:00')",
    "app.firstOpenTimestamp >= '2026-01-01T00:00:00'", "dateTime < '2026-01-01T00:00:00'",
    "dateTime < dateTime('2026-02-30T12:00:00')", "dateTime < dateTime('2026-13-01T12:00:00')",
    "dateTime < dateTime('2026-01-01')", "dateTime < dateTime('2026-01-01T12:00:00', 'Mars/Olympus')",
    "dateTime == dateTime('2026-01-01T12:00:00')", "percent == 10", "percent < 10", "percent >= 10", "percent <= 101",
    "percent <= -1", "percent <= ten", "percent between 10", "percent between 10 20", "percent[seed] <= 10",
    "app.operatingSystemAndVersion.inOne(['iOS'])", "app.operatingSystemAndVersion.inOne([browser('x')])",
    "app.browserAndVersion == 'x'", "yes", "1", "!true", "(true)", "true false",
  ]

  private mutating func element() -> String {
    let comparison = pick(["<", "<=", "==", "!=", ">=", ">"])
    let word = pick(["contains", "notContains", "exactlyMatches", "matches"])
    switch random.below(14) {
    case 0: return pick(["true", "true", "true", "false"])
    case 1: return "app.id\(gap())==\(gap())'\(pick(["app", "other"]))'"
    case 2: return "app.\(pick(["version", "build"])).\(comparison)(\(list(versions(comparison))))"
    case 3: return "app.\(pick(["version", "build"])).\(word)(\(list(targets(word))))"
    case 4:
      let number = pick(["0", "1", "1.5", "-2", "1000", "1.0"])
      return "app.\(pick(["userProperty", "customSignal"]))['n']\(gap())\(comparison)\(gap())\(number)"
    case 5: return "app.\(pick(["userProperty", "customSignal"]))['t'].\(word)(\(list(targets(word))))"
    case 6: return "app.customSignal['v'].\(comparison)(\(list(versions(comparison))))"
    case 7:
      let name = pick(["inAtLeastOne", "notInAtLeastOne", "inAll", "notInAll"])
      return "app.audiences.\(name)(\(list(picks(["x", "y", "z z"]))))"
    case 8: return "device.\(pick(["country in \(list(picks(["DE", "us", "GB"])))", languages()]))"
    case 9: return pick(["device.os == '\(pick(["ios", "linux"]))'", "device.os != 'android'", installations()])
    case 10: return time(comparison)
    case 11, 12: return percent()
    default: return system(comparison)
    }
  }

  private mutating func languages() -> String { "language in \(list(picks(["de", "de-AT", "en", "en-US"])))" }
  private mutating func installations() -> String {
    "app.firebaseInstallationId in \(list(picks(["one", "two", "três"])))"
  }

  private mutating func versions(_ comparison: String) -> [String] {
    let all = ["1", "1.0", "1.2", "1.10", "1.2.3", "2", "0", "1.0.0.0.1", "01.2"]
    return ["==", "!="].contains(comparison) ? picks(all) : [pick(all)]
  }

  private mutating func targets(_ word: String) -> [String] {
    picks(
      word == "matches" ? ["^1", "a$", "1.2", "^.b+$", "[xy]", "b*", "^(ab|x)$"] : ["a", "ab", "1", "1.2", "é", "x y"])
  }

  private mutating func time(_ comparison: String) -> String {
    let (date, zone) = (pick(Self.dates), pick(["", "UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata"]))
    let arguments = "('\(date)'" + (zone.isEmpty ? "" : ", '\(zone)'") + ")"
    if random.oneIn(3) { return "app.firstOpenTimestamp \(pick(["<=", ">="])) \(arguments)" }
    return "\(pick(["", "device."]))dateTime \(pick(["<", "<=", ">", ">="])) dateTime\(arguments)"
  }

  /// At noon or later: around the days on which clocks are set, of leap years, and of the century that is one.
  static let dates = [
    "2026-03-07T12:00:00", "2026-03-08T12:00:00", "2026-10-31T23:59:59", "2026-11-01T12:00:00", "2026-03-28T12:00:00",
    "2026-03-29T12:00:00", "2026-10-24T18:30:01", "2026-10-25T12:00:00", "2024-02-29T12:00:00", "2000-02-29T12:00:00",
    "2100-03-01T12:00:00", "1970-01-02T12:00:00", "2026-12-31T23:59:59", "2027-01-01T12:00:00",
  ]

  private mutating func percent() -> String {
    let subject = pick(["percent", "percent('seed')", "percent('é')"])
    let bounds = ["0", "100", "10", "50", "33.333333", "73.967085", "86.913387", "32.8", "99.999999", "0.000001"]
    let (lower, upper) = (pick(bounds), pick(["100", "100.000000"]))
    return pick([
      "\(subject) <= \(lower)", "\(subject)\(gap())>\(gap())\(lower)", "\(subject) between \(lower) and \(upper)",
    ])
  }

  private mutating func system(_ comparison: String) -> String {
    let (kind, name) = pick([("os", "operatingSystem"), ("browser", "browser")])
    let items = (0...random.below(2)).map { _ in
      "\(kind)('\(pick(["iOS", "Linux", "Chrome"]))')"
        + (random.oneIn(3) ? "" : ".\(comparison)(['\(pick(["1", "1.2", "17"]))'])")
    }
    return "app.\(name)AndVersion.inOne([\(items.joined(separator: ", "))])"
  }

  // MARK: Instances

  mutating func instance() -> ConfigInstance {
    var instance = ConfigInstance()
    let versions = ["1", "1.0", "1.2", "1.10", "1.2.3", "2", "1.0.0.0.1", "1.2.3.4.5.6", "1.x", "", "1.", "v1"]
    let texts = ["a", "ab", "xab", "1.2", "1x2", "é", "e", "", "x y", "bbb", "y"]
    if !random.oneIn(5) { instance.installationID = pick(["one", "two", "três", "ONE"]) }
    if !random.oneIn(5) { instance.appID = pick(["app", "other", "APP"]) }
    if !random.oneIn(5) { instance.platform = pick(["ios", "android", "linux", "iOS"]) }
    if !random.oneIn(5) { instance.appVersion = pick(versions) }
    if !random.oneIn(5) { instance.appBuild = pick(versions) }
    if !random.oneIn(5) { instance.countryCode = pick(["DE", "de", "US", "FR"]) }
    if !random.oneIn(5) { instance.languageCode = pick(["de", "de-AT", "en-US", "en-GB", "den", "fr"]) }
    if !random.oneIn(4) { instance.firstOpenTime = time() }
    for name in ["userProperty", "customSignal"] {
      var values: [String: String] = [:]
      if !random.oneIn(5) { values["n"] = pick(["0", "1", "1.0", "1.5", "-2", "-2.5", "1000", "abc", ""]) }
      if !random.oneIn(5) { values["t"] = pick(texts) }
      if !random.oneIn(5) { values["v"] = pick(versions) }
      if name == "userProperty" { instance.userProperties = values } else { instance.customSignals = values }
    }
    instance.audiences = Set(picks(["x", "y", "w", "z z"]))
    if !random.oneIn(4) { instance.operatingSystem = .init(name: pick(["ios", "linux"]), version: pick(versions)) }
    if !random.oneIn(4) { instance.browser = .init(name: pick(["Chrome", "Safari"]), version: pick(versions)) }
    return instance
  }

  /// A time within a second of one of the dates in one of the zones.
  mutating func time() -> Int64 {
    let seconds: [Int64] = [
      1_772_884_800, 1_772_902_800, 1_772_985_600, 1_772_989_200, 1_793_505_599, 1_774_695_600, 1_774_778_400,
      1_792_859_401, 1_792_926_000, 1_709_208_000, 951_825_600, 4_107_585_600, 129_600, 1_798_761_599, 1_798_804_800,
    ]
    return (pick(seconds) + pick([-19_800, -7200, -3600, 0, 0, 0, 3600, 14_400, 18_000])) * 1_000_000
      + pick([-1_000_000, -1, 0, 0, 1, 1_000_000])
  }
}
