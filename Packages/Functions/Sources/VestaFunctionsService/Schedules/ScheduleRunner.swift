import Foundation
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaEngineInterop
import VestaEventsInterop
import VestaFunctionsBackend
import VestaServiceInterop
import VestaStoreInterop

/// Starts the runs of schedules: each run is an event in the store of Functions, delivered like any other.
///
/// The row that says how far a schedule has been started and the events of its runs are written in one transaction, so
/// that no run is lost or started twice, whichever processes look at the clock. The clock is looked at once a minute at
/// least, because timers do not notice when it is set.
final class ScheduleRunner: Sendable {
  /// A schedule of a function.
  struct Entry: Sendable {
    let function: String
    let text: String
    let schedule: Schedule
    let timeZone: TimeZone
    let missed: MissedRuns
    /// The time of the registration, in seconds since 1970: a new schedule begins there.
    var since: Int64 = 0
    var zone: ZoneOffsets { ZoneOffsets(timeZone) }
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// The next run of each schedule, in seconds since 1970.
    var next: [String: Int64] = [:]
    var isClosed = false
  }

  private enum Timer { case next }

  private let frame: EngineFrame<FunctionsServiceError>
  private let clock: ServiceClock
  private let tuning: ScheduleTuning
  private let timers: ServiceTimers<Timer>
  private let state = Locked(State())

  /// - Parameters:
  ///   - clock: The clock that the schedules follow.
  ///   - tuning: When it is looked at, and which runs count as missed.
  ///   - open: Opens the store of Functions, when the first schedule is registered.
  init(
    clock: ServiceClock, tuning: ScheduleTuning = ScheduleTuning(),
    open: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.clock = clock
    self.tuning = tuning
    timers = ServiceTimers(clock)
    // No call of a client gets here: the store and the events are what the schedules need of the frame.
    frame = EngineFrame(
      "Functions", clock: clock, callers: CallerCheck(),
      events: EventOffer(service: "cloudscheduler.googleapis.com", keys: Keys.outbox, types: [.scheduleDue]) {
        EventData(try RunRecord(fieldBytes: $0.payload).data)
      }, openStore: open
    ) { log.error("I-FUS000010", "A schedule failed unexpectedly: \($0)") }
  }

  var outbox: EventOutbox { frame.events }

  func close() async {
    state.withLock { $0.isClosed = true }
    timers.end()
    do {
      try await frame.close()
    } catch {
      log.error("I-FUS000006", "The store of Functions could not be closed: \(error)")
    }
  }

  func set(_ entry: Entry) {
    let now = clock.seconds()
    var entry = entry
    entry.since = now
    let kept = entry
    state.withLock { $0.entries[kept.function] = kept }
    Task { await check(kept, now) }
    plan(kept, after: now)
    setTimer()
  }

  func remove(_ function: String) {
    state.withLock { state in
      state.entries[function] = nil
      state.next[function] = nil
    }
  }

  // MARK: Running

  private func plan(_ entry: Entry, after now: Int64) {
    let next = entry.schedule.next(after: now, in: entry.zone)
    state.withLock { state in
      if state.entries[entry.function] != nil { state.next[entry.function] = next }
    }
  }

  private func setTimer() {
    let now = clock.seconds()
    let wait = state.withLock { state in
      max(1, min((state.next.values.min() ?? .max) - now, tuning.longestWait))
    }
    timers.start(.next, at: (now + wait) * 1_000_000) { [weak self] in self?.tick() }
  }

  private func tick() {
    let now = clock.seconds()
    let (entries, next) = state.withLock { (Array($0.entries.values), $0.next) }
    for entry in entries {
      if let time = next[entry.function], time <= now { Task { await check(entry, now) } }
      // All of them, because the clock may have been set back.
      plan(entry, after: now)
    }
    setTimer()
  }

  /// The functions with a schedule, for tests.
  var functions: [String] { state.withLock { $0.entries.keys.sorted() } }

  /// Starts the runs that are due.
  func check(_ entry: Entry, _ now: Int64) async {
    do {
      let store = try await frame.store()
      let (runs, time) = try await store.write { transaction in
        // The store's time is shared by all: a clock that is ahead must not start runs for all.
        let time = min(now, try await transaction.commitVersion().microseconds / 1_000_000)
        return (try await ScheduleRunner.start(entry, time, self.outbox, transaction, self.tuning), time)
      }.value
      if runs > 0 { outbox.wake() }
      // It was too early by the store's time: the next tick looks again.
      if time < now { state.withLock { if $0.entries[entry.function] != nil { $0.next[entry.function] = now } } }
    } catch {
      guard !state.withLock({ $0.isClosed }) else { return }
      log.error("I-FUS000005", "The runs of \(entry.function) could not be started. Trying again. \(error)")
      state.withLock { $0.next[entry.function] = now }
    }
  }

  /// - Returns: How many runs were started.
  private static func start(
    _ entry: Entry, _ now: Int64, _ outbox: EventOutbox, _ transaction: any StoreTransaction, _ tuning: ScheduleTuning
  ) async throws -> Int {
    let key = Keys.schedule(entry.function)
    let present = try await transaction.get(key).map { try ScheduleRecord(fieldBytes: $0) }
    let same = present.flatMap { row in
      row.schedule == entry.text && row.timeZone == entry.timeZone.identifier ? row : nil
    }
    // Another text begins with the registration, but never before what has been started: processes with two texts, as
    // in a rollout, look at one row.
    let since = same?.last ?? max(present?.last ?? 0, entry.since)
    let (runs, last) = DueRuns.runs(
      entry.schedule, since: since, now: now, missed: entry.missed, in: entry.zone, tuning: tuning)
    // Nothing to remember: no run, and a row that is right.
    if runs.isEmpty, let same, last >= same.last { return 0 }
    let row = ScheduleRecord(schedule: entry.text, timeZone: entry.timeZone.identifier, last: last)
    try await transaction.put(try row.fieldBytes(), for: key)
    let drafts = try runs.map { time in
      EventDraft(
        .scheduleDue, path: entry.function, functions: [entry.function], actor: .system,
        payload: try RunRecord(time: time, schedule: entry.text).fieldBytes())
    }
    try await outbox.append(drafts, in: transaction, isOnly: true)
    return runs.count
  }
}

private let log = Logger(service: "VestaFunctionsService")
