import Foundation
import VestaConcurrency
import VestaServiceInterop

extension ServiceClock {
  /// The current time.
  func date() -> Date { Date(timeIntervalSince1970: Double(now()) / 1_000_000) }

  /// Calls `work` once, at or after a time.
  func schedule(at date: Date, _ work: @escaping @Sendable () -> Void) -> ListenerRegistration {
    schedule(at: Int64((date.timeIntervalSince1970 * 1_000_000).rounded(.up)), work)
  }
}

/// Decides when ID tokens are refreshed; pure.
enum TokenFreshness {
  /// A token with less time left than this is refreshed before it is handed out.
  static let margin: TimeInterval = 5 * 60

  /// The pauses after refreshes that failed.
  private static let retry = Retry(initial: .seconds(30), factor: 2, cap: .seconds(16 * 60))

  /// Whether a token may be handed out.
  static func isFresh(expiration: Date, now: Date) -> Bool {
    expiration.timeIntervalSince(now) >= margin
  }

  /// Whether it is time to refresh a token although no caller asked for it.
  static func isDue(expiration: Date, now: Date) -> Bool {
    expiration.timeIntervalSince(now) <= margin
  }

  /// Returns the time at which a token is refreshed although no caller asked for it.
  ///
  /// - Parameters:
  ///   - expiration: When the token expires.
  ///   - failures: How many refreshes in a row have failed before.
  ///   - now: The current time.
  static func nextRefresh(expiration: Date, failures: Int, now: Date) -> Date {
    guard failures > 0 else {
      // A token that never has more time left than the margin is refreshed at half of it, and not over and over again.
      let pause = min(30, max(0, expiration.timeIntervalSince(now) / 2))
      return max(expiration.addingTimeInterval(-margin), now.addingTimeInterval(pause))
    }
    return now.addingTimeInterval(retry.pauseWithoutJitter(after: failures) / .seconds(1))
  }
}
