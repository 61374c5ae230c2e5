import VestaStoreInterop

/// The limits that all processes of a store keep together, and that survive a restart: a row for each name.
enum SharedLimit: Int64, Sendable {
  /// Messages to a mailbox or a phone.
  case recipient = 1
  /// Guesses of the digits that were sent to a phone.
  case digits = 2
  /// Guesses from a network address.
  case address = 3
}

extension StoreTransaction {
  /// Takes a try out of a shared bucket, and takes some rows away whose buckets are full again.
  ///
  /// - Returns: Whether there was one.
  func takeShared(
    _ kind: SharedLimit, _ name: String, _ limit: RateLimit, now: Int64, sweeping: Int
  ) async throws -> Bool {
    let key = Keys.limit(kind, name)
    var bucket = try await record(SharedGuesses.self, key) ?? SharedGuesses()
    guard bucket.take(0, limit, now: now) else { return false }
    try await put(bucket, key)
    // Seldom, and a few at once: rows stay for a while, and do not pile up.
    if bucket.fullAt % 16 == 0 { try await sweepLimits(after: key, now: now, sweeping) }
    return true
  }

  /// Gives a try back that counted although it was right.
  func giveBackShared(_ kind: SharedLimit, _ name: String, _ limit: RateLimit, now: Int64) async throws {
    let key = Keys.limit(kind, name)
    guard var bucket = try await record(SharedGuesses.self, key) else { return }
    bucket.fullAt -= limit.refillInterval.milliseconds
    if bucket.fullAt > now { try await put(bucket, key) } else { try await delete(key) }
  }

  private func sweepLimits(after key: [UInt8], now: Int64, _ count: Int) async throws {
    for range in [KeyRange(from: key, to: Keys.limits.upper), KeyRange(from: Keys.limits.lower, to: key)] {
      for entry in try await entries(in: range, limit: count) {
        let bucket = try RecordCodec.decode(SharedGuesses.self, from: entry.value)
        if bucket.fullAt <= now { try await delete(entry.key) }
      }
    }
  }
}
