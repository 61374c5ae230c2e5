/// A limited query at a version.
struct LimitedAnswer: Sendable {
  var version: Int64
  var limited: LimitedView?

  /// Applies changes; applies none of them where the changes alone do not determine the results.
  mutating func advance(to snapshot: Snapshot, _ subject: WatchSubject) async throws -> Bool {
    guard version < snapshot.version else { return true }
    guard version >= (try await snapshot.horizon()) else { return false }
    var limited = limited
    for change in try await WatchChange.all(after: version, subject.scope, in: snapshot) {
      let (wasIn, isIn) = change.membership(in: subject)
      if wasIn || isIn, limited?.take(change, isIn: isIn) == .unknown { return false }
    }
    self.limited = limited
    version = snapshot.version
    return true
  }
}
