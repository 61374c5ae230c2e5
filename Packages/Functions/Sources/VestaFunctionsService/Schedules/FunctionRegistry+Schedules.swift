public import Foundation
import VestaBytes
import VestaEventsInterop

// Functions that run at certain times.
extension FunctionRegistry {
  /// Registers a function that runs at certain times.
  ///
  /// ```swift
  /// let berlin = TimeZone(identifier: "Europe/Berlin")
  /// try registry.onSchedule("report", schedule: "30 2 * * MON-FRI", timeZone: berlin) { run in
  ///   print(run.data.scheduleTime)
  /// }
  /// ```
  ///
  /// Runs of one function happen one after another. The hour that is repeated when clocks are set back and the one that
  /// is left out are treated as common cron does: fixed times run once, wildcards follow the clock.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - schedule: Five fields of cron, or a form such as `every 5 minutes` and `every monday 09:30`.
  ///   - timeZone: The time zone; `nil` for UTC.
  ///   - missed: The policy for runs that were due while no process ran.
  ///   - options: How it behaves.
  ///   - handler: Gets the time at which the run was due.
  /// - Throws: `ScheduleError` for a schedule that is wrong or never due; `EventFunctionError` when the app has no
  ///   store to remember runs in.
  public func onSchedule(
    _ name: String, schedule: String, timeZone: TimeZone? = nil, missed: MissedRuns = .runOnce,
    options: EventOptions = EventOptions(),
    _ handler: @escaping @Sendable (CloudEvent<ScheduledRun>) async throws -> Void
  ) throws {
    let parsed = try ScheduleParser.parse(schedule)
    guard let schedules else {
      throw EventFunctionError(
        """
        A schedule needs a store to remember its runs in. Add SQLiteLibrary of VestaSQLite (Packages/SQLite) or \
        MemoryStoreLibrary of VestaMemoryStore (Packages/MemoryStore; forgets them with the process) to the libraries.
        """)
    }
    try on(name, .scheduleDue, nil, options) { event in
      let time = Date(timeIntervalSince1970: Double(event.data["scheduleTime"]?.integer ?? 0))
      let run = ScheduledRun(scheduleTime: time, schedule: event.data["schedule"]?.string ?? "")
      try await handler(CloudEvent(event, data: run))
    }
    schedules.set(
      ScheduleRunner.Entry(
        function: name, text: schedule, schedule: parsed, timeZone: timeZone ?? TimeZone(secondsFromGMT: 0) ?? .current,
        missed: missed))
  }
}
