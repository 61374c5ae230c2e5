import Foundation
import VestaRemoteConfigBackend
import VestaTesting

/// A second evaluator of conditions, written from the description of the language and not from the engine.
///
/// It generates a random expression together with a closure that says whether it holds, so that no parser is shared
/// either. Strings are compared by their UTF-8.
struct ConditionOracle {
  typealias Evaluation = (ConfigInstance, Int64) -> Bool

  var random: SplitMix

  init(seed: UInt64) { random = SplitMix(seed: seed) }

  mutating func expression() -> (text: String, holds: Evaluation) {
    let tests = (0...random.below(3)).map { _ in test() }
    let separator = random.oneIn(4) ? "  &&\t" : " && "
    return (tests.map(\.text).joined(separator: separator), { a, b in tests.allSatisfy { $0.holds(a, b) } })
  }

  private typealias Test = (text: String, holds: Evaluation)

  private mutating func test() -> Test {
    switch random.below(13) {
    case 0: constant()
    case 1: appID()
    case 2: version()
    case 3: number()
    case 4: text()
    case 5: platform()
    case 6: country()
    case 7: language()
    case 8: audience()
    case 9: time()
    case 10: percent()
    case 11: system()
    default: installation()
    }
  }

  // MARK: Random values, many of which meet

  static let words = ["", "a", "ab", "b", "é", "e\u{301}", "🇩🇪", "\r\n", "\n", "it's", "\\", "A", "nan", "1", "x y"]
  static let numbers = [
    "1", "1.0", "-2", "2.5", "1e3", "nan", "inf", "-inf", "0x10", "", " 1", "1 ", "１", "9e400", "007",
  ]
  static let versions = [
    "1", "1.0", "1.0.0.0.0", "1.2", "1.10", "1.2.3", "2", "0", "1.2.3.4.5.6", "1.a", "", ".", "1.",
  ]
  static let targets = ["1", "1.0", "1.2", "1.10", "1.2.3", "2", "0", "1.0.0.0.1"]
  static let comparisons = ["<", "<=", "==", "!=", ">=", ">"]

  private mutating func pick<Value>(_ values: [Value]) -> Value { random.pick(values) }
  private mutating func picks<Value>(_ values: [Value]) -> [Value] { (0...random.below(3)).map { _ in pick(values) } }

