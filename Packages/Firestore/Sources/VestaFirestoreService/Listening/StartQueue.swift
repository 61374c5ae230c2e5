/// The starts that are being made, and those that wait because enough are.
struct StartQueue {
  typealias Begin = (WatchBook.Job) -> Task<Void, Never>

  /// How many are made at a time.
  private static let width = 16

  private let begin: Begin
  private var running: [WatchBook.Ticket: (job: WatchBook.Job, task: Task<Void, Never>)] = [:]
  private var waiting: [WatchBook.Ticket: WatchBook.Job] = [:]
  /// The tickets in the order they came; those that no longer wait are passed over.
  private var queue: [WatchBook.Ticket] = []
  private var next = 0

  /// - Parameter begin: Makes a start in a task, and reports it.
  init(begin: @escaping Begin) { self.begin = begin }

  mutating func add(_ job: WatchBook.Job) {
    waiting[job.ticket] = job
    queue.append(job.ticket)
    fill()
  }

  /// Makes a start again that was reported too late.
  mutating func again(_ ticket: WatchBook.Ticket) {
    if let (job, _) = running.removeValue(forKey: ticket) { add(job) }
  }

  /// Notes that a start has been reported, and goes on with the next one.
  mutating func end(_ ticket: WatchBook.Ticket) {
    running[ticket] = nil
    fill()
  }

  /// Nobody waits for a start any more.
  ///
  /// One that is being made still reports, sooner because of this.
  mutating func cancel(_ ticket: WatchBook.Ticket) {
    waiting[ticket] = nil
    running[ticket]?.task.cancel()
  }

  func cancelAll() {
    for (_, task) in running.values { task.cancel() }
  }

  private mutating func fill() {
    while running.count < StartQueue.width, next < queue.count {
      let ticket = queue[next]
      next += 1
      if let job = waiting.removeValue(forKey: ticket) { running[ticket] = (job, begin(job)) }
    }
    if next == queue.count || next > 4096 {
      queue.removeFirst(next)
      next = 0
    }
  }
}
