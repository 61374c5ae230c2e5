/// A limit on tries: a number of tries at once, and then another one after each interval.
public struct RateLimit: Sendable, Hashable {
  /// The number of tries at once.
  public var burst: Int

  /// The time after which there is another try.
  public var refillInterval: Duration

  /// A limit.
  ///
  /// - Parameters:
  ///   - burst: The number of tries at once, at least 1.
  ///   - refillInterval: The time after which there is another try, at least a millisecond.
  public init(burst: Int, refillInterval: Duration) {
    self.burst = max(1, burst)
    self.refillInterval = max(.milliseconds(1), refillInterval)
  }
}

extension Duration {
  /// The duration in whole milliseconds.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }

  /// The duration in whole seconds.
  var seconds: Int64 { components.seconds }
}

extension RateLimit {
  /// When a bucket will be full again after one more try.
  ///
  /// - Parameters:
  ///   - fullAt: When it would be full otherwise; `nil` for a full one.
  ///   - now: The time.
  /// - Returns: `nil` when there is no try left.
  func full(_ fullAt: Int64?, afterTryAt now: Int64) -> Int64? {
    let interval = refillInterval.milliseconds
    let full = max(fullAt ?? now, now) + interval
    return full - now <= interval * Int64(burst) ? full : nil
  }
}

extension SharedGuesses {
  /// Takes a guess.
  ///
  /// A clock that was far ahead leaves a time that no guesses explain: the bucket counts as empty from now on.
  ///
  /// - Returns: Whether there was one.
  mutating func take(_ name: Int64, _ limit: RateLimit, now: Int64) -> Bool {
    if name != self.name { self = SharedGuesses(fullAt: now, name: name) }
    let empty = now + limit.refillInterval.milliseconds * Int64(limit.burst)
    fullAt = min(fullAt, empty)
    guard let full = limit.full(fullAt, afterTryAt: now) else { return false }
    fullAt = full
    return true
  }
}

/// Token buckets by name, with the time as a value.
///
/// A bucket is kept as the time at which it will be full again, so an absent one is a full one, and the ones that are
/// full are dropped: memory is bounded by `capacity`. When that many are in use, the one that is full soonest gives
/// way.
struct RateLimiter: Sendable {
  let limit: RateLimit
  let capacity: Int
  private let interval: Int64
  private var fullAt: [String: Int64] = [:]
  private var lastTime = Int64.min

  init(_ limit: RateLimit, capacity: Int = 10_000) {
    self.limit = limit
    self.capacity = capacity
    interval = limit.refillInterval.milliseconds
  }

  /// How many buckets are not full.
  var count: Int { fullAt.count }

  /// Takes a try out of a bucket; `false` when there is none.
  mutating func take(_ name: String, now: Int64) -> Bool {
    follow(now)
    guard let full = limit.full(fullAt[name], afterTryAt: now) else { return false }
    if fullAt[name] == nil, fullAt.count >= capacity { makeRoom(now: now) }
    fullAt[name] = full
    return true
  }

  /// Fills a bucket, after a success.
  mutating func reset(_ name: String) { fullAt[name] = nil }

  /// Gives one try back.
  mutating func giveBack(_ name: String, now: Int64) {
    follow(now)
    guard let full = fullAt[name] else { return }
    fullAt[name] = full - interval > now ? full - interval : nil
  }

  /// Moves all buckets back with a clock that was set back: no caller waits longer for it.
  private mutating func follow(_ now: Int64) {
    if now < lastTime {
      let step = lastTime - now
      fullAt = fullAt.mapValues { $0 - step }
    }
    lastTime = now
  }

  private mutating func makeRoom(now: Int64) {
    fullAt = fullAt.filter { $0.value > now }
    guard fullAt.count >= capacity else { return }
    // A sweep is expensive, so it makes room for many at once.
    for (name, _) in fullAt.sorted(by: { $0.value < $1.value }).prefix(capacity / 4 + 1) { fullAt[name] = nil }
  }
}
