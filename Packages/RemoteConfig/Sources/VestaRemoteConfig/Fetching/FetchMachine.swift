import VestaConcurrency
import VestaServiceInterop

/// Decides whether to fetch, and how long to wait after failures; times are in seconds since 1970.
///
/// After a failure that says that the service is overloaded, fetches are throttled: for 120 s after a success, for
/// twice the last time after another failure, at most for 7680 s, each time half as long or half as long again at
/// random. It begins to count after the first success. A clock that is set back to before the failure ends it: else an
/// app could wait for years.
struct FetchMachine: Equatable, Sendable {
  enum Decision: Equatable {
    /// The fetched values are new enough.
    case useFetched
    case throttled(until: Double)
    case fetch
  }

  /// The failures since the last success that throttle.
  private var failures = 0
  private(set) var throttledUntil: Double = 0
  private var throttledFrom: Double = 0

  private let tuning: RemoteConfigTuning

  init(tuning: RemoteConfigTuning = RemoteConfigTuning()) { self.tuning = tuning }

  /// Decides about a fetch.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - interval: The largest age of fetched values.
  ///   - record: The record of the last fetch.
  ///   - context: The app and the device now.
  func decide(now: Double, interval: Double, record: FetchRecord, context: DeviceContext) -> Decision {
    let isSameContext = record.context == context
    if let last = record.lastFetchTime, isSameContext, now >= last, now - last < interval { return .useFetched }
    if isSameContext, let end = throttleEnd(at: now) { return .throttled(until: end) }
    return .fetch
  }

  /// Until when fetches are throttled; `nil` when they are not.
  func throttleEnd(at now: Double) -> Double? {
    throttledFrom <= now && now < throttledUntil ? throttledUntil : nil
  }

  mutating func succeeded() { self = FetchMachine(tuning: tuning) }

  /// Notes down a failure.
  ///
  /// - Parameters:
  ///   - code: The code of the failure.
  ///   - now: The time.
  ///   - record: The record before the failure: nothing is throttled before the first success.
  ///   - random: A random number from 0 up to 1.
  mutating func failed(_ code: ServiceCode, now: Double, record: FetchRecord, random: Double) {
    guard record.lastFetchTime != nil, Self.throttles(code) else { return }
    failures = record.lastFetchStatus == .success ? 1 : failures + 1
    let pause = tuning.throttle.pause(after: failures, random: { random }) ?? .zero
    (throttledFrom, throttledUntil) = (now, now + pause / .seconds(1))
  }

  private static func throttles(_ code: ServiceCode) -> Bool {
    switch code {
    case .resourceExhausted, .internal, .unavailable, .deadlineExceeded: true
    default: false
    }
  }
}
