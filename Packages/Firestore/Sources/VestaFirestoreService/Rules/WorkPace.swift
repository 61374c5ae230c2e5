/// The amount of background work in one transaction of the store, and the pause after it.
///
/// Alone, work proceeds in large parts without a pause. While others commit too, a part takes about half a millisecond,
/// and the pause after it is as long: so no caller waits for more than one short part, and the others have half of the
/// store.
struct WorkPace: Sendable {
  private static let aim = Duration.microseconds(500)

  /// The maximum number of entries of the next part.
  private(set) var part: Int
  private let bounds: ClosedRange<Int>
  /// The version of the last part.
  private var last: Int64?

  init(_ tuning: IndexTuning = IndexTuning()) {
    bounds = min(tuning.smallestPart, tuning.largestPart)...tuning.largestPart
    part = min(tuning.firstPart, tuning.largestPart)
  }

  /// Notes what a part took, and adapts the next one.
  ///
  /// - Parameters:
  ///   - duration: How long the transaction took, from the beginning of its body on.
  ///   - before: The version that the transaction has seen.
  ///   - version: Its own version.
  /// - Returns: The pause before the next part.
  mutating func note(_ duration: Duration, from before: Int64, to version: Int64) -> Duration {
    // The rows that were read are the previous part's, unless another writer has committed since.
    let isAlone = last.map { before <= $0 } ?? true
    last = version
    guard !isAlone else {
      part = min(2 * part, bounds.upperBound)
      return .zero
    }
    let factor = duration > .zero ? WorkPace.aim / duration : 2
    part = min(max(Int(Double(part) * min(max(factor, 0.25), 2)), bounds.lowerBound), bounds.upperBound)
    return min(duration, .milliseconds(5))
  }
}
