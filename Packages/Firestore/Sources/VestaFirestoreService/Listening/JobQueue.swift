/// The running jobs, and the ones that wait because the maximum number runs.
struct JobQueue: Sendable {
  typealias Begin = @Sendable (WatchMachine.Job) -> Task<Void, Never>

  private let begin: Begin
  /// The maximum number of jobs that run at a time.
  private let width: Int
  private var running: [WatchMachine.JobID: (job: WatchMachine.Job, task: Task<Void, Never>)] = [:]
  private var waiting: [WatchMachine.JobID: WatchMachine.Job] = [:]
  /// The ids in order of arrival; the ones that no longer wait are skipped.
  private var queue: [WatchMachine.JobID] = []
  private var next = 0
  private var postponed = PostponedStarts()
  /// The number of starts that the turn has made itself.
  private var startsInTurn = 0

  /// - Parameters:
  ///   - width: The maximum number of jobs that run at a time.
  ///   - begin: Makes a start in a task, and reports it.
  init(width: Int, begin: @escaping Begin) {
    self.width = width
    self.begin = begin
  }

  /// Notes that a turn begins.
  mutating func beginTurn() { startsInTurn = 0 }

  /// Whether the turn makes one more start itself; beyond the limit starts are jobs, for which no other call waits.
  mutating func takesStart(upTo limit: Int) -> Bool {
    startsInTurn += 1
    return startsInTurn <= limit
  }

  mutating func add(_ job: WatchMachine.Job) {
    waiting[job.id] = job
    queue.append(job.id)
    fill()
  }

  /// Begins a job again whose result was reported too late.
  mutating func again(_ id: WatchMachine.JobID) {
    guard var job = running.removeValue(forKey: id)?.job else { return }
    job.attempts += 1
    add(job)
  }

  /// Notes that a start has been reported, and continues with the next one.
  mutating func end(_ id: WatchMachine.JobID) {
    running[id] = nil
    postponed.ended(id)
    fill()
  }

  /// Keeps a start until its call has room for the results.
  mutating func postpone(_ job: WatchMachine.Job, for call: WatchMachine.CallID) { postponed.add(job, for: call) }

  /// Notes that a call has read, whose starts were postponed.
  mutating func noteReading(of call: WatchMachine.CallID) { postponed.noteReading(of: call) }

  /// Returns the calls of which a start could begin if they have room.
  mutating func takePostponedCalls() -> [WatchMachine.CallID] { postponed.takeCalls() }

  /// Begins the next start of a call that has room, unless one has begun: the room is for one.
  mutating func beginPostponed(for call: WatchMachine.CallID) {
    if let job = postponed.next(for: call) { add(job) }
  }

  /// Drops a job whose result is no longer awaited.
  ///
  /// A job that runs already still reports its end; it ends early.
  mutating func cancel(_ id: WatchMachine.JobID) {
    if waiting.removeValue(forKey: id) != nil { postponed.ended(id) } else { postponed.remove(id) }
    running[id]?.task.cancel()
  }

  func cancelAll() {
    for (_, task) in running.values { task.cancel() }
  }

  private mutating func fill() {
    while running.count < width, next < queue.count {
      let id = queue[next]
      next += 1
      if let job = waiting.removeValue(forKey: id) { running[id] = (job, begin(job)) }
    }
    if next == queue.count || next > queue.count / 2 + 16 {
      queue.removeFirst(next)
      next = 0
    }
  }
}
