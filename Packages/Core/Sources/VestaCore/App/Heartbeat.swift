import VestaConcurrency

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The user agents that this app was used with, a line for each day: products send them along with their requests.
///
/// A day is counted once for each app, however often the app is used and started on it: the days are kept in a file of
/// the app. A day that was handed out is not handed out again.
///
/// ```swift
/// if let json = app.heartbeat.payload() { request.fields.append("x-firebase-client", encoded(json)) }
/// ```
public final class Heartbeat: Sendable {
  /// A day of use.
  private struct Day: Codable, Equatable, Sendable {
    var agent: String
    var date: String
  }

  /// The state that is kept between runs.
  private struct Days: Codable, Equatable, Sendable {
    /// The days that no request has named yet.
    var waiting: [Day] = []
    /// The last day that was counted.
    var last: String?
  }

  private struct State {
    var days = Days()
    var isLoaded = false
  }

  private static let maximumDays = 30

  private let userAgent: String
  private let today: @Sendable () -> String
  private let file: @Sendable () -> ValueFile<Days>?
  private let state = Locked(State())

  /// - Parameters:
  ///   - userAgent: The names and versions of the app's libraries.
  ///   - file: The file in which the days are kept; asked for when a day is.
  ///   - today: Returns the day, such as `2026-11-23`.
  init(
    userAgent: String, file: @autoclosure @escaping @Sendable () -> URL? = nil,
    today: @escaping @Sendable () -> String = { Heartbeat.day(of: Date()) }
  ) {
    self.userAgent = userAgent
    self.today = today
    self.file = { file().map { ValueFile($0) } }
  }

  /// Notes that the app is used today.
  public func log() { change { count(today(), in: &$0) } }

  /// The days that have not been sent, as JSON, and today; `nil` when there are none.
  ///
  /// - Returns: Such as `{"heartbeats":[{"agent":"vesta-core/0.1.0","dates":["2026-11-21"]}],"version":2}`.
  public func payload() -> String? {
    let date = today()
    var taken: [Day] = []
    change { days in
      count(date, in: &days)
      taken = days.waiting
      days.waiting = []
    }
    guard !taken.isEmpty else { return nil }
    var agents: [String] = []
    for day in taken where !agents.contains(day.agent) { agents.append(day.agent) }
    // User agents and dates have no characters that JSON escapes.
    let lines = agents.map { agent in
      let dates = taken.filter { $0.agent == agent }.map { "\"\($0.date)\"" }.joined(separator: ",")
      return "{\"agent\":\"\(agent)\",\"dates\":[\(dates)]}"
    }
    return "{\"heartbeats\":[\(lines.joined(separator: ","))],\"version\":2}"
  }

  /// Takes today from the days that have not been sent, and leaves the others.
  ///
  /// - Returns: `false` when today was handed out before.
  public func takeToday() -> Bool {
    let date = today()
    var isTaken = false
    change { days in
      count(date, in: &days)
      let index = days.waiting.firstIndex { $0.date == date }
      if let index { days.waiting.remove(at: index) }
      isTaken = index != nil
    }
    return isTaken
  }

  /// Counts a day that is later than the last one; a clock that was set back counts no day twice.
  private func count(_ date: String, in days: inout Days) {
    if let last = days.last, date <= last { return }
    days.last = date
    days.waiting.append(Day(agent: userAgent, date: date))
    if days.waiting.count > Self.maximumDays { days.waiting.removeFirst() }
  }

  /// Changes the days, and writes the file when they have changed: twice a day at most.
  private func change(_ change: (inout Days) -> Void) {
    let loaded = state.withLock { $0.isLoaded } ? nil : file()?.load()
    let hasChanged = state.withLock { state in
      if !state.isLoaded {
        state.isLoaded = true
        if let loaded { state.days = loaded }
      }
      let before = state.days
      change(&state.days)
      return state.days != before
    }
    // A file that cannot be written costs no more than a day that is named again by the next run.
    if hasChanged { try? file()?.save { state.withLock { $0.days } } }
  }

  /// The day that was formatted last: each request asks for it.
  private static let lastDay = Locked<(number: Int, text: String)?>(nil)

  /// The day of a time, in UTC.
  static func day(of date: Date) -> String {
    let number = Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
    return lastDay.withLock { last in
      if let last, last.number == number { return last.text }
      let text = String(date.formatted(.iso8601).prefix(10))
      last = (number, text)
      return text
    }
  }
}
