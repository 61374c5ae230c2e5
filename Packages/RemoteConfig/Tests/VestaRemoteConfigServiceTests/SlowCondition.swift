import Foundation
import VestaRemoteConfigBackend

/// A condition read and evaluated in the slowest and most obvious way: each element is one regular expression.
///
/// Written from the description of the language alone. It shares nothing with the engine, neither its parser, its
/// numbers, its calendar nor its SHA-256; texts are limited to the ones that the generator of the tests makes: no
/// escapes in quotes.
struct SlowCondition {
  private typealias Test = (ConfigInstance, Int64) -> Bool

  private let tests: [Test]

  /// Reads a condition; `nil` for a text that is none.
  init?(_ text: String) {
    let elements = Self.split(text.trimmingCharacters(in: .whitespaces))
    let tests = elements.map { Self.test($0.trimmingCharacters(in: .whitespaces)) }
    guard !tests.contains(where: { $0 == nil }) else { return nil }
    self.tests = tests.compactMap { $0 }
  }

  func holds(for instance: ConfigInstance, at now: Int64) -> Bool { tests.allSatisfy { $0(instance, now) } }

  /// Splits at each `&&` outside of quotes that has a space on both sides.
  private static func split(_ text: String) -> [String] {
    var (parts, isQuoted) = ([""], false)
    var rest = Substring(text)
    while let first = rest.first {
      if first == "'" { isQuoted.toggle() }
      if !isQuoted, rest.hasPrefix(" && ") {
        parts.append("")
        rest = rest.dropFirst(3)
      } else {
        parts[parts.count - 1].append(first)
        rest = rest.dropFirst()
      }
    }
    return parts
  }

  // MARK: Elements

  private static let quoted = "'([^']*)'"
  private static let list = "\\[\\s*('[^']*'(?:\\s*,\\s*'[^']*')*)\\s*\\]"
  private static let comparison = "\\s*(<=|>=|==|!=|<|>)\\s*"
  private static let dotted = "\\.(<=|>=|==|!=|<|>)\\(\\s*"
  private static let words = "\\.(contains|notContains|exactlyMatches|matches)\\(\\s*"
  private static let decimal = "(\\d+(?:\\.\\d{1,6})?)"

