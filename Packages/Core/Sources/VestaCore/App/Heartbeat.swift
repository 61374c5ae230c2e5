import VestaConcurrency

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The user agents that this app was used with, a line for each day: what products send along with their requests.
///
/// A day is counted once for each user agent, however often the app is used on it. The payload is handed out once; what
/// was handed out is not sent again.
///
/// ```swift
/// if let header = app.heartbeat.payload() { request.headers["X-Firebase-Client"] = header }
/// ```
public final class Heartbeat: Sendable {
  private struct State {
    var days: [(agent: String, date: String)] = []
    var reported: Set<String> = []
  }

  private static let maximumDays = 30

  private let userAgent: String
  private let today: @Sendable () -> String
  private let state = Locked(State())

  init(userAgent: String, today: @escaping @Sendable () -> String = { Heartbeat.currentDay() }) {
    self.userAgent = userAgent
    self.today = today
  }

  /// Notes that the app is used today.
  public func log() {
    let date = today()
    state.withLock { state in
      guard !state.reported.contains(date), !state.days.contains(where: { $0.date == date }) else { return }
      state.days.append((userAgent, date))
      if state.days.count > Self.maximumDays { state.days.removeFirst() }
    }
  }

  /// The days that have not been sent, as JSON, and today; `nil` when there are none.
  ///
  /// - Returns: Such as `{"heartbeats":[{"agent":"vesta-core/0.1.0","dates":["2026-11-21"]}],"version":2}`.
  public func payload() -> String? {
    log()
    let days = state.withLock { state in
      defer {
        state.reported.formUnion(state.days.map(\.date))
        // Only the latest day can be noted again.
        state.reported = Set(state.reported.sorted().suffix(1))
        state.days = []
      }
      return state.days
    }
    guard !days.isEmpty else { return nil }
    // User agents and dates have no characters that JSON escapes.
    let dates = days.map { "\"\($0.date)\"" }.joined(separator: ",")
    return "{\"heartbeats\":[{\"agent\":\"\(userAgent)\",\"dates\":[\(dates)]}],\"version\":2}"
  }

  private static func currentDay() -> String {
    String(Date().formatted(.iso8601).prefix(10))
  }
}
