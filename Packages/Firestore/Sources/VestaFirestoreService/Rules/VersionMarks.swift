/// Which versions commits had at which times of the clock, so that retention follows the clock.
///
/// Versions are times, but may be ahead of the clock for long: one commit with a clock a year ahead, and all later ones
/// are a microsecond after each other until the clock is there. Then a version says nothing about its age, and the log
/// would be kept for a year. The marks say it: a commit before a mark is at least as old as the mark.
struct VersionMarks: Sendable {
  private var marks: [(wall: Int64, version: Int64)] = []

  /// Notes a commit.
  ///
  /// - Parameters:
  ///   - version: Its version.
  ///   - now: The time of the clock.
  ///   - retention: For how many microseconds the past is kept.
  /// - Returns: The version up to which everything is older than that, as far as is known, where what was committed
  ///   before the first mark counts as committed at it; and how far it must be from the one before to be worth pruning.
  ///   It is a mark while versions are ahead, and marks are far enough apart themselves.
  mutating func horizon(at version: Int64, now: Int64, retention: Int64) -> (version: Int64, step: Int64) {
    // The clock has been put back: how old the marks are is not known.
    marks.removeAll { $0.wall > now }
    if marks.last.map({ now - $0.wall >= retention / 16 }) ?? true { marks.append((now, version)) }
    let old = marks.lastIndex { now - $0.wall > retention }
    if let old { marks.removeFirst(old) }
    guard version - now > retention / 16, let first = marks.first else {
      return (min(version, now) - retention, retention / 16)
    }
    return old == nil ? (min(first.version, now) - retention, retention / 16) : (first.version, 0)
  }
}
