import VestaPatterns
import VestaRemoteConfigBackend

/// A condition that was parsed: it holds where all of its tests do.
struct ConditionExpression: Sendable {
  var tests: [ConditionTest]
}

/// One test of a condition.
///
/// A test of an attribute that the instance does not have fails, the negated ones too.
enum ConditionTest: Sendable {
  case constant(Bool)
  case equals(ConditionAttribute, String, isNegated: Bool)
  case isOneOf(ConditionAttribute, [String])
  case language([String])
  case text(ConditionAttribute, TextComparison, [String])
  case matches(ConditionAttribute, [Pattern])
  case number(ConditionAttribute, NumberComparison, Double)
  case version(ConditionAttribute, NumberComparison, [VersionNumber])
  case audiences(AudienceComparison, [String])
  /// The time of the evaluation against another one, in microseconds since 1970.
  case time(NumberComparison, Int64)
  /// The date and time on the instance's clock against a local one, in microseconds since 1970 as if it were in UTC.
  case localTime(NumberComparison, Int64)
  /// The time at which the app was first opened.
  case firstOpen(NumberComparison, Int64)
  /// The percentile of the instance, above the lower bound and up to the upper one, in millionths of a percent.
  case percent(seed: String, above: Int?, upTo: Int?)
  case system(SystemKind, [SystemTest])
}

/// An attribute of an instance whose value is a string.
enum ConditionAttribute: Sendable {
  case appID, platform, appVersion, appBuild, country, installationID
  case userProperty(String)
  case customSignal(String)
}

enum TextComparison: String, Equatable, Sendable, CaseIterable {
  case contains, notContains, exactlyMatches, notExactlyMatches
}

enum NumberComparison: String, Equatable, Sendable, CaseIterable {
  case less = "<"
  case lessOrEqual = "<="
  case equal = "=="
  case notEqual = "!="
  case greaterOrEqual = ">="
  case greater = ">"

  func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
    switch self {
    case .less: left < right
    case .lessOrEqual: left <= right
    case .equal: left == right
    case .notEqual: left != right
    case .greaterOrEqual: left >= right
    case .greater: left > right
    }
  }
}

enum AudienceComparison: String, Equatable, Sendable, CaseIterable {
  case inAtLeastOne, notInAtLeastOne, inAll, notInAll
}

enum SystemKind: Equatable, Sendable { case operatingSystem, browser }

/// The name of a system, and the versions of it that are meant; all of them when there is no comparison.
struct SystemTest: Sendable {
  var name: String
  var versions: (comparison: NumberComparison, targets: [VersionNumber])?
}

/// A version in numbers with dots between them: compared number by number, missing ones are zero.
struct VersionNumber: Comparable, Sendable {
  let segments: [Int]

  /// A version; `nil` unless it has one to five numbers.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let segments = parts.compactMap { part in part.utf8.allSatisfy { (48...57).contains($0) } ? Int(part) : nil }
    guard (1...5).contains(parts.count), segments.count == parts.count else { return nil }
    self.segments = segments
  }

  /// The first numbers that differ; missing ones are zero.
  private static func difference(_ left: VersionNumber, _ right: VersionNumber) -> (Int, Int)? {
    for index in 0..<max(left.segments.count, right.segments.count) {
      let first = index < left.segments.count ? left.segments[index] : 0
      let second = index < right.segments.count ? right.segments[index] : 0
      if first != second { return (first, second) }
    }
    return nil
  }

  static func == (left: VersionNumber, right: VersionNumber) -> Bool { difference(left, right) == nil }

  static func < (left: VersionNumber, right: VersionNumber) -> Bool {
    difference(left, right).map { $0.0 < $0.1 } ?? false
  }
}
