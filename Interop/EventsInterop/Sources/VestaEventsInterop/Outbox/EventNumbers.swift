/// The numbers that events of the latest commits have, for transactions that record events more than once; pure.
///
/// The queues alone do not say it: an earlier event of the commit may be in the queues of other functions only.
struct EventNumbers {
  /// The number of commits that are known: more than one, as transactions of some stores run concurrently.
  let limit: Int
  private var commits: [(version: Int64, next: Int64)] = []

  init(limit: Int) { self.limit = max(1, limit) }

  /// Takes numbers that no event of a commit has.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - version: The version of the commit.
  ///   - least: A number that none of them is below.
  /// - Returns: The first one; the others follow it.
  mutating func take(_ count: Int, of version: Int64, from least: Int64) -> Int64 {
    let known = commits.firstIndex { $0.version == version }
    let first = max(least, known.map { commits.remove(at: $0).next } ?? 0)
    commits.append((version, first + Int64(count)))
    if commits.count > limit { commits.removeFirst() }
    return first
  }
}
