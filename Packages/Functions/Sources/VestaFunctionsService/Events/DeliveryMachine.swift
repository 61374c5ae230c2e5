import VestaConcurrency
import VestaEventsInterop

/// Decides which events of a function's queue are read, and which one is delivered next; pure.
///
/// Events of one lane (document, object, account) are delivered one after another; lanes do not wait for one another.
/// In memory there is a window of the queue, up to the *cursor*. A lane with more events in the window than its share
/// is *deferred*: its later events are passed over when the window moves on, and read again when the ones before are
/// done.
///
/// Example, with a share of two: the queue is a1 a2 a3 b1 a4 and nothing has been read.
///
/// | input | actions | state |
/// |---|---|---|
/// | `step` | load after nothing | |
/// | `loaded` a1 a2 a3 b1 a4 | deliver a1, b1 | cursor a4; a: a1 a2, deferred after a2; b: b1 |
/// | a1 fails | | a: a1 (attempted once) a2, until the time of the retry; b continues |
/// | b1, a1, a2 are delivered | load lane a after a2 through a4 | a: nothing |
/// | `loaded` a3 a4 | deliver a3 | a: a3 a4, no longer deferred |
struct DeliveryMachine {
  struct Limits {
    /// The largest number of events in memory.
    var window = 512
    /// The largest number of events of one lane in memory.
    var lane = 32
    /// The largest number of events of one read.
    var page = 128
    /// The largest number of events that run at once.
    var running = 16
    /// The time for which events are gathered after a read that found the end of the queue, in microseconds: under
    /// busy writers, a read for each commit would cost them more than the delivery.
    var gathering: Int64 = 0
    /// The longest time for which anything waits, in microseconds: a time that is further ahead was set before the
    /// clock was set back.
    var wait: Int64 = Retry.ofEvents.longest
  }

  enum Action: Equatable {
    case load(EventPageRequest)
    /// Deliver an event; `generation` is to be reported with its outcome.
    case deliver(EventEntry, generation: Int)
  }

  private struct Lane {
    /// Events in order; the first one is running if `isRunning`, unless that belongs to an earlier generation.
    var waiting: [EventEntry] = []
    var isRunning = false
    /// Whether the lane is in `ready` or in `retries`.
    var isQueued = false
    /// Events after this position, up to the cursor, are not in memory.
    var deferredAfter: EventPosition?
    var isEmpty: Bool { waiting.isEmpty && !isRunning && deferredAfter == nil }
  }

  let function: String
  /// The limits; lower ones hold from the next start and the next read on.
  var limits: Limits
  private var lanes: [EventLane: Lane] = [:]
  private var ready: [EventLane] = []
  private var retries: [(time: Int64, lane: EventLane)] = []
  private var refills: [EventLane] = []
  private var cursor: EventPosition?
  private var isLoading = false
  private var mayHaveMore = true
  private var pausedUntil: Int64 = 0
  private var gathersUntil: Int64 = 0
  private(set) var generation: Int
  /// The number of events in memory.
  private(set) var count = 0
  /// The events that run, with the generation in which they were started.
  private var inFlight: [EventPosition: Int] = [:]

  /// A machine that knows nothing of the queue.
  ///
  /// - Parameter generation: The first generation; above all of an earlier machine of the function.
  init(function: String, limits: Limits = Limits(), generation: Int = 0) {
    self.function = function
    self.limits = limits
    self.generation = generation
  }

  /// The number of events that run.
  var running: Int { inFlight.count }

  /// Whether there is nothing to do, as far as is known.
  var isIdle: Bool { lanes.isEmpty && !mayHaveMore && !isLoading }

  /// The time of the next retry or read, in microseconds since 1970.
  var nextTime: Int64? {
    var times = retries.prefix(1).map(\.time)
    if pausedUntil > 0 { times.append(pausedUntil) }
    if gathersUntil > 0, mayHaveMore, !isLoading { times.append(gathersUntil) }
    return times.min()
  }

  /// Whether it is known that there may be more events in the queue.
  var knowsOfMore: Bool { mayHaveMore }

  // MARK: Inputs

  /// Events may have been added to the queue.
  ///
  /// - Returns: Whether that is news.
  @discardableResult
  mutating func woken() -> Bool {
    defer { mayHaveMore = true }
    return !mayHaveMore
  }

  /// Makes the lanes ready that wait for another attempt: it may succeed now.
  mutating func endPauses() {
    for (_, lane) in retries where lanes[lane]?.waiting.isEmpty == false { lanes[lane]?.waiting[0].retryTime = 0 }
    ready += retries.map(\.lane)
    retries = []
  }

  /// The right to deliver was lost or is new: others may have changed the queue, so everything is read again.
  mutating func restart() {
    generation += 1
    for (lane, state) in lanes { lanes[lane] = state.isRunning ? Lane(isRunning: true) : nil }
    (ready, retries, refills, cursor, count) = ([], [], [], nil, running)
    (isLoading, mayHaveMore, pausedUntil, gathersUntil) = (false, true, 0, 0)
  }

  /// Returns the actions that are due now.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - delivers: Whether the right to deliver is held; reading needs none.
  mutating func step(now: Int64, delivers: Bool = true) -> [Action] {
    if pausedUntil - now > limits.wait { pausedUntil = now }
    while let retry = retries.first, isDue(retry.time, now) {
      retries.removeFirst()
      ready.append(retry.lane)
    }
    var actions = delivers ? startDeliveries() : []
    if pausedUntil <= now, let request = nextLoad(now) {
      (isLoading, pausedUntil) = (true, 0)
      actions.append(.load(request))
    }
    return actions
  }

