import VestaStoreInterop

/// The recent commits of all processes: enough to say whether something that was read has changed since.
///
/// A value without clock and lock. It is complete above `base`; whoever has read an older snapshot counts as in the way
/// of somebody.
struct ConflictLog: Sendable {
  /// How many microseconds are kept, and how many keys.
  private static let span: Int64 = 300_000_000
  private static let most = 200_000

  /// Everything that was committed after this version is here.
  private(set) var base: Int64
  private var commits: [(version: Int64, changes: ChangedKeys)] = []
  private var size = 0

  init(base: Int64) { self.base = base }

  mutating func add(_ version: Int64, _ changes: ChangedKeys) {
    commits.append((version, changes))
    size += changes.keys.count + changes.ranges.count
    // Not one by one, as what is behind moves each time.
    guard let first = commits.first, first.version < version - 2 * ConflictLog.span || size > 2 * ConflictLog.most
    else {
      return
    }
    var count = 0
    while count < commits.count - 1,
      commits[count].version < version - ConflictLog.span || size > ConflictLog.most
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
