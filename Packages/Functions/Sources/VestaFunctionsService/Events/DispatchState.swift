import VestaConcurrency
import VestaEventsInterop

/// The state of an `EventDispatcher`: what its machine has decided, and the tasks that perform it.
struct DispatchState {
  typealias DueEvent = (entry: EventEntry, generation: Int)

  var machine: DispatchMachine
  var due = Fifo<DueEvent>()
  var pace: DeliveryPace
  /// The number of tasks that take events, the one that is coming too.
  var takers = 0
  /// The number of events that were taken.
  var taken = 0
  /// Whether somebody looks after a while at whether events are taken, and asks the machine.
  var isWatched = false
  var runs: [Int: DeliveryRun] = [:]
  var lastRun = 0
  /// Whether a task has been made that has not taken its first event yet.
  var isRunComing = false
  /// The number of leases and settlements that are under way.
  var operations = 0
  var drained = Waiters()
  var observation: ListenerRegistration?

  /// The next event of a task; `nil` when the task has to end.
  mutating func takeDue(isUsable: Bool = true) -> DueEvent? {
    let next = isUsable ? due.popFirst() : nil
    if next == nil { takers -= 1 } else { taken += 1 }
    return next
  }

  /// The task that is needed for the events that are due, if there is none yet.
  ///
  /// - Parameter isStalled: Whether none of the tasks that there are has taken an event for a while.
  mutating func newRun(isStalled: Bool = false) -> (number: Int, run: DeliveryRun)? {
    guard !due.isEmpty, !isRunComing, takers == 0 || isStalled || !pace.isShort else { return nil }
    isRunComing = true
    takers += 1
    lastRun += 1
    let run = DeliveryRun()
    runs[lastRun] = run
    return (lastRun, run)
  }

  /// Whether a watch is to begin: events wait for a task that delivers another one.
  mutating func newWatch() -> Bool {
    guard !due.isEmpty, !isWatched else { return false }
    isWatched = true
    return true
  }
}

/// The next steps after a change of the state, to be taken without its lock.
struct DispatchNext {
  var event: DispatchState.DueEvent?
  var run: (number: Int, run: DeliveryRun)?
  /// The number of events that were taken before a watch that is to begin.
  var watched: Int?
  /// When the machine is to be asked again.
  var time: Int64?

  init() {}

  init(
    _ state: inout DispatchState, _ event: DispatchState.DueEvent?, _ time: Int64? = nil, isStalled: Bool = false
  ) {
    (self.event, self.time) = (event, time)
    run = state.newRun(isStalled: isStalled)
    watched = state.newWatch() ? state.taken : nil
  }
}