  private func quoted(_ text: String) -> String {
    "'" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "'", with: "\\'") + "'"
  }

  private func list(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ", ") + "]" }

  private static func holds<Value: Comparable>(_ comparison: String, _ left: Value, _ right: Value) -> Bool {
    switch comparison {
    case "<": left < right
    case "<=": left <= right
    case "==": left == right
    case "!=": left != right
    case ">=": left >= right
    default: left > right
    }
  }

  // MARK: Tests

  private mutating func constant() -> Test {
    let value = !random.oneIn(4)
    return ("\(value)", { _, _ in value })
  }

  private mutating func appID() -> Test {
    let id = pick(["app", "other"])
    return ("app.id == \(quoted(id))", { instance, _ in instance.appID == id })
  }

  private mutating func installation() -> Test {
    let ids = picks(["one", "ONE", "two"])
    return (
      "app.firebaseInstallationId in \(list(ids))", { instance, _ in ids.contains(instance.installationID ?? "-") }
    )
  }

  private mutating func platform() -> Test {
    let (name, isEqual) = (pick(["ios", "android", "linux"]), !random.oneIn(2))
    return (
      "device.os \(isEqual ? "==" : "!=") \(quoted(name))",
      { instance, _ in instance.platform.map { ($0.lowercased() == name) == isEqual } ?? false }
    )
  }

  private mutating func country() -> Test {
    let countries = picks(["DE", "us", "FR"])
    return (
      "device.country in \(list(countries))",
      { instance, _ in countries.contains { $0.uppercased() == instance.countryCode?.uppercased() } }
    )
  }

  private mutating func language() -> Test {
    let targets = picks(["de", "de-AT", "en", "e"])
    return (
      "device.language in \(list(targets))",
      { instance, _ in
        guard let language = instance.languageCode else { return false }
        let parts = language.lowercased().split(whereSeparator: { $0 == "-" || $0 == "_" })
        return targets.contains { target in
          let wanted = target.lowercased().split(separator: "-")
          return parts.count >= wanted.count && zip(parts, wanted).allSatisfy { $0 == $1 }
        }
      }
    )
  }

  private mutating func version() -> Test {
    let (isBuild, comparison) = (random.oneIn(2), pick(Self.comparisons))
    let targets = ["==", "!="].contains(comparison) ? picks(Self.targets) : [pick(Self.targets)]
    return (
      "app.\(isBuild ? "build" : "version").\(comparison)(\(list(targets)))",
      { instance, _ in
        guard let own = Self.segments(isBuild ? instance.appBuild : instance.appVersion) else { return false }
        let outcomes = targets.map { Self.holds(comparison, Self.rank(own, $0), 0) }
        return comparison == "!=" ? !outcomes.contains(false) : outcomes.contains(true)
      }
    )
  }

  /// Up to five numbers, filled up with zeros; `nil` for anything else.
  private static func segments(_ text: String?) -> [UInt]? {
    guard let parts = text?.components(separatedBy: "."), parts.count <= 5 else { return nil }
    let numbers = parts.compactMap { part in part.unicodeScalars.allSatisfy { "0"..."9" ~= $0 } ? UInt(part) : nil }
    return numbers.count == parts.count ? numbers + Array(repeating: 0, count: 5 - numbers.count) : nil
  }

  private static func rank(_ own: [UInt], _ target: String) -> Int {
    for (left, right) in zip(own, segments(target) ?? []) where left != right { return left < right ? -1 : 1 }
    return 0
  }

  private mutating func number() -> Test {
    let (comparison, target) = (pick(Self.comparisons), pick(["1", "1.0", "-2", "2.5", "1000", "0"]))
    let isSignal = random.oneIn(2)
    return (
      "app.\(isSignal ? "customSignal" : "userProperty")['n'] \(comparison) \(target)",
      { instance, _ in
        guard let text = (isSignal ? instance.customSignals : instance.userProperties)["n"] else { return false }
        // A decimal number and nothing else: neither "nan" nor "0x10".
        let isDecimal = !text.isEmpty && text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        guard isDecimal, let value = Double(text), value.isFinite else { return false }
        return Self.holds(comparison, value, Double(target) ?? 0)
      }
    )
  }

  private mutating func text() -> Test {
    let (name, targets) = (pick(["contains", "notContains", "exactlyMatches", "notExactlyMatches"]), picks(Self.words))
    return (
      "app.userProperty['t'].\(name)(\(list(targets)))",
      { instance, _ in
        guard let value = instance.userProperties["t"].map({ Array($0.utf8) }) else { return false }
        let isFound = targets.contains { target in
          let target = Array(target.utf8)
          if name.hasSuffix("Matches") { return value == target }
          guard value.count >= target.count else { return false }
          return (0...(value.count - target.count)).contains { value[$0...].starts(with: target) }
        }
        return isFound != name.hasPrefix("not")
      }
    )
  }

  private mutating func audience() -> Test {
    let (name, targets) = (pick(["inAtLeastOne", "notInAtLeastOne", "inAll", "notInAll"]), picks(["x", "y", "z"]))
    return (
      "app.audiences.\(name)(\(list(targets)))",
      { instance, _ in
        let count = Set(targets).intersection(instance.audiences).count
        switch name {
        case "inAtLeastOne": return count > 0
        case "notInAtLeastOne": return count < Set(targets).count
        case "inAll": return count == Set(targets).count
        default: return count == 0
        }
      }
    )
  }

  private mutating func time() -> Test {
    let (comparison, isFirstOpen) = (pick(["<", "<=", ">", ">="]), random.oneIn(2))
    // The zones have had these offsets at these times; they were looked up and not computed.
    let (text, zone, seconds) = pick([
      ("2026-01-01T00:00:00", "", 1_767_225_600), ("2026-01-01T00:00:00", "America/New_York", 1_767_243_600),
      ("2026-07-01T00:00:00", "America/New_York", 1_782_878_400),
      ("2026-01-01T05:30:00", "Asia/Kolkata", 1_767_225_600),
      ("2024-02-29T23:59:59", "UTC", 1_709_251_199), ("1969-12-31T23:59:59", "UTC", -1),
      ("2026-01-01T00:00:00.250", "UTC", 1_767_225_600),
    ])
    let arguments = zone.isEmpty ? quoted(text) : "\(quoted(text)), \(quoted(zone))"
    let micros = Int64(seconds) * 1_000_000 + (text.hasSuffix(".250") ? 250_000 : 0)
    let name = isFirstOpen ? "app.firstOpenTimestamp" : "dateTime"
    return (
      "\(name) \(comparison) \(isFirstOpen ? "" : "dateTime")(\(arguments))",
      { instance, now in
        guard let time = isFirstOpen ? instance.firstOpenTime : now else { return false }
        return Self.holds(comparison, time, micros)
      }
    )
  }

  /// The percentiles of two installations for two seeds, by another implementation of SHA-256.
  static let percentiles = [
    "one": 73_967_085, "two": 32_835_315, "seed.one": 86_913_387, "seed.two": 58_155_884, "ONE": 28_543_265,
    "seed.ONE": 53_445_307,
  ]

  private mutating func percent() -> Test {
    let (seed, lower) = (pick(["", "seed"]), pick([0, 28_543_265, 73_967_085, 86_913_387, 32_835_315]))
    let upper = lower + pick([0, 1, 10_000_000])
    let name = seed.isEmpty ? "percent" : "percent(\(quoted(seed)))"
    func text(_ micro: Int) -> String { "\(micro / 1_000_000).\("\(1_000_000 + micro % 1_000_000)".dropFirst())" }
    let kind = random.below(3)
    let condition =
      ["\(name) <= \(text(lower))", "\(name) > \(text(lower))", "\(name) between \(text(lower)) and \(text(upper))"][
        kind]
    return (
      condition,
      { instance, _ in
        guard let id = instance.installationID else { return false }
        let percentile = Self.percentiles[seed.isEmpty ? id : "\(seed).\(id)"] ?? -1
        return [percentile <= lower, percentile > lower, percentile > lower && percentile <= upper][kind]
      }
    )
  }

  private mutating func system() -> Test {
    let (name, comparison) = (pick(["iOS", "Linux"]), pick(Self.comparisons))
    let target = random.oneIn(3) ? nil : pick(Self.targets)
    let versions = target.map { ".\(comparison)([\(quoted($0))])" } ?? ""
    return (
      "app.operatingSystemAndVersion.inOne([os(\(quoted(name)))\(versions)])",
      { instance, _ in
        guard let system = instance.operatingSystem, system.name.lowercased() == name.lowercased() else { return false }
        guard let target else { return true }
        return Self.segments(system.version).map { Self.holds(comparison, Self.rank($0, target), 0) } ?? false
      }
    )
  }

  // MARK: Instances

  mutating func instance() -> ConfigInstance {
    var instance = ConfigInstance()
    if !random.oneIn(5) { instance.installationID = pick(["one", "two", "ONE"]) }
    if !random.oneIn(5) { instance.appID = pick(["app", "other"]) }
    if !random.oneIn(5) { instance.platform = pick(["ios", "iOS", "android", "web"]) }
    if !random.oneIn(5) { instance.appVersion = pick(Self.versions) }
    if !random.oneIn(5) { instance.appBuild = pick(Self.versions) }
    if !random.oneIn(5) { instance.countryCode = pick(["DE", "de", "US", "XX"]) }
    if !random.oneIn(5) { instance.languageCode = pick(["de", "de-AT", "de_AT", "den", "en-US", "DE", ""]) }
    if !random.oneIn(3) { instance.firstOpenTime = pick([-1_000_000, 1_767_225_600_000_000, 1_782_878_400_000_001]) }
    if !random.oneIn(5) { instance.userProperties["n"] = pick(Self.numbers) }
    if !random.oneIn(5) { instance.customSignals["n"] = pick(Self.numbers) }
    if !random.oneIn(5) { instance.userProperties["t"] = pick(Self.words) + pick(Self.words) }
    instance.audiences = Set(picks(["x", "y", "w"]))
    if !random.oneIn(4) {
      instance.operatingSystem = .init(name: pick(["ios", "linux", "x"]), version: pick(Self.versions))
    }
    return instance
  }

  mutating func time() -> Int64 {
    pick([
      1_767_225_600_000_000, 1_767_225_600_250_000, 1_767_243_599_999_999, 1_767_243_600_000_000,
      1_782_878_400_000_000, -1_000_000, 0, 1_709_251_199_000_000, .min, .max,
    ])
  }
}