  private mutating func startDeliveries() -> [Action] {
    var actions: [Action] = []
    var taken = 0
    while running < limits.running, taken < ready.count {
      let lane = ready[taken]
      taken += 1
      guard let index = lanes.index(forKey: lane), let entry = lanes.values[index].waiting.first else { continue }
      lanes.values[index].isRunning = true
      lanes.values[index].isQueued = false
      inFlight[entry.position] = generation
      actions.append(.deliver(entry, generation: generation))
    }
    ready.removeFirst(taken)
    return actions
  }

  private func isDue(_ time: Int64, _ now: Int64) -> Bool { time <= now || time - now > limits.wait }

  private mutating func nextLoad(_ now: Int64) -> EventPageRequest? {
    guard !isLoading else { return nil }
    while let lane = refills.first {
      guard let state = lanes[lane], state.waiting.isEmpty, let after = state.deferredAfter else {
        refills.removeFirst()
        continue
      }
      return EventPageRequest(function: function, after: after, through: cursor, lane: lane, limit: limits.lane)
    }
    // While events wait for their turn, a read brings a whole page: one read for each place that is free would cost
    // more than the delivery.
    let room = limits.window - count
    guard mayHaveMore, room >= (ready.isEmpty ? 1 : min(limits.page, limits.window)) else { return nil }
    guard gathersUntil <= now || gathersUntil - now > limits.gathering else { return nil }
    (mayHaveMore, gathersUntil) = (false, 0)
    return EventPageRequest(function: function, after: cursor, limit: min(limits.page, room))
  }

  /// A page was read.
  mutating func loaded(_ page: EventPage, _ request: EventPageRequest, generation: Int, now: Int64) {
    guard generation == self.generation else { return }
    isLoading = false
    if let lane = request.lane { return refilled(lane, page, now) }
    if !page.isLast { mayHaveMore = true } else if !page.entries.isEmpty { gathersUntil = now + limits.gathering }
    for entry in page.entries {
      cursor = entry.position
      var state = lanes[entry.lane] ?? Lane()
      guard state.deferredAfter == nil else { continue }
      if state.waiting.count >= limits.lane {
        state.deferredAfter = state.waiting[state.waiting.count - 1].position
      } else {
        state.waiting.append(entry)
        count += 1
      }
      lanes[entry.lane] = state
      queue(entry.lane, now)
    }
  }

  private mutating func refilled(_ lane: EventLane, _ page: EventPage, _ now: Int64) {
    refills.removeAll { $0 == lane }
    guard var state = lanes[lane] else { return }
    state.waiting += page.entries
    count += page.entries.count
    state.deferredAfter = page.isLast ? nil : page.entries.last?.position
    lanes[lane] = state.isEmpty ? nil : state
    queue(lane, now)
  }

  /// A page could not be read; it is asked for again at a time.
  mutating func loadFailed(_ request: EventPageRequest, generation: Int, retryAt time: Int64) {
    guard generation == self.generation else { return }
    isLoading = false
    if request.lane == nil { mayHaveMore = true }
    pausedUntil = time
  }

  /// A delivery has ended.
  ///
  /// - Parameters:
  ///   - entry: The event.
  ///   - generation: The generation of its action.
  ///   - retryAt: The time of the next attempt; `nil` when the event leaves the queue.
  ///   - isAttempt: Whether it counts as an attempt.
  ///   - now: The time.
  /// - Returns: Whether the outcome counts: the right to deliver has not been lost since.
  mutating func finished(
    _ entry: EventEntry, generation: Int, retryAt: Int64?, isAttempt: Bool = true, now: Int64
  ) -> Bool {
    // Of a function that was removed and added again: its history is unknown.
    guard inFlight[entry.position] == generation else { return false }
    inFlight[entry.position] = nil
    // In its place: each look at the name of a lane reads all of the name.
    guard let index = lanes.index(forKey: entry.lane) else { return false }
    lanes.values[index].isRunning = false
    let counts = generation == self.generation
    if !counts {
      count -= 1
    } else if let retryAt, !lanes.values[index].waiting.isEmpty {
      if isAttempt { lanes.values[index].waiting[0].attempts += 1 }
      lanes.values[index].waiting[0].retryTime = retryAt
    } else if !lanes.values[index].waiting.isEmpty {
      lanes.values[index].waiting.removeFirst()
      count -= 1
    }
    if lanes.values[index].isEmpty { lanes.remove(at: index) } else { queue(entry.lane, now) }
    return counts
  }

  /// Lets a lane wait for its turn, for its retry, or for its next page.
  private mutating func queue(_ lane: EventLane, _ now: Int64) {
    guard var state = lanes[lane], !state.isRunning, !state.isQueued else { return }
    guard let first = state.waiting.first else {
      if state.deferredAfter != nil, !refills.contains(lane) { refills.append(lane) }
      return
    }
    state.isQueued = true
    lanes[lane] = state
    if isDue(first.retryTime, now) { return ready.append(lane) }
    let index = retries.firstIndex { $0.time > first.retryTime } ?? retries.count
    retries.insert((first.retryTime, lane), at: index)
  }
}