  /// The groups of a text that a pattern matches as a whole; an absent group is empty.
  private static func match(_ text: String, _ pattern: String) -> [String]? {
    guard let expression = try? NSRegularExpression(pattern: "^(?:\(pattern))$"),
      let found = expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text))
    else { return nil }
    return (1..<found.numberOfRanges).map { Range(found.range(at: $0), in: text).map { String(text[$0]) } ?? "" }
  }

  private static func strings(_ list: String) -> [String] {
    list.components(separatedBy: "'").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
  }

  private static func test(_ text: String) -> Test? {
    if text == "true" { return { _, _ in true } }
    if text == "false" { return { _, _ in false } }
    return identity(text) ?? version(text) ?? property(text) ?? audience(text) ?? time(text) ?? percent(text)
      ?? system(text)
  }

  private static func identity(_ text: String) -> Test? {
    if let found = match(text, "app\\.id\\s*==\\s*\(quoted)") { return { instance, _ in instance.appID == found[0] } }
    if let found = match(text, "app\\.firebaseInstallationId\\s+in\\s+\(list)") {
      return { instance, _ in instance.installationID.map { strings(found[0]).contains($0) } ?? false }
    }
    if let found = match(text, "device\\.os\\s*(==|!=)\\s*\(quoted)") {
      return { instance, _ in
        guard let platform = instance.platform else { return false }
        return (platform.lowercased() == found[1].lowercased()) == (found[0] == "==")
      }
    }
    if let found = match(text, "device\\.country\\s+in\\s+\(list)") {
      return { instance, _ in
        guard let country = instance.countryCode else { return false }
        return strings(found[0]).contains { $0.lowercased() == country.lowercased() }
      }
    }
    if let found = match(text, "device\\.language\\s+in\\s+\(list)") {
      return { instance, _ in
        guard let language = instance.languageCode?.lowercased() else { return false }
        // A language without a region matches all of its regions.
        return strings(found[0]).map { $0.lowercased() }.contains { language == $0 || language.hasPrefix($0 + "-") }
      }
    }
    return nil
  }

  private static func audience(_ text: String) -> Test? {
    let names = "inAtLeastOne|notInAtLeastOne|inAll|notInAll"
    guard let found = match(text, "app\\.audiences\\.(\(names))\\(\\s*\(list)\\s*\\)") else { return nil }
    return { instance, _ in
      let memberships = strings(found[1]).map { instance.audiences.contains($0) }
      return switch found[0] {
      case "inAtLeastOne": memberships.contains(true)
      case "notInAtLeastOne": memberships.contains(false)
      case "inAll": !memberships.contains(false)
      default: !memberships.contains(true)
      }
    }
  }

  // MARK: Strings, numbers and versions

  private static func version(_ text: String) -> Test? {
    func value(_ name: String, of instance: ConfigInstance) -> String? {
      name == "version" ? instance.appVersion : instance.appBuild
    }
    if let found = match(text, "app\\.(version|build)\(dotted)\(list)\\s*\\)") {
      guard let holds = versions(found[1], strings(found[2])) else { return nil }
      return { instance, _ in holds(value(found[0], of: instance)) }
    }
    if let found = match(text, "app\\.(version|build)\(words)\(list)\\s*\\)") {
      return { instance, _ in Self.holds(value(found[0], of: instance), found[1], strings(found[2])) }
    }
    return nil
  }

  private static func property(_ text: String) -> Test? {
    func value(_ kind: String, _ name: String, of instance: ConfigInstance) -> String? {
      kind == "userProperty" ? instance.userProperties[name] : instance.customSignals[name]
    }
    let subject = "app\\.(userProperty|customSignal)\\[\(quoted)\\]"
    if let found = match(text, "\(subject)\(comparison)(-?\\d+(?:\\.\\d+)?)") {
      let target = Double(found[3]) ?? .nan
      return { instance, _ in
        guard let text = value(found[0], found[1], of: instance), match(text, "-?\\d+(?:\\.\\d+)?") != nil else {
          return false
        }
        return holds(found[2], Double(text) ?? .nan, target)
      }
    }
    if let found = match(text, "\(subject)\(words)\(list)\\s*\\)") {
      return { instance, _ in holds(value(found[0], found[1], of: instance), found[2], strings(found[3])) }
    }
    if let found = match(text, "\(subject)\(dotted)\(list)\\s*\\)"), found[0] == "customSignal" {
      guard let holds = versions(found[2], strings(found[3])) else { return nil }
      return { instance, _ in holds(instance.customSignals[found[1]]) }
    }
    return nil
  }

  private static func system(_ text: String) -> Test? {
    let item = "(os|browser)\\(\(quoted)\\)(?:\(dotted)\\[\(quoted)\\]\\s*\\))?"
    let plain = item.replacingOccurrences(of: "(os|browser)", with: "(?:os|browser)")
      .replacingOccurrences(of: "([^']*)", with: "[^']*").replacingOccurrences(of: "(<=", with: "(?:<=")
    let all = "app\\.(operatingSystem|browser)AndVersion\\.inOne\\(\\[((?:\(plain))(?:, ?(?:\(plain)))*)\\]\\)"
    guard let found = match(text, all), let expression = try? NSRegularExpression(pattern: item) else { return nil }
    let items = expression.matches(in: found[1], range: NSRange(found[1].startIndex..., in: found[1])).map { item in
      (1...4).map { Range(item.range(at: $0), in: found[1]).map { String(found[1][$0]) } }
    }
    let kind = found[0] == "browser" ? "browser" : "os"
    var tests: [(name: String, holds: ((String?) -> Bool)?)] = []
    for item in items {
      guard item[0] == kind, let name = item[1] else { return nil }
      guard let comparison = item[2], let target = item[3] else {
        tests.append((name, nil))
        continue
      }
      guard let holds = versions(comparison, [target]) else { return nil }
      tests.append((name, holds))
    }
    return { instance, _ in
      guard let system = kind == "os" ? instance.operatingSystem : instance.browser else { return false }
      return tests.contains { test in
        test.name.lowercased() == system.name.lowercased() && (test.holds?(system.version) ?? true)
      }
    }
  }

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

  /// One to five numbers with dots between them; left out ones are zero.
  private static func numbers(_ text: String) -> [Int]? {
    guard match(text, "\\d+(?:\\.\\d+){0,4}") != nil else { return nil }
    let numbers = text.components(separatedBy: ".").compactMap { Int($0) }
    return numbers + Array(repeating: 0, count: 5 - numbers.count)
  }

  /// The comparison with versions; `nil` when one of them is none, or when several are compared by their order.
  private static func versions(_ comparison: String, _ texts: [String]) -> ((String?) -> Bool)? {
    let targets = texts.compactMap(numbers)
    guard targets.count == texts.count, targets.count == 1 || ["==", "!="].contains(comparison) else { return nil }
    return { text in
      guard let own = text.flatMap(numbers) else { return false }
      // Compared as one large number: the segments of the tests are small.
      func rank(_ segments: [Int]) -> Int { segments.reduce(0) { $0 * 1000 + $1 } }
      let outcomes = targets.map { holds(comparison, rank(own), rank($0)) }
      return comparison == "!=" ? outcomes.allSatisfy { $0 } : outcomes.contains(true)
    }
  }

  private static func holds(_ value: String?, _ word: String, _ targets: [String]) -> Bool {
    guard let value else { return false }
    return switch word {
    case "contains": targets.contains { value.contains($0) }
    case "notContains": !targets.contains { value.contains($0) }
    case "exactlyMatches": targets.contains(value)
    default:
      targets.contains { pattern in
        guard let expression = try? NSRegularExpression(pattern: pattern) else { return false }
        return expression.firstMatch(in: value, range: NSRange(value.startIndex..., in: value)) != nil
      }
    }
  }

  // MARK: Time

  private static func time(_ text: String) -> Test? {
    let arguments = "\\(\\s*\(quoted)(?:\\s*,\\s*\(quoted))?\\s*\\)"
    if let found = match(text, "(?:device\\.)?dateTime\\s*(<=|>=|<|>)\\s*dateTime\(arguments)") {
      guard let target = seconds(found[1], found[2]) else { return nil }
      return { _, now in holds(found[0], now, target * 1_000_000) }
    }
    if let found = match(text, "app\\.firstOpenTimestamp\\s*(<=|>=)\\s*\(arguments)") {
      guard let target = seconds(found[1], found[2]) else { return nil }
      return { instance, _ in instance.firstOpenTime.map { holds(found[0], $0, target * 1_000_000) } ?? false }
    }
    return nil
  }

  /// The seconds since 1970 of a local time; `nil` for a date that the calendar does not have, or an unknown zone.
  private static func seconds(_ text: String, _ zone: String) -> Int64? {
    guard let found = match(text, "(\\d{4})-(\\d\\d)-(\\d\\d)T(\\d\\d):(\\d\\d):(\\d\\d)") else { return nil }
    let parts = found.compactMap { Int($0) }
    let (year, month, day) = (parts[0], parts[1], parts[2])
    guard (1...12).contains(month), (1...days(in: month, of: year)).contains(day) else { return nil }
    guard parts[3] < 24, parts[4] < 60, parts[5] < 60 else { return nil }
    var count = 0
    for earlier in 1970..<year { count += isLeap(earlier) ? 366 : 365 }
    for earlier in 1..<month { count += days(in: earlier, of: year) }
    count += day - 1
    guard let offset = offset(zone, year, month, day) else { return nil }
    return Int64(count * 86_400 + parts[3] * 3600 + parts[4] * 60 + parts[5] - offset)
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The offset of a zone from noon on: of the two days on which a clock is set, the tests take no hour before noon.
  private static func offset(_ zone: String, _ year: Int, _ month: Int, _ day: Int) -> Int? {
    let date = month * 100 + day
    switch zone {
    case "", "UTC": return 0
    case "Asia/Kolkata": return 19_800
    case "America/New_York":
      let (start, end) = (300 + sunday(2, of: 3, year), 1100 + sunday(1, of: 11, year))
      return date >= start && date < end ? -14_400 : -18_000
    case "Europe/Berlin":
      let (start, end) = (300 + lastSunday(of: 3, year), 1000 + lastSunday(of: 10, year))
      return date >= start && date < end ? 7200 : 3600
    default: return nil
    }
  }

  /// The day of the month of its first, second, … Sunday.
  private static func sunday(_ count: Int, of month: Int, _ year: Int) -> Int {
    var days = 0
    for earlier in 1970..<year { days += isLeap(earlier) ? 366 : 365 }
    for earlier in 1..<month { days += Self.days(in: earlier, of: year) }
    // The first of January 1970 was a Thursday.
    let first = (1...7).first { (days + $0 - 1) % 7 == 3 } ?? 1
    return first + 7 * (count - 1)
  }

  private static func lastSunday(of month: Int, _ year: Int) -> Int {
    let fourth = sunday(4, of: month, year)
    return fourth + 7 <= days(in: month, of: year) ? fourth + 7 : fourth
  }

  // MARK: Percent

  private static func percent(_ text: String) -> Test? {
    let subject = "percent(?:\\(\(quoted)\\))?"
    if let found = match(text, "\(subject)\\s*(<=|>)\\s*\(decimal)") {
      guard let target = micro(found[2]) else { return nil }
      return { instance, _ in position(instance, found[0]).map { holds(found[1], $0, target) } ?? false }
    }
    if let found = match(text, "\(subject)\\s+between\\s+\(decimal)\\s+and\\s+\(decimal)") {
      guard let (lower, upper) = micro(found[1]).flatMap({ lower in micro(found[2]).map { (lower, $0) } }) else {
        return nil
      }
      return { instance, _ in position(instance, found[0]).map { $0 > lower && $0 <= upper } ?? false }
    }
    return nil
  }

  /// Millionths of a percent.
  private static func micro(_ text: String) -> Int? {
    let parts = text.components(separatedBy: ".")
    let fraction = (parts.count > 1 ? parts[1] : "").padding(toLength: 6, withPad: "0", startingAt: 0)
    guard let whole = Int(parts[0]), let rest = Int(fraction) else { return nil }
    return (0...100_000_000).contains(whole * 1_000_000 + rest) ? whole * 1_000_000 + rest : nil
  }

  /// The digest of the seed and the id as a number, modulo a hundred million.
  private static func position(_ instance: ConfigInstance, _ seed: String) -> Int? {
    guard let id = instance.installationID else { return nil }
    return digest(Array((seed.isEmpty ? id : "\(seed).\(id)").utf8)).reduce(0) { ($0 * 256 + Int($1)) % 100_000_000 }
  }

  private static let primes = (2...311).filter { number in !(2..<number).contains { number % $0 == 0 } }
  private static let constants = primes.map { fraction(cbrt(Double($0))) }

  private static func fraction(_ value: Double) -> UInt32 {
    UInt32((value - value.rounded(.down)) * 4_294_967_296)
  }

  /// SHA-256 by its definition: the constants are the fractions of the roots of the first primes.
  static func digest(_ message: [UInt8]) -> [UInt8] {
    var hash = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
    var bytes = message + [0x80]
    while bytes.count % 64 != 56 { bytes.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8((message.count * 8) >> shift & 0xFF)) }
    func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
    for start in stride(from: 0, to: bytes.count, by: 64) {
      var words = (0..<16).map { index in
        (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[start + index * 4 + $1]) }
      }
      for index in 16..<64 {
        let (old, new) = (words[index - 15], words[index - 2])
        let first = turned(old, 7) ^ turned(old, 18) ^ old >> 3
        let second = turned(new, 17) ^ turned(new, 19) ^ new >> 10
        words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
      }
      var state = hash
      for index in 0..<64 {
        let (a, e) = (state[0], state[4])
        let sum = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
        let choice = (e & state[5]) ^ (~e & state[6])
        let added = state[7] &+ sum &+ choice &+ constants[index] &+ words[index]
        let majority = (a & state[1]) ^ (a & state[2]) ^ (state[1] & state[2])
        let other = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ majority
        state = [added &+ other, a, state[1], state[2], state[3] &+ added, e, state[5], state[6]]
      }
      hash = zip(hash, state).map { $0 &+ $1 }
    }
    return hash.flatMap { word in stride(from: UInt32(24), through: 0, by: -8).map { UInt8(word >> $0 & 0xFF) } }
  }
}
