import VestaBytes

/// Counts the outcomes of expressions, for one decision at a time.
///
/// It is handed from one decision to the next under the lock of its coverage.
// Sound: one decision at a time writes to it, and the lock of `RulesCoverage` lies between two of them.
final class CoverageCounts: @unchecked Sendable {
  private let count: Int
  /// The table that a decision writes to; valid as long as this object.
  let table: CoverageTable

  /// - Parameters:
  ///   - count: The number of steps.
  ///   - kinds: The number of different values that are distinguished for one.
  init(_ count: Int, kinds: Int) {
    self.count = count
    table = CoverageTable(count, kinds: kinds)
  }

  deinit { table.free(count) }

  func outcomes(of step: Int) -> [CountedOutcome] { table.outcomes(of: step) }
}

/// An outcome of an expression, and how often it was counted.
struct CountedOutcome {
  let text: String
  /// Where the error was; `nil` for a value.
  let failure: Span?
  let count: Int
}

/// The counts of every step, behind a plain pointer: a step that is counted costs no reference count.
struct CoverageTable {
  /// The counts of one step.
  fileprivate struct Entry {
    var trues = 0
    var falses = 0
    /// The value that was counted last, and how often in a row: most steps have the same value again and again.
    var last = RulesValue.null
    var lastCount = 0
    var others = Others()

    mutating func count(_ value: RulesValue, _ kinds: Int) {
      if lastCount > 0, value.isCounted(like: last) {
        lastCount += 1
        return
      }
      others.count(last, lastCount, kinds)
      last = value
      lastCount = 1
    }
  }

  /// The counts of the values that are no booleans, and of errors.
  fileprivate struct Others {
    var values: [(value: RulesValue, count: Int)] = []
    var failures: [(failure: RulesFailure, at: Span, count: Int)] = []
    /// Values beyond the first kinds, and values that are too large to keep.
    var rest: [(type: RulesValue.Kind, count: Int)] = []

    mutating func count(_ value: RulesValue, _ times: Int, _ kinds: Int) {
      guard times > 0 else { return }
      if value.isSmall {
        for index in values.indices where values[index].value.isCounted(like: value) {
          values[index].count += times
          return
        }
        if values.count < kinds {
          values.append((value, times))
          return
        }
      }
      let type = value.type
      for index in rest.indices where rest[index].type == type {
        rest[index].count += times
        return
      }
      rest.append((type, times))
    }

    mutating func count(_ failure: RulesFailure, _ at: Span, _ kinds: Int) {
      for index in failures.indices where failures[index].at == at && failures[index].failure == failure {
        failures[index].count += 1
        return
      }
      if failures.count < kinds { failures.append((failure, at, 1)) }
    }
  }

  private let entries: UnsafeMutablePointer<Entry>
  private let kinds: Int

  fileprivate init(_ count: Int, kinds: Int) {
    self.kinds = kinds
    entries = .allocate(capacity: count)
    entries.initialize(repeating: Entry(), count: count)
  }

  fileprivate func free(_ count: Int) {
    entries.deinitialize(count: count)
    entries.deallocate()
  }

  @inline(__always)
  func count(_ bool: Bool, _ step: Int) {
    if bool { entries[step].trues += 1 } else { entries[step].falses += 1 }
  }

  @inline(__always)
  func count(_ value: RulesValue, _ step: Int) { entries[step].count(value, kinds) }

  func count(_ failure: RulesFailure, _ at: Span, _ step: Int) { entries[step].others.count(failure, at, kinds) }

  fileprivate func outcomes(of step: Int) -> [CountedOutcome] {
    let entry = entries[step]
    var others = entry.others
    others.count(entry.last, entry.lastCount, kinds)
    var list: [CountedOutcome] = []
    func add(_ text: String, _ count: Int) {
      if count > 0 { list.append(CountedOutcome(text: text, failure: nil, count: count)) }
    }
    add("true", entry.trues)
    add("false", entry.falses)
    for (value, count) in others.values { add(value.description, count) }
    for (type, count) in others.rest { add(type.rawValue, count) }
    for (failure, at, count) in others.failures {
      list.append(CountedOutcome(text: failure.description, failure: at, count: count))
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

  /// Whether both values are counted under one entry.
  @inline(__always)
  fileprivate func isCounted(like other: RulesValue) -> Bool {
    switch (self, other) {
    case (.string(let left), .string(let right)):
      left.utf8.count <= 64 ? UTF8Order.equal(left, right) : right.utf8.count > 64
    case (.null, .null), (.map, .map), (.list, .list), (.path, .path), (.set, .set), (.mapDiff, .mapDiff),
      (.bytes, .bytes):
      true
    case (.int(let left), .int(let right)): left == right
    case (.bool(let left), .bool(let right)): left == right
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.timestamp(let left), .timestamp(let right)): left == right
    case (.duration(let left), .duration(let right)): left == right
    case (.latlng(let left), .latlng(let right)): left == right
    default: false
    }
  }
}
