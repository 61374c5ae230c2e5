import VestaStoreInterop

/// The recent commits of all processes: enough to say whether something that was read has changed since.
///
/// A value without clock and lock. It is complete above `base`; a transaction that read an older snapshot counts as in
/// conflict with another one.
struct ConflictLog: Sendable {
  private let tuning: PostgresTuning

  /// Everything that was committed after this version is here.
  private(set) var base: Int64
  private var commits: [(version: Int64, changes: ChangedKeys)] = []
  private var size = 0

  init(base: Int64, tuning: PostgresTuning = PostgresTuning()) {
    self.base = base
    self.tuning = tuning
  }

  mutating func add(_ version: Int64, _ changes: ChangedKeys) {
    commits.append((version, changes))
    size += changes.keys.count + changes.ranges.count
    // Not one by one, as what is behind moves each time.
    guard let first = commits.first, first.version < version - 2 * tuning.conflictSpan || size > 2 * tuning.conflictKeys
    else {
      return
    }
    var count = 0
    while count < commits.count - 1,
      commits[count].version < version - tuning.conflictSpan || size > tuning.conflictKeys
    {
      size -= commits[count].changes.keys.count + commits[count].changes.ranges.count
      base = commits[count].version
      count += 1
    }
    commits.removeFirst(count)
  }

  /// Whether something of what was read at a version has been changed after it.
  func hasChanged(_ reads: ChangedKeys, since version: Int64) -> Bool {
    if version < base { return true }
    for commit in commits.reversed() {
      if commit.version <= version { return false }
      if commit.changes.meets(reads) { return true }
    }
    return false
  }
}
