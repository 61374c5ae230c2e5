import VestaDatabaseBackend

/// The checks of hashes that run concurrently with writes, and whether a write has overtaken them; pure.
///
/// Worked example: the check 1 at `/scores` and the check 2 at `/rooms` begin; a commit writes `/scores/a`. Check 1
/// ends as overtaken, because its data may have changed since it was read; check 2 ends as current.
struct HashCheckBook: Sendable {
  private struct Check: Sendable {
    let path: DatabasePath
    var isOvertaken = false
  }

  private var checks: [Int: Check] = [:]
  private var last = 0

  /// The number of checks that run.
  var count: Int { checks.count }

  /// A check of the data at a path begins.
  ///
  /// - Returns: Its number.
  mutating func begin(at path: DatabasePath) -> Int {
    last += 1
    checks[last] = Check(path: path)
    return last
  }

  /// A check has ended.
  ///
  /// - Returns: Whether another write may have changed something at, above or below its path since it began.
  mutating func end(_ number: Int) -> Bool { checks.removeValue(forKey: number)?.isOvertaken ?? true }

  /// A commit has written something.
  mutating func overtake(_ writes: [[DatabasePathValue]]) {
    for (number, check) in checks where check.path.meets(writes) { checks[number]?.isOvertaken = true }
  }

  /// Something may have been written, it is not known where.
  mutating func overtakeAll() { for number in checks.keys { checks[number]?.isOvertaken = true } }
}

extension DatabasePath {
  /// Whether writes have changed something at, above or below the path.
  func meets(_ writes: [[DatabasePathValue]]) -> Bool {
    writes.contains { $0.contains { contains($0.path) || $0.path.contains(self) } }
  }
}
