/// The values that a filter takes for one: it returns documents whose `f` is 5 and 5.0 alike, and -0.0 where it says
/// 0, while rules can tell them apart (`is int`, `5 / 2`, `string(0.0)`).
///
/// The values that a filter fixes have to prove the rules in all readings.
enum NumberReadings {
  /// The readings of a value, itself first; nil when there are more than a limit.
  static func of(_ value: RulesValue, limit: Int) -> [RulesValue]? {
    switch value {
    case .int(0), .float(0): return [value] + [.int(0), .float(0), .float(-0.0)].filter { !isSame($0, value) }
    case .int(let number):
      guard let float = Double(exactly: number) else { return [value] }
      return [value, .float(float)]
    case .float(let number):
      guard let int = Int64(exactly: number) else { return [value] }
      return [value, .int(int)]
    case .list(let list): return combined(list, limit).map { $0.map(RulesValue.list) }
    case .map(let map):
      return combined(map.members.map(\.value), limit).map { readings in
        readings.map { .map(RulesMap(sorted: zip(map.members, $0).map { RulesMap.Member($0.name, $1) })) }
      }
    default: return [value]
    }
  }

  /// All combinations of the readings of several values; nil when there are more than a limit.
  private static func combined(_ values: [RulesValue], _ limit: Int) -> [[RulesValue]]? {
    var all: [[RulesValue]] = [[]]
    for value in values {
      guard let readings = of(value, limit: limit), all.count * readings.count <= limit else { return nil }
      if readings.count == 1 {
        for index in all.indices { all[index].append(value) }
      } else {
        all = readings.flatMap { reading in all.map { $0 + [reading] } }
      }
    }
    return all
  }

  /// Whether two numbers are of one type and one sign.
  private static func isSame(_ left: RulesValue, _ right: RulesValue) -> Bool {
    switch (left, right) {
    case (.int(let l), .int(let r)): l == r
    case (.float(let l), .float(let r)): l.bitPattern == r.bitPattern
    default: false
    }
  }
}

extension QueryCondition {
  /// The condition in all readings of the value that it fixes, itself first.
  ///
  /// The value is left open where the readings, together with the readings of the conditions before it, exceed the
  /// limit.
  fileprivate func readings(limit: Int, others: Int) -> [QueryCondition] {
    guard constraint.comparison == .equal else { return [self] }
    guard let readings = NumberReadings.of(constraint.value, limit: limit), others * readings.count <= limit else {
      return [QueryCondition(field: field, constraint: constraint, isOpen: true)]
    }
    return readings.map { value in
      QueryCondition(field: field, constraint: QueryFacts.Constraint(comparison: .equal, value: value))
    }
  }
}

extension QueryCondition {
  /// Whether the condition fixes a number.
  fileprivate var fixesNumber: Bool {
    guard constraint.comparison == .equal else { return false }
    switch constraint.value {
    case .int, .float: return true
    default: return false
    }
  }
}

extension [QueryCondition] {
  /// The conditions with every number that they fix known by comparisons alone, which is true of all readings at once;
  /// nil where a list or a map is fixed, or no number.
  var withOpenNumbers: [QueryCondition]? {
    contains(where: \.fixesNumber) ? withOpenValues : nil
  }

  /// The same, also where no number is fixed.
  var withOpenValues: [QueryCondition]? {
    var all = self
    for (index, condition) in enumerated() where condition.constraint.comparison == .equal {
      switch condition.constraint.value {
      case .int, .float: all[index].isOpen = true
      case .list, .map: return nil
      default: break
      }
    }
    return all
  }

  /// The conditions in all readings of the values that they fix, themselves first.
  ///
  /// Of more readings than are tried, the values of some conditions are left open: such a number is known by
  /// comparisons alone, and such a list or map not at all.
  func readings(limit: Int) -> [[QueryCondition]] {
    guard contains(where: { $0.constraint.comparison == .equal && $0.constraint.value.mayHaveReadings }) else {
      return [self]
    }
    var all: [[QueryCondition]] = [[]]
    for condition in self {
      let readings = condition.readings(limit: limit, others: all.count)
      all = readings.flatMap { reading in all.map { $0 + [reading] } }
    }
    return all
  }
}

extension RulesValue {
  /// Whether it is or may have inside a number that filters take for others.
  fileprivate var mayHaveReadings: Bool {
    switch self {
    case .int, .float, .list, .map: true
    default: false
    }
  }
}
