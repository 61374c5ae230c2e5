/// The methods of values.
enum ValueMethod: String, Sendable, CaseIterable {
  case size
  case lower, upper, trim, matches, replace, split, toUtf8
  case toBase64, toHexString
  case concat, hasAll, hasAny, hasOnly, join, removeAll, toSet
  case union, intersection, difference
  case keys, values, get, diff
  case addedKeys, removedKeys, changedKeys, affectedKeys, unchangedKeys
  case date, day, dayOfWeek, dayOfYear, hours, minutes, month, nanos, seconds, time, toMillis, year
  case latitude, longitude, distance
  case bind

  static let all = Array(allCases)

  /// Whether the first argument is a regular expression.
  var takesPattern: Bool { self == .matches || self == .replace || self == .split }

  /// Whether it compares the elements of two lists or sets.
  var comparesElements: Bool { self == .hasAll || self == .hasAny || self == .hasOnly }

  /// The argument types that the method of a type takes; nil where the type has no such method.
  func overloads(of type: RulesValue.Kind) -> [[RulesValue.Kind]]? {
    switch (self, type) {
    case (.size, .string), (.size, .bytes), (.size, .list), (.size, .map), (.size, .set): [[]]
    case (.lower, .string), (.upper, .string), (.trim, .string), (.toUtf8, .string): [[]]
    case (.matches, .string), (.split, .string): [[.string]]
    case (.replace, .string): [[.string, .string]]
    case (.toBase64, .bytes), (.toHexString, .bytes): [[]]
    case (.concat, .list), (.removeAll, .list): [[.list]]
    case (.hasAll, .list), (.hasAny, .list), (.hasOnly, .list): [[.list], [.set]]
    case (.hasAll, .set), (.hasAny, .set), (.hasOnly, .set): [[.list], [.set]]
    case (.join, .list): [[.string]]
    case (.toSet, .list): [[]]
    case (.union, .set), (.intersection, .set), (.difference, .set): [[.set]]
    case (.keys, .map), (.values, .map): [[]]
    case (.get, .map): RulesValue.Kind.allCases.flatMap { [[.string, $0], [.list, $0]] }
    case (.diff, .map): [[.map]]
    case (.addedKeys, .mapDiff), (.removedKeys, .mapDiff), (.changedKeys, .mapDiff), (.affectedKeys, .mapDiff),
      (.unchangedKeys, .mapDiff):
      [[]]
    case (.date, .timestamp), (.day, .timestamp), (.dayOfWeek, .timestamp), (.dayOfYear, .timestamp),
      (.hours, .timestamp), (.minutes, .timestamp), (.month, .timestamp), (.nanos, .timestamp),
      (.seconds, .timestamp), (.time, .timestamp), (.toMillis, .timestamp), (.year, .timestamp):
      [[]]
    case (.seconds, .duration), (.nanos, .duration): [[]]
    case (.latitude, .latlng), (.longitude, .latlng): [[]]
    case (.distance, .latlng): [[.latlng]]
    case (.bind, .path): [[.map]]
    default: nil
    }
  }
}
