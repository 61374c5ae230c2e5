/// Counts the outcomes of expressions, for one decision at a time.
///
/// It is handed from one decision to the next under the lock of its coverage.
// Sound: one decision at a time has it, and the lock of `RulesCoverage` lies between two of them.
final class CoverageCounts: @unchecked Sendable {
  /// The counts of a value or an error that is no boolean.
  private struct Others {
    var values: [(value: RulesValue, count: Int)] = []
    var failures: [(failure: RulesFailure, at: Span, count: Int)] = []
    /// Values beyond the first kinds, and those that are too large to keep.
    var rest: [(type: RulesValue.Kind, count: Int)] = []

    mutating func count(_ value: RulesValue) {
      if value.isSmall {
        for index in values.indices where values[index].value == value {
          values[index].count += 1
          return
        }
        if values.count < CoverageCounts.kinds {
          values.append((value, 1))
          return
        }
      }
      let type = value.type
      for index in rest.indices where rest[index].type == type {
        rest[index].count += 1
        return
      }
      rest.append((type, 1))
    }
  }

  /// The number of different values that are told apart for an expression.
  fileprivate static let kinds = 16

  private var trues: [Int]
  private var falses: [Int]
  private var others: [Others]

  init(_ count: Int) {
    trues = [Int](repeating: 0, count: count)
    falses = trues
    others = [Others](repeating: Others(), count: count)
  }

  @inline(__always)
  func count(_ bool: Bool, _ step: Int) {
    if bool { trues[step] += 1 } else { falses[step] += 1 }
  }

  func count(_ value: RulesValue, _ step: Int) {
    others[step].count(value)
  }

  func count(_ failure: RulesFailure, _ at: Span, _ step: Int) {
    for index in others[step].failures.indices
    where others[step].failures[index].at == at && others[step].failures[index].failure == failure {
      others[step].failures[index].count += 1
      return
    }
    if others[step].failures.count < CoverageCounts.kinds { others[step].failures.append((failure, at, 1)) }
  }

  func outcomes(of step: Int, _ source: SourceText) -> [(RulesCoverage.Outcome, Int)] {
    var list: [(RulesCoverage.Outcome, Int)] = []
    func add(_ text: String, _ count: Int) {
      if count > 0 { list.append((RulesCoverage.Outcome(text: text, isFailure: false, position: nil), count)) }
    }
    add("true", trues[step])
    add("false", falses[step])
    for (value, count) in others[step].values { add(value.description, count) }
    for (type, count) in others[step].rest { add(type.rawValue, count) }
    for (failure, at, count) in others[step].failures {
      list.append(
        (RulesCoverage.Outcome(text: failure.description, isFailure: true, position: source.position(at)), count))
    }
    return list
  }
}

extension RulesValue {
  /// Whether the value is kept as it is: others are counted by their type.
  fileprivate var isSmall: Bool {
    switch self {
    case .null, .bool, .int, .float, .timestamp, .duration, .latlng: true
    case .string(let text): text.utf8.count <= 64
    default: false
    }
  }
}
