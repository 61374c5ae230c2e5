import VestaPatterns
import VestaRemoteConfigBackend

/// Decides whether conditions hold for one instance at one time.
///
/// It belongs to one evaluation of a template. Values that many conditions need are computed once: the
/// percentile of a seed is a digest, which costs more than all other tests, and the numbers of the app's version.
final class ConditionEvaluator {
  let instance: ConfigInstance
  /// The time of the evaluation in microseconds since 1970.
  let now: Int64
  private var percentiles: [String: Int] = [:]
  /// The time of the evaluation on the instance's clock, as if it were in UTC; in UTC for an unknown time zone.
  private lazy var localTime = now + ConditionTime.offset(of: instance.timeZone, at: now)

  /// The version of the app; `nil` where it is unknown or no version.
  private lazy var appVersion = instance.appVersion.flatMap(VersionNumber.init)

  init(instance: ConfigInstance, now: Int64) {
    self.instance = instance
    self.now = now
  }

  /// Whether a condition holds, however much work that is.
  func holds(_ expression: ConditionExpression) -> Bool {
    var (run, units) = (ConditionRun(expression), Int.max)
    return run.advance(self, &units) ?? false
  }

  func holds(_ test: ConditionTest) -> Bool {
    switch test {
    case .constant(let value): value
    case .equals(let attribute, let target, let isNegated):
      value(of: attribute).map { attribute.isEqual($0, target) != isNegated } ?? false
    case .isOneOf(let attribute, let targets):
      value(of: attribute).map { value in targets.contains { attribute.isEqual(value, $0) } } ?? false
    case .language(let targets): speaks(oneOf: targets)
    case .text(let attribute, let comparison, let targets): compare(value(of: attribute), comparison, targets)
    case .matches(let attribute, let patterns):
      value(of: attribute).map { value in patterns.contains { $0.isFound(in: value) } } ?? false
    case .number(let attribute, let comparison, let target):
      value(of: attribute).flatMap(Self.number).map { comparison.holds($0, target) } ?? false
    case .version(let attribute, let comparison, let targets):
      compare(version(of: attribute), comparison, targets)
    case .audiences(let comparison, let targets): isMember(comparison, targets)
    case .time(let comparison, let time): comparison.holds(now, time)
    case .localTime(let comparison, let time): comparison.holds(localTime, time)
    case .firstOpen(let comparison, let time): instance.firstOpenTime.map { comparison.holds($0, time) } ?? false
    case .percent(let seed, let lower, let upper): isWithin(seed: seed, above: lower, upTo: upper)
    case .system(let kind, let tests): tests.contains { runs(kind, $0) }
    }
  }

  func value(of attribute: ConditionAttribute) -> String? {
    switch attribute {
    case .appID: instance.appID
    case .platform: instance.platform
    case .appVersion: instance.appVersion
    case .appBuild: instance.appBuild
    case .country: instance.countryCode
    case .installationID: instance.installationID
    case .userProperty(let name): instance.userProperties[name]
    case .customSignal(let name): instance.customSignals[name]
    }
  }

  private func version(of attribute: ConditionAttribute) -> VersionNumber? {
    if case .appVersion = attribute { appVersion } else { value(of: attribute).flatMap(VersionNumber.init) }
  }

  /// A decimal number and nothing else: "nan", "inf" and "0x10" are none.
  private static func number(_ text: String) -> Double? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
    return Double(text).flatMap { $0.isFinite ? $0 : nil }
  }

  /// Strings are compared by their UTF-8, as on other platforms: a composed character is not its decomposed form.
  private func compare(_ value: String?, _ comparison: TextComparison, _ targets: [String]) -> Bool {
    guard let value else { return false }
    return switch comparison {
    case .contains: targets.contains { Self.contains(value.utf8, $0.utf8) }
    case .notContains: !targets.contains { Self.contains(value.utf8, $0.utf8) }
    case .exactlyMatches: targets.contains { $0.utf8.elementsEqual(value.utf8) }
    case .notExactlyMatches: !targets.contains { $0.utf8.elementsEqual(value.utf8) }
    }
  }

  private static func contains(_ text: String.UTF8View, _ part: String.UTF8View) -> Bool {
    guard let first = part.first else { return true }
    var rest = text[...]
    while let start = rest.firstIndex(of: first) {
      if rest[start...].starts(with: part) { return true }
      rest = rest[rest.index(after: start)...]
    }
    return false
  }

  private func compare(
    _ version: VersionNumber?, _ comparison: NumberComparison, _ targets: [VersionNumber]
  ) -> Bool {
    guard let version else { return false }
    if comparison == .notEqual { return targets.allSatisfy { version != $0 } }
    return targets.contains { comparison.holds(version, $0) }
  }

  /// A target without a region matches the language in every region.
  private func speaks(oneOf targets: [String]) -> Bool {
    guard let language = instance.languageCode?.lowercased().replacing("_", with: "-") else { return false }
    return targets.contains { target in
      let target = target.lowercased().replacing("_", with: "-")
      return language == target || language.hasPrefix(target + "-")
    }
  }

  private func isMember(_ comparison: AudienceComparison, _ targets: [String]) -> Bool {
    switch comparison {
    case .inAtLeastOne: targets.contains(where: instance.audiences.contains)
    case .notInAtLeastOne: !targets.allSatisfy(instance.audiences.contains)
    case .inAll: targets.allSatisfy(instance.audiences.contains)
    case .notInAll: !targets.contains(where: instance.audiences.contains)
    }
  }

  private func isWithin(seed: String, above lower: Int?, upTo upper: Int?) -> Bool {
    guard let percentile = percentile(seed: seed) else { return false }
    return (lower.map { percentile > $0 } ?? true) && (upper.map { percentile <= $0 } ?? true)
  }

  /// The percentile of the instance in millionths of a percent; `nil` without an id.
  func percentile(seed: String) -> Int? {
    if let known = percentiles[seed] { return known }
    guard let id = instance.installationID else { return nil }
    let percentile = Percentile.micro(seed: seed, id: id)
    percentiles[seed] = percentile
    return percentile
  }

  private func runs(_ kind: SystemKind, _ test: SystemTest) -> Bool {
    let system = kind == .operatingSystem ? instance.operatingSystem : instance.browser
    guard let system, system.name.lowercased() == test.name.lowercased() else { return false }
    guard let versions = test.versions else { return true }
    return compare(VersionNumber(system.version), versions.comparison, versions.targets)
  }
}

extension ConditionAttribute {
  /// Ids are compared exactly, names of platforms and countries in any case.
  fileprivate func isEqual(_ left: String, _ right: String) -> Bool {
    switch self {
    case .platform, .country: left == right || left.lowercased() == right.lowercased()
    default: left.utf8.elementsEqual(right.utf8)
    }
  }
}
