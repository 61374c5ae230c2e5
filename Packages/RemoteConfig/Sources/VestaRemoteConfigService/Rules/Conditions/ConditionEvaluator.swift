import VestaRemoteConfigBackend

/// Decides whether conditions hold for one instance at one time.
struct ConditionEvaluator {
  let instance: ConfigInstance
  /// The time of the evaluation in microseconds since 1970.
  let now: Int64

  func holds(_ expression: ConditionExpression) -> Bool { expression.tests.allSatisfy(holds) }

  func holds(_ test: ConditionTest) -> Bool {
    switch test {
    case .constant(let value): value
    case .equals(let attribute, let target, let isNegated):
      value(of: attribute).map { ($0.lowercased() == target.lowercased()) != isNegated } ?? false
    case .isOneOf(let attribute, let targets):
      value(of: attribute).map { value in targets.contains { $0.lowercased() == value.lowercased() } } ?? false
    case .language(let targets): speaks(oneOf: targets)
    case .text(let attribute, let comparison, let targets): compare(value(of: attribute), comparison, targets)
    case .matches(let attribute, let patterns):
      value(of: attribute).map { value in patterns.contains { $0.matches(value) } } ?? false
    case .number(let attribute, let comparison, let target):
      value(of: attribute).flatMap(Double.init).map { comparison.holds($0, target) } ?? false
    case .version(let attribute, let comparison, let targets):
      compare(value(of: attribute).flatMap(VersionNumber.init), comparison, targets)
    case .audiences(let comparison, let targets): isMember(comparison, targets)
    case .time(let comparison, let time): comparison.holds(now, time)
    case .firstOpen(let comparison, let time): instance.firstOpenTime.map { comparison.holds($0, time) } ?? false
    case .percent(let seed, let lower, let upper): isWithin(seed: seed, above: lower, upTo: upper)
    case .system(let kind, let tests): tests.contains { runs(kind, $0) }
    }
  }

  private func value(of attribute: ConditionAttribute) -> String? {
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

  private func compare(_ value: String?, _ comparison: TextComparison, _ targets: [String]) -> Bool {
    guard let value else { return false }
    return switch comparison {
    case .contains: targets.contains { value.contains($0) }
    case .notContains: !targets.contains { value.contains($0) }
    case .exactlyMatches: targets.contains(value)
    case .notExactlyMatches: !targets.contains(value)
    }
  }

  private func compare(
    _ version: VersionNumber?, _ comparison: NumberComparison, _ targets: [VersionNumber]
  ) -> Bool {
    guard let version else { return false }
    if comparison == .notEqual { return targets.allSatisfy { version != $0 } }
    return targets.contains { comparison.holds(version, $0) }
  }

  /// A target without a region stands for the language in every region.
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
    guard let id = instance.installationID else { return false }
    let percentile = Percentile.micro(seed: seed, id: id)
    return (lower.map { percentile > $0 } ?? true) && (upper.map { percentile <= $0 } ?? true)
  }

  private func runs(_ kind: SystemKind, _ test: SystemTest) -> Bool {
    let system = kind == .operatingSystem ? instance.operatingSystem : instance.browser
    guard let system, system.name.lowercased() == test.name.lowercased() else { return false }
    guard let versions = test.versions else { return true }
    return compare(VersionNumber(system.version), versions.comparison, versions.targets)
  }
}
