/// The streams that a client has left out when it opened one with a larger number, and may no longer open
/// (RFC 9113, section 5.1.1).
///
/// The library knows the largest number alone, and reads over a head on a smaller one: it may belong to a stream that
/// has just ended.
struct SkippedStreams {
  private var last: Int32 = -1
  private var gaps: [ClosedRange<Int32>] = []
  private let limit: Int

  /// - Parameter limit: The number of gaps to remember; the oldest is forgotten, and heads in it are read over.
  init(limit: Int) { self.limit = max(1, limit) }

  /// Notes a head on a stream.
  ///
  /// - Returns: `false` when the stream was left out before.
  mutating func begins(_ id: Int32) -> Bool {
    if id > last {
      if id - last > 2 {
        if gaps.count == limit { gaps.removeFirst() }
        gaps.append(last + 2...id - 2)
      }
      last = id
      return true
    }
    return gaps.isEmpty || !gaps.contains { $0.contains(id) }
  }
}
