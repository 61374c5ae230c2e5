/// Counts what a peer does at no cost to itself, and says when it is too much: a bucket of tokens that fills with time
/// and with useful work.
struct FloodMachine {
  private let burst: Int
  private let perSecond: Int
  private var tokens: Int
  private var filledAt: Int64

  /// - Parameters:
  ///   - burst: How much is allowed at once.
  ///   - perSecond: How much is allowed in the long run.
  ///   - now: The time in nanoseconds.
  init(burst: Int, perSecond: Int, now: Int64) {
    self.burst = max(1, burst)
    self.perSecond = max(0, perSecond)
    tokens = self.burst
    filledAt = now
  }

  /// Notes useful work, which entitles the peer to a number of frames.
  mutating func earn(_ count: Int) { tokens = min(burst, tokens + count) }

  /// Notes a frame.
  ///
  /// - Returns: Whether it is allowed.
  mutating func spend(now: Int64) -> Bool {
    if tokens == 0, perSecond > 0 {
      let interval = max(1, 1_000_000_000 / Int64(perSecond))
      let earned = (now - filledAt) / interval
      tokens = Int(min(Int64(burst), max(0, earned)))
      if earned > 0 { filledAt = now }
    }
    guard tokens > 0 else { return false }
    if tokens == burst { filledAt = now }
    tokens -= 1
    return true
  }
}
