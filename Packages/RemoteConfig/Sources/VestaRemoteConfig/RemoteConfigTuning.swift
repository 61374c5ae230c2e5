import VestaConcurrency
import VestaServiceInterop

/// Every figure at which the client's behaviour changes; tests draw small ones.
///
/// Times are in seconds.
struct RemoteConfigTuning: Equatable, Sendable {
  /// The times for which fetches are throttled after failures in a row.
  var throttle = Retry(initial: .seconds(120), factor: 2, cap: .seconds(7_680), jitter: .either(0.5, 1.5))

  /// The failures of the realtime connection, without a message in between, after which listeners get an error.
  var maximumRetries = 8
  /// The pauses after failures, and the longest one that the service can ask for.
  var firstPause: Double = 120
  var longestPause: Double = 14_400
  var longestRequest = 86_400
  /// A connection that has lasted for so long is opened again at once after its end in order.
  var settledAfter: Double = 60
  /// The pauses after connections that ended in order earlier than that; they double.
  var firstShortPause: Double = 1
  var longestShortPause: Double = 120

  /// The attempts to fetch a version that was announced.
  var fetchAttempts = 3

  /// The rules of the realtime connection; it carries no credential.
  var link: LinkPolicy {
    LinkPolicy(
      retry: Retry(
        initial: .seconds(firstPause), factor: 2, cap: .seconds(longestPause), jitter: .either(0.5, 1.5),
        attempts: maximumRetries),
      shortEnds: Retry(initial: .seconds(firstShortPause), factor: 2, cap: .seconds(longestShortPause)),
      settledAfter: .seconds(settledAfter), longestRequest: .seconds(longestRequest), refreshesCredential: false)
  }
}
